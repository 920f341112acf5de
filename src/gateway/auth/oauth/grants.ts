import { hash } from 'node:crypto';
import { findBasicUser } from '#access/keys/lookup.ts';
import type { Key } from '#access/keys/schema.ts';
import type { StoredKey } from '#access/keys/store.ts';
import type { StoredToken } from '#access/oauth/token-store.ts';
import { policyIdsOf } from '#access/policies/apply-policies.ts';
import { toUnixSeconds } from '#base/clock.ts';
import { resolveRedirectUri } from './client-authentication.ts';
import {
  buildTokenKey,
  createGrant,
  type IssuedToken,
  issueToken,
  isVerifierValid,
  validateScope,
} from './issue-token.ts';
import type { GrantRequest, ProviderServices } from './provider-services.ts';
import { createOauthError, isOauthError, type OauthError } from './responses.ts';
import type { TokenNotification } from './token-notifications.ts';

/** Grant types of the token endpoint. */

export interface GrantResult {
  readonly issued: IssuedToken;
  readonly notice: Pick<TokenNotification, 'auth_code' | 'old_refresh_token' | 'notification_type'>;
}
type GrantHandler = (services: ProviderServices, request: GrantRequest) => Promise<GrantResult | OauthError>;

const toNewTokenResult = (issued: IssuedToken, auth_code = ''): GrantResult => ({
  issued,
  notice: { auth_code, old_refresh_token: '', notification_type: 'new' },
});

const issuesRefreshToken = ({ provider }: GrantRequest) => provider.grants.includes('refresh_token');

const redeemCode: GrantHandler = async (services, request) => {
  const { provider, client, parameters } = request;
  const { code = '', redirect_uri: redirect = '', code_verifier: verifier = '' } = parameters;
  if (code === '') return createOauthError('invalid_request', 'code is required');
  const { oauthCodes, oauthTokens, clock, records } = services;
  const storedCode = await oauthCodes.find(provider.apiId, code);
  if (!storedCode || storedCode.clientId !== client.client_id) return createOauthError('invalid_grant');
  const { consent, grantId } = storedCode;
  const isSameRedirect =
    redirect === consent.redirectUri ||
    (consent.redirectUri === '' && !isOauthError(toRedirectError(resolveRedirectUri(client, redirect))));
  const isValid =
    clock.now() < storedCode.expiresAtMs && isSameRedirect && isVerifierValid(consent.challenge, verifier);
  const issued = await records.write(async () => {
    if (!(await oauthCodes.use(storedCode, clock.now()))) return undefined;
    const grant = { ...createGrant(request, consent.scope), grantId };
    // A failed attempt also uses the code up: it may be stolen.
    return isValid
      ? issueToken(services, { grant, key: consent.key, withRefresh: issuesRefreshToken(request) })
      : createOauthError('invalid_grant');
  });
  if (issued) return isOauthError(issued) ? issued : toNewTokenResult(issued, code);
  // Code replay (RFC 6749, section 4.1.2): the tokens of the first use are revoked too.
  await oauthTokens.removeGrant(grantId);
  return createOauthError('invalid_grant');
};

const toRedirectError = (result: string | OauthError): OauthError | object =>
  typeof result === 'string' ? {} : result;

const redeemRefreshToken: GrantHandler = async (services, request) => {
  const { provider, client, parameters } = request;
  const { refresh_token: token = '' } = parameters;
  if (token === '') return createOauthError('invalid_request', 'refresh_token is required');
  const { oauthTokens, clock, records } = services;
  const storedToken = await oauthTokens.find(provider.apiId, 'refresh', token);
  if (!storedToken || storedToken.clientId !== client.client_id || clock.now() >= storedToken.expiresAtMs)
    return createOauthError('invalid_grant');
  const renewed = storedToken.owner === '' ? storedToken.key : await findOwnerKey(services, request, storedToken);
  const until = renewed?.expires || undefined;
  if (!renewed || (until !== undefined && until <= toUnixSeconds(clock.now())))
    return createOauthError('invalid_grant');
  const issued = await records.write(async () => {
    if (!(await oauthTokens.use(storedToken, clock.now()))) return undefined;
    await oauthTokens.removeGrant(storedToken.grantId, 'access');
    return issueToken(services, {
      grant: storedToken,
      key: renewed,
      withRefresh: true,
      until,
      proof: readPasswordProof(storedToken.key),
    });
  });
  if (issued) return { issued, notice: { auth_code: '', old_refresh_token: token, notification_type: 'refresh' } };
  // Refresh token replay (RFC 9700, section 4.14): the whole grant is revoked.
  await oauthTokens.removeGrant(storedToken.grantId);
  return createOauthError('invalid_grant');
};

/**
 * The current key of a user; undefined for a user that is deleted, disabled or has another password, and then the grant is
 * revoked.
 */
