import { problems } from '#base/problems.ts';

export const problem = problems('portal_webhooks', {
  header_taken: { status: 409, message: 'Name: the webhook already sends a header with this name' },
  too_many_headers: { status: 422, message: 'A webhook can send at most {maxHeaders} headers' },
});
