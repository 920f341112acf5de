import type { AuthMethod, Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refusals, refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';

/** Values of `baseIdentityProvider`, by auth method. */
export const identityProviderNames: Readonly<Record<AuthMethod, string>> = {
  oauth: 'oauth_key',
  externalOAuth: '',
  basic: 'basic_auth_user',
  hmac: 'hmac_key',
  jwt: 'jwt_claim',
  oidc: 'oidc_user',
  custom: 'custom_auth',
  token: 'auth_token',
};

/** True where this auth method sets the session. With several and no base provider each does, and the last one wins. */
export function providesSession(
  { authMethods, authentication }: Pick<Model, 'authMethods' | 'authentication'>,
  mode: AuthMethod,
): boolean {
  const required = authentication.baseIdentityProvider;
  return authMethods.length === 1 || required === '' || required === identityProviderNames[mode];
}

/** Sets the key and session of the request. */
export function setIdentity(
  call: Exchange,
  { keyId, counterOwner: owner, keyHash, session }: CachedKey,
  mode: AuthMethod,
): void {
  call.keyId = keyId;
  call.counterOwner = owner;
  call.keyHash = keyHash;
  call.session = session;
  call.authMethod = mode;
  if (call.context && keyCredentialModes.has(mode)) call.context.token = keyId;
}

/** Auth methods whose credential is the key id. JWT sets the `token` variable itself. */
const keyCredentialModes: ReadonlySet<AuthMethod> = new Set(['token', 'hmac']);

/** The endpoint has no auth, or a loop has brought an authenticated request. */
export const isAuthenticated = (call: Exchange): boolean =>
  call.skipsAuth || (call.loopCount > 0 && call.session !== undefined);

/** Refuses and emits an event. `key` is the public form of the credential: a hash, a name, an address. */
export function deny(
  { emitEvent }: Pick<AuthServices, 'emitEvent'>,
  call: Exchange,
  code: RefusalCode,
  key: string,
  message = 'Auth Failure',
  detail?: Readonly<Record<string, string | number>>,
): GatewayResponse {
  const refused = refuse(call, code, detail);
  emitEvent(refusals[code].event!, call, message, { key });
  return refused;
}
