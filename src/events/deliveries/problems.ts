import { problems } from '#base/problems.ts';

export const problem = problems('deliveries', {
  not_found: { status: 404, message: 'Delivery not found' },
  not_dead: { status: 409, message: 'Only a delivery that was given up can be retried; this one is {state}' },
});
