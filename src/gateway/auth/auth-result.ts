import type { AuthMethod, Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refusals, refuse } from '../pipeline/refusals.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';

/** What a definition calls each way in when it says which of several gives the session. */
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

/** Whether this way in gives the session. With several and none named, all do in turn, and the last one stays. */
export function providesSession({ modes, authentication }: Model, mode: AuthMethod): boolean {
  const wanted = authentication.baseIdentityProvider;
  return modes.length === 1 || wanted === '' || wanted === identityProviderNames[mode];
}

/** The caller is whoever holds this key. */
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

/** Ways in whose credential is the key itself. Signed tokens say so themselves. */
const keyCredentialModes: ReadonlySet<AuthMethod> = new Set(['token', 'hmac']);

/** Nothing to ask: the endpoint is open, or the call comes round again to an API that knows its caller. */
export const isAuthenticated = (call: Exchange): boolean =>
  call.skipsAuth || (call.loopCount > 0 && call.session !== undefined);

/** Refuses and tells handlers. `key` is what they may see of the credential: a hash, a name, an address. */
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
