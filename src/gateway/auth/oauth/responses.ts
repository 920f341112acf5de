import type { OauthReply } from './schema.ts';

/** How the provider answers. */
export const errors = {
  invalid_request: 'The request lacks a parameter, has one twice, or has one that cannot be understood',
  invalid_client: 'The client is unknown, or its secret is wrong',
  unauthorized_client: 'The client may not ask for a token in this way',
  access_denied: 'Whoever the token would be for does not agree, or is not who they say',
  unsupported_response_type: 'This API gives no answer of that response type',
  unsupported_grant_type: 'This API gives no token for that grant type',
  invalid_scope: 'The scope cannot be understood',
  invalid_grant: 'The code or refresh token is unknown, used, expired, or was given to somebody else',
  server_error: 'The request cannot be answered as it is',
} as const;
export type OauthError = keyof typeof errors;

/** Nothing of this may be kept, framed or guessed at by whoever it passes. */
const guarded: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json',
  'X-Content-Type-Options': 'nosniff',
  'X-XSS-Protection': '1; mode=block',
  'X-Frame-Options': 'DENY',
  'Strict-Transport-Security': 'max-age=63072000; includeSubDomains',
  'Cache-Control': 'no-cache, no-store, must-revalidate',
  Pragma: 'no-cache',
  Expires: '0',
};

export const reply = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): OauthReply => ({
  status,
  headers: { ...guarded, ...headers },
  body: JSON.stringify(value),
});

/** Why a request for a token is refused. */
export interface Denied {
  readonly error: OauthError;
  readonly description?: string;
}
export const denied = (error: OauthError, description?: string): Denied =>
  description === undefined ? { error } : { error, description };
export const isDenied = <T extends object>(value: T | Denied): value is Denied => 'error' in value;

export const errorReply = (status: number, { error, description }: Denied, state = ''): OauthReply =>
  reply(status, { error, error_description: description ?? errors[error], ...(state && { state }) });

/** RFC 6749, 5.2: 401 whatever the setting says, and the scheme to use where the client tried HTTP Basic. */
export const clientRefusedReply = (why: Denied, usedBasic: boolean, state = ''): OauthReply => {
  const { status, headers, body } = errorReply(401, why, state);
  return { status, headers: usedBasic ? { ...headers, 'WWW-Authenticate': 'Basic realm="oauth"' } : headers, body };
};

/** The shape of the control interface, which some of the routes speak. */
export const statusReply = (status: number, message: string): OauthReply =>
  reply(status, { status: status === 200 ? 'ok' : 'error', message });

export const redirectReply = (status: number, location: string): OauthReply => ({
  status,
  headers: { ...guarded, Location: location },
  body: '',
});
