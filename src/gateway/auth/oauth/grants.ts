import { hash } from 'node:crypto';
import { findBasicUser } from '#access/keys/lookup.ts';
import type { Key } from '#access/keys/schema.ts';
import type { StoredKey } from '#access/keys/store.ts';
import type { StoredToken } from '#access/oauth/token-store.ts';
import { policyIdsOf } from '#access/policies/apply-policies.ts';
import { toUnixSeconds } from '#base/clock.ts';
import { redirectOf } from './clients.ts';
import { answersChallenge, type Issued, issue, keyFor, newGrant, scopeOf } from './issue-token.ts';
import type { Asking, ProviderTools } from './provider-services.ts';
import { type Denied, denied, isDenied } from './responses.ts';
import type { Notice } from './token-notifications.ts';

/** The ways in which a client obtains tokens. */

export interface Granted {
  readonly issued: Issued;
  readonly notice: Pick<Notice, 'auth_code' | 'old_refresh_token' | 'notification_type'>;
}
type GrantWay = (services: ProviderTools, asking: Asking) => Promise<Granted | Denied>;

const fresh = (issued: Issued, auth_code = ''): Granted => ({
  issued,
  notice: { auth_code, old_refresh_token: '', notification_type: 'new' },
});

const givesRefresh = ({ provider }: Asking) => provider.grants.includes('refresh_token');

const byCode: GrantWay = async (services, asking) => {
  const { provider, client, parameters } = asking;
  const { code = '', redirect_uri: redirect = '', code_verifier: verifier = '' } = parameters;
  if (code === '') return denied('invalid_request', 'code is required');
  const { oauthCodes, oauthTokens, clock, records } = services;
  const found = await oauthCodes.find(provider.apiId, code);
  if (!found || found.clientId !== client.client_id) return denied('invalid_grant');
  const { consent, grantId } = found;
  const samePlace =
    redirect === consent.redirectUri ||
    (consent.redirectUri === '' && !isDenied(redirected(redirectOf(client, redirect))));
  const good = clock.now() < found.expiresAtMs && samePlace && answersChallenge(consent.challenge, verifier);
  const issued = await records.write(async () => {
    if (!(await oauthCodes.use(found, clock.now()))) return undefined;
    const grant = { ...newGrant(asking, consent.scope), grantId };
    // A code that was tried in the wrong way is in the wrong hands: it is used up all the same.
    return good
      ? issue(services, { grant, key: consent.key, withRefresh: givesRefresh(asking) })
      : denied('invalid_grant');
  });
  if (issued) return isDenied(issued) ? issued : fresh(issued, code);
  // Somebody else has the code too. Whoever came first may have been the thief: nobody keeps what it gave.
  await oauthTokens.removeGrant(grantId);
  return denied('invalid_grant');
};

const redirected = (result: string | Denied): Denied | object => (typeof result === 'string' ? {} : result);

const byRefreshToken: GrantWay = async (services, asking) => {
  const { provider, client, parameters } = asking;
  const { refresh_token: token = '' } = parameters;
  if (token === '') return denied('invalid_request', 'refresh_token is required');
  const { oauthTokens, clock, records } = services;
  const found = await oauthTokens.find(provider.apiId, 'refresh', token);
  if (!found || found.clientId !== client.client_id || clock.now() >= found.expiresAtMs) return denied('invalid_grant');
  const renewed = found.owner === '' ? found.key : await keyOfOwner(services, asking, found);
  const until = renewed?.expires || undefined;
  if (!renewed || (until !== undefined && until <= toUnixSeconds(clock.now()))) return denied('invalid_grant');
  const issued = await records.write(async () => {
    if (!(await oauthTokens.use(found, clock.now()))) return undefined;
    await oauthTokens.removeGrant(found.grantId, 'access');
    return issue(services, { grant: found, key: renewed, withRefresh: true, until, proof: proofIn(found.key) });
  });
  if (issued) return { issued, notice: { auth_code: '', old_refresh_token: token, notification_type: 'refresh' } };
  // It was used before: one of the two who have it stole it, so neither goes on.
  await oauthTokens.removeGrant(found.grantId);
  return denied('invalid_grant');
};

/**
 * What the user may do now; nothing for one who is gone, out of use or has another password, and then all that goes back
 * to the password ends.
 */
