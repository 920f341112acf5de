import { problems } from '#base/problems.ts';

export const problem = problems('oauth', {
  client_not_found: { status: 404, message: 'OAuth Client ID not found' },
  client_exists: { status: 409, message: 'An OAuth client with this client_id already exists for the API' },
  policy_unknown: { status: 400, message: 'policy_id: there is no policy {id}' },
});
