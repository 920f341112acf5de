import { problems } from '#base/problems.ts';

export const problem = problems('hooks', {
  not_found: { status: 404, message: 'Webhook not found' },
  id_taken: { status: 409, message: 'A webhook with this webhook_id already exists' },
});