async function findOwnerKey(
  services: ProviderServices,
  request: GrantRequest,
  { owner, grantId, key: kept }: StoredToken,
) {
  const user = await services.keys.findByRowId(owner);
  if (
    !user ||
    isDisabled(user.key, services.clock.now()) ||
    computePasswordProof(user.key) !== readPasswordProof(kept)
  ) {
    await services.oauthTokens.removeGrant(grantId);
    return undefined;
  }
  const key = await buildTokenKey(services, request, toKeyRules(user.key));
  return isOauthError(key) ? undefined : { ...key, expires: getExpiry(user.key) };
}

/** Fingerprint of a password: it shows a change without revealing the password. */
const computePasswordProof = ({ basic_auth_data }: Key) => hash('sha256', basic_auth_data?.password ?? '');
const readPasswordProof = ({ basic_auth_data }: Key) => basic_auth_data?.password;

const grantByPassword: GrantHandler = async (services, request) => {
  const { provider, client, parameters } = request;
  const { username = '', password = '' } = parameters;
  if (username === '' || password === '')
    return createOauthError('invalid_request', 'username and password are required');
  const scope = validateScope(parameters.scope);
  if (typeof scope !== 'string') return scope;
  const { keys, passwords, clock, records, oauthTokens } = services;
  const user = await findBasicUser(keys, provider.orgId, username);
  const { password: kept = '', hash_type: hashType = '' } = user?.key.basic_auth_data ?? {};
  const stored = kept === '' ? undefined : { hash: kept, hashType };
  const right = await passwords.matches({
    user: `${provider.orgId}/${username}`,
    stored,
    password,
    cacheMs: 0,
    client: `OAuth client ${client.client_id}`,
  });
  if (!user || right !== true || isDisabled(user.key, clock.now())) return createOauthError('access_denied');
  const key = await buildTokenKey(services, request, toKeyRules(user.key));
  if (isOauthError(key)) return createOauthError('access_denied', key.description);
  return records.write(async () => {
    await oauthTokens.removeOfOwner(user.rowId, provider.apiId, client.client_id);
    const issued = await issueToken(services, {
      grant: createGrant(request, scope, user.rowId),
      key,
      withRefresh: issuesRefreshToken(request),
      until: getExpiry(user.key) || undefined,
      proof: computePasswordProof(user.key),
    });
    await recordToken(services, user, client.client_id, issued.accessToken);
    return toNewTokenResult(issued);
  });
};

/** Unix seconds; 0 where there is none. */
const getExpiry = ({ expires = 0 }: Key) => Math.max(expires, 0);
const isDisabled = (key: Key, nowMs: number) =>
  key.is_inactive === true || (getExpiry(key) > 0 && getExpiry(key) <= toUnixSeconds(nowMs));

/** The rights of a user without the secrets; undefined without rights, so that the client's policy applies. */
function toKeyRules(user: Key): Key | undefined {
  const { hmac_enabled: _h, hmac_string: _s, jwt_data: _j, certificate: _c, expires: _e, ...rules } = user;
  const grants = Object.keys(user.access_rights ?? {}).length > 0 || policyIdsOf(user).length > 0;
  return grants ? rules : undefined;
}

/** Records the hash of each client's token with the user. */
async function recordToken({ keys, policies }: ProviderServices, user: StoredKey, clientId: string, token: string) {
  await keys.change(user, async previous => {
    const policiesById = await policies.findByIds(user.orgId, policyIdsOf(previous));
    const key = { ...previous, oauth_keys: { ...previous.oauth_keys, [clientId]: keys.hashOf(token) } };
    return { key, policyIds: [...policiesById.values()].map(policy => policy.id) };
  });
}

/** Client credentials grant (RFC 6749, section 4.4). */
const grantByClient: GrantHandler = async (services, request) => {
  const scope = validateScope(request.parameters.scope);
  if (typeof scope !== 'string') return scope;
  const key = await buildTokenKey(services, request);
  if (isOauthError(key)) return key;
  const grant = createGrant(request, scope);
  return toNewTokenResult(await services.records.write(() => issueToken(services, { grant, key, withRefresh: false })));
};

/** The assertion is not evaluated: an authenticated client gets a client token. */
const grantByAssertion: GrantHandler = async (services, request) => {
  const { assertion_type: type = '', assertion = '' } = request.parameters;
  if (type === '' || assertion === '')
    return createOauthError('invalid_request', 'assertion_type and assertion are required');
  return grantByClient(services, request);
};

const grantHandlers: Readonly<Record<string, GrantHandler>> = {
  authorization_code: redeemCode,
  refresh_token: redeemRefreshToken,
  password: grantByPassword,
  client_credentials: grantByClient,
  assertion: grantByAssertion,
};

/** The handler of a grant type that the API allows. */
export const findGrantHandler = (grantType: string, offered: readonly string[]): GrantHandler | undefined =>
  offered.includes(grantType) && Object.hasOwn(grantHandlers, grantType) ? grantHandlers[grantType] : undefined;
