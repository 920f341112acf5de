import { problems } from '#base/problems.ts';

export const problem = problems('hooks', {
  not_found: { status: 404, message: 'Webhook not found' },
  id_taken: { status: 409, message: 'A webhook with this webhook_id already exists' },
  too_many_tests: {
    status: 429,
    message: 'Too many tests of webhooks in progress: the maximum is {maxProbes}; try again later',
  },
});
