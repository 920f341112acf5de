import { problems } from '#base/problems.ts';

export const problem = problems('deliveries', {
  not_found: { status: 404, message: 'Delivery not found' },
  not_dead: { status: 409, message: 'Only a dead letter can be retried; this delivery is {state}' },
});
