import { problems } from '#base/problems.ts';

export const problem = problems('oauth', {
  client_not_found: { status: 404, message: 'OAuth Client ID not found' },
  client_exists: { status: 409, message: 'An OAuth client with this client_id already exists for the API' },
  policy_unknown: { status: 400, message: 'policy_id: there is no policy {id}' },
  api_unknown: { status: 400, message: "API doesn't exist" },
  api_without_tokens: { status: 400, message: 'API is not OAuth2' },
  api_missing: { status: 400, message: 'api_id: is required, or a policy_id that grants OAuth2 APIs' },
  policy_missing: { status: 400, message: "Policy doesn't exist" },
  policy_not_found: { status: 404, message: "Policy doesn't exist" },
  policy_without_api: {
    status: 400,
    message: "Policy access rights doesn't contain API this OAuth client belongs to",
  },
  refresh_api_missing: { status: 400, message: 'Missing parameter api_id' },
  refresh_api_unknown: { status: 404, message: 'API for this refresh token not found' },
  refresh_not_enabled: { status: 400, message: 'OAuth is not enabled on this API' },
  refresh_unknown: { status: 404, message: 'Failed to invalidate refresh token: there is no such token' },
  token_missing: { status: 400, message: 'token is required' },
  client_id_missing: { status: 400, message: 'client_id is required' },
  client_unknown: { status: 400, message: "oauth client doesn't exist" },
  credential_id_missing: { status: 401, message: 'client_id is required' },
  credential_secret_missing: { status: 401, message: 'client_secret is required' },
  credential_unknown: { status: 404, message: "oauth client doesn't exist" },
  credential_wrong: { status: 401, message: 'client secret is wrong' },
  scope_missing: { status: 400, message: 'scope parameter is required' },
  scope_unknown: { status: 400, message: 'unknown scope' },
});
