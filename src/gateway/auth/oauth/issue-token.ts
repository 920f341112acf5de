import { createHash } from 'node:crypto';
import { formatKeyId } from '#access/keys/ids.ts';
import { toTokenMetadata } from '#access/keys/metadata-names.ts';
import { Key } from '#access/keys/schema.ts';
import type { NewToken, OauthGrant } from '#access/oauth/token-store.ts';
import { applyPolicies, policyIdsOf } from '#access/policies/apply-policies.ts';
import { stateOf } from '#access/policies/schema.ts';
import { formatIsoTime, toUnixSeconds } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import { createPublicId, createSecretText } from '#base/ids.ts';
import { isObject } from '#base/json-tree.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { GrantRequest, ProviderServices } from './provider-services.ts';
import { createOauthError, type OauthError } from './responses.ts';

/** Token issuance. */

export interface IssuedToken {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresIn: number;
  readonly scope: string;
}

/** Access token response (RFC 6749, section 5.1). */
export const toTokenResponse = ({ accessToken, refreshToken, expiresIn, scope }: IssuedToken) => ({
  access_token: accessToken,
  token_type: 'bearer',
  expires_in: expiresIn,
  ...(refreshToken && { refresh_token: refreshToken }),
  ...(scope && { scope }),
});

const scopeText = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const maxScopeChars = 1000;

export const validateScope = (given = ''): string | OauthError =>
  given === '' || (given.length <= maxScopeChars && scopeText.test(given)) ? given : createOauthError('invalid_scope');

/** The key of a token: the rules of the login page, else the client's policy. */
export async function buildTokenKey(
  services: ProviderServices,
  { provider, client }: Omit<GrantRequest, 'parameters'>,
  rules?: Key,
) {
  if (!rules && client.policy_id === '') return createOauthError('unauthorized_client', 'The client has no policy');
  const { basic_auth_data: _password, oauth_keys: _tokens, key_id: _id, ...given } = rules ?? {};
  const nowMs = services.clock.now();
  const key: Key = {
    ...(rules ? given : { apply_policies: [client.policy_id] }),
    org_id: provider.orgId,
    oauth_client_id: client.client_id,
    meta_data: { ...toTokenMetadata(client.meta_data), ...(isObject(given.meta_data) ? given.meta_data : {}) },
    date_created: formatIsoTime(nowMs),
    last_updated: String(toUnixSeconds(nowMs)),
  };
  const fault = await findKeyFault(services, provider.orgId, key);
  return fault === undefined ? key : createOauthError(rules ? 'invalid_request' : 'unauthorized_client', fault);
}

/** Why the key would be unusable; undefined where it is valid. */
async function findKeyFault(
  { policies, settings }: ProviderServices,
  orgId: string,
  key: Key,
): Promise<string | undefined> {
  const policiesById = await policies.findByIds(orgId, policyIdsOf(key));
  if ([...policiesById.values()].some(policy => stateOf(policy) !== 'active'))
    return 'A policy of the client does not allow new tokens';
  const applied = applyPolicies(key, policiesById, { orgId, allowMasterKeys: settings['keys.allow_master_keys'] });
  return applied.ok ? undefined : applied.message;
}

/** Parses `key_rules` of a login page. */
export function parseKeyRules(text: string): Key | undefined | OauthError {
  if (text.trim() === '') return undefined;
  const value = tryParseJson(text);
  if (value === undefined) return createOauthError('invalid_request', 'key_rules is not JSON');
  const read = Key.safeParse(value);
  return read.success ? read.data : createOauthError('invalid_request', 'key_rules does not describe a key');
}

export interface IssueOptions {
  readonly grant: OauthGrant;
  readonly key: Key;
  readonly withRefresh: boolean;
  /** Unix seconds; latest expiry of the token. */
  readonly until?: number | undefined;
  /** Password fingerprint, stored with the refresh token. */
  readonly proof?: string | undefined;
}

/** Stores new tokens and returns them. Runs inside the caller's transaction. */
export async function issueToken(
  services: ProviderServices,
  { grant, key, withRefresh, until, proof }: IssueOptions,
): Promise<IssuedToken> {
  const { settings, clock } = services;
  const nowMs = clock.now();
  const latestExpiry = toUnixSeconds(nowMs) + settings['oauth.token_ttl_seconds'];
  const expires = until === undefined ? latestExpiry : Math.min(latestExpiry, until);
  const accessToken = formatKeyId(grant.orgId, createPublicId());
  const refreshToken = withRefresh ? createSecretText() : undefined;
  const access: NewToken = {
    kind: 'access',
    token: accessToken,
    expiresAtMs: expires * 1000,
    key: { ...key, expires },
  };
  const refresh: NewToken[] = refreshToken
    ? [
        {
          kind: 'refresh',
          token: refreshToken,
          expiresAtMs: nowMs + settings['oauth.refresh_token_ttl_seconds'] * 1000,
          key: { ...key, expires: until ?? 0, ...(proof && { basic_auth_data: { password: proof } }) },
        },
      ]
    : [];
  await services.oauthTokens.insert(grant, [access, ...refresh], nowMs);
  return { accessToken, refreshToken, expiresIn: expires - toUnixSeconds(nowMs), scope: grant.scope };
}

export const createGrant = (
  { provider, client }: Omit<GrantRequest, 'parameters'>,
  scope: string,
  owner = '',
): OauthGrant => ({
  orgId: provider.orgId,
  apiId: provider.apiId,
  clientId: client.client_id,
  grantId: createPublicId(),
  owner,
  scope,
});

/** Authorization code: 16 random bytes. */
export const createCode = (): string => Buffer.from(createPublicId(), 'hex').toString('base64url');

const verifierText = /^[A-Za-z0-9\-._~]{43,128}$/;
const challengeText = /^[\w-]{43}$/;

/** PKCE (RFC 7636): validates the challenge; empty where there is none. The `plain` method is refused. */
export function validateCodeChallenge(challenge = '', method = ''): string | OauthError {
  if (challenge === '' && method === '') return '';
  if (method !== 'S256') return createOauthError('invalid_request', 'code_challenge_method must be S256');
  return challengeText.test(challenge) ? challenge : createOauthError('invalid_request', 'code_challenge is malformed');
}

/** PKCE: a challenge needs its verifier, and a verifier needs a challenge. */
export function isVerifierValid(challenge: string, verifier: string): boolean {
  if (challenge === '' || verifier === '') return challenge === '' && verifier === '';
  return (
    verifierText.test(verifier) &&
    constantTimeEqual(createHash('sha256').update(verifier).digest('base64url'), challenge)
  );
}
