import type { OauthResponse } from './schema.ts';

/** Responses of the OAuth provider. The texts are the default `error_description`. */
export const oauthErrorTexts = {
  invalid_request: 'A parameter is missing, repeated or invalid',
  invalid_client: 'The client is unknown or its secret is wrong',
  unauthorized_client: 'The client is not allowed to use this grant type',
  access_denied: 'The resource owner or the authorization server denied the request',
  unsupported_response_type: 'The API does not support this response type',
  unsupported_grant_type: 'The API does not support this grant type',
  invalid_scope: 'The scope is invalid',
  invalid_grant: 'The code or refresh token is unknown, used, expired, or was issued to another client',
  server_error: 'The authorization server could not process the request',
} as const;
export type OauthErrorCode = keyof typeof oauthErrorTexts;

/** Responses must not be cached, framed or sniffed. */
const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json',
  'X-Content-Type-Options': 'nosniff',
  'X-XSS-Protection': '1; mode=block',
  'X-Frame-Options': 'DENY',
  'Strict-Transport-Security': 'max-age=63072000; includeSubDomains',
  'Cache-Control': 'no-cache, no-store, must-revalidate',
  Pragma: 'no-cache',
  Expires: '0',
};

export const createOauthResponse = (
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): OauthResponse => ({
  status,
  headers: { ...securityHeaders, ...headers },
  body: JSON.stringify(value),
});

/** An OAuth error (RFC 6749, section 5.2). */
export interface OauthError {
  readonly error: OauthErrorCode;
  readonly description?: string;
}
export const createOauthError = (error: OauthErrorCode, description?: string): OauthError =>
  description === undefined ? { error } : { error, description };
export const isOauthError = <T extends object>(value: T | OauthError): value is OauthError => 'error' in value;

export const createErrorResponse = (status: number, { error, description }: OauthError, state = ''): OauthResponse =>
  createOauthResponse(status, {
    error,
    error_description: description ?? oauthErrorTexts[error],
    ...(state && { state }),
  });

/** RFC 6749, section 5.2: always 401, with `WWW-Authenticate` where the client used HTTP Basic. */
export const createClientErrorResponse = (why: OauthError, usedBasic: boolean, state = ''): OauthResponse => {
  const { status, headers, body } = createErrorResponse(401, why, state);
  return { status, headers: usedBasic ? { ...headers, 'WWW-Authenticate': 'Basic realm="oauth"' } : headers, body };
};

/** The response shape of the gateway API, which some routes use. */
export const createStatusResponse = (status: number, message: string): OauthResponse =>
  createOauthResponse(status, { status: status === 200 ? 'ok' : 'error', message });

export const createRedirectResponse = (status: number, location: string): OauthResponse => ({
  status,
  headers: { ...securityHeaders, Location: location },
  body: '',
});