async function keyOfOwner(services: ProviderTools, asking: Asking, { owner, grantId, key: kept }: StoredToken) {
  const user = await services.keys.findByRowId(owner);
  if (!user || isOutOfUse(user.key, services.clock.now()) || proofOf(user.key) !== proofIn(kept)) {
    await services.oauthTokens.removeGrant(grantId);
    return undefined;
  }
  const key = await keyFor(services, asking, rulesOf(user.key));
  return isDenied(key) ? undefined : { ...key, expires: endOf(user.key) };
}

/** Tells one password of a user from the next, without being either. */
const proofOf = ({ basic_auth_data }: Key) => hash('sha256', basic_auth_data?.password ?? '');
const proofIn = ({ basic_auth_data }: Key) => basic_auth_data?.password;

const byPassword: GrantWay = async (services, asking) => {
  const { provider, client, parameters } = asking;
  const { username = '', password = '' } = parameters;
  if (username === '' || password === '') return denied('invalid_request', 'username and password are required');
  const scope = scopeOf(parameters.scope);
  if (typeof scope !== 'string') return scope;
  const { keys, passwords, clock, records, oauthTokens } = services;
  const user = await findBasicUser(keys, provider.orgId, username);
  const { password: kept = '', hash_type: hashType = '' } = user?.key.basic_auth_data ?? {};
  const stored = kept === '' ? undefined : { hash: kept, hashType };
  const right = await passwords.matches({
    user: `${provider.orgId}/${username}`,
    stored,
    password,
    rememberMs: 0,
    client: `OAuth client ${client.client_id}`,
  });
  if (!user || right !== true || isOutOfUse(user.key, clock.now())) return denied('access_denied');
  const key = await keyFor(services, asking, rulesOf(user.key));
  if (isDenied(key)) return denied('access_denied', key.description);
  return records.write(async () => {
    await oauthTokens.removeOfOwner(user.rowId, provider.apiId, client.client_id);
    const issued = await issue(services, {
      grant: newGrant(asking, scope, user.rowId),
      key,
      withRefresh: givesRefresh(asking),
      until: endOf(user.key) || undefined,
      proof: proofOf(user.key),
    });
    await noteToken(services, user, client.client_id, issued.accessToken);
    return fresh(issued);
  });
};

/** Unix seconds; 0 where there is none. */
const endOf = ({ expires = 0 }: Key) => Math.max(expires, 0);
const isOutOfUse = (key: Key, nowMs: number) =>
  key.is_inactive === true || (endOf(key) > 0 && endOf(key) <= toUnixSeconds(nowMs));

/** A user's rights without the user's secrets; nothing where the user has none, so that the client's policy counts. */
function rulesOf(user: Key): Key | undefined {
  const { hmac_enabled: _h, hmac_string: _s, jwt_data: _j, certificate: _c, expires: _e, ...rules } = user;
  const grants = Object.keys(user.access_rights ?? {}).length > 0 || policyIdsOf(user).length > 0;
  return grants ? rules : undefined;
}

/** The user's record tells which token each client has, by its hash. */
async function noteToken({ keys, policies }: ProviderTools, user: StoredKey, clientId: string, token: string) {
  await keys.change(user, async previous => {
    const named = await policies.findByIds(user.orgId, policyIdsOf(previous));
    const key = { ...previous, oauth_keys: { ...previous.oauth_keys, [clientId]: keys.hashOf(token) } };
    return { key, policyIds: [...named.values()].map(policy => policy.id) };
  });
}

/** The client itself is who the token is for. */
const byClient: GrantWay = async (services, asking) => {
  const scope = scopeOf(asking.parameters.scope);
  if (typeof scope !== 'string') return scope;
  const key = await keyFor(services, asking);
  if (isDenied(key)) return key;
  const grant = newGrant(asking, scope);
  return fresh(await services.records.write(() => issue(services, { grant, key, withRefresh: false })));
};

/** What is asserted is not looked at: the client has shown its secret, and gets what is its own. */
const byAssertion: GrantWay = async (services, asking) => {
  const { assertion_type: type = '', assertion = '' } = asking.parameters;
  if (type === '' || assertion === '') return denied('invalid_request', 'assertion_type and assertion are required');
  return byClient(services, asking);
};

const ways: Readonly<Record<string, GrantWay>> = {
  authorization_code: byCode,
  refresh_token: byRefreshToken,
  password: byPassword,
  client_credentials: byClient,
  assertion: byAssertion,
};

/** The way a grant type names, where the API offers it. */
export const wayOf = (grantType: string, offered: readonly string[]): GrantWay | undefined =>
  offered.includes(grantType) && Object.hasOwn(ways, grantType) ? ways[grantType] : undefined;
