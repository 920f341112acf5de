import { createHash } from 'node:crypto';
import { formatKeyId } from '#access/keys/ids.ts';
import type { Key } from '#access/keys/schema.ts';
import { applyPolicies, type PolicyFault, policyIdsOf, type Rejection } from '#access/policies/apply-policies.ts';
import { policyChangeName } from '#access/policies/topic.ts';
import { isObject } from '#base/json-tree.ts';
import type { Settings } from '#base/settings.ts';
import type { CachedKey, KeyCache } from './key-cache.ts';

interface Services {
  readonly keyCache: KeyCache;
  readonly settings: Settings;
}

export type SessionResult = CachedKey | Rejection<PolicyFault>;
export const isRefused = (governed: SessionResult): governed is Rejection<PolicyFault> => 'reason' in governed;

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** Key id of an external identity. The hash only makes a valid id of any name; it protects nothing. */
export const keyIdOfIdentity = (orgId: string, ...identity: readonly string[]): string =>
  formatKeyId(orgId, identity.map(md5).join(''));

/** The identity of a client without a stored key, from its token. */
export interface DerivedIdentity {
  readonly orgId: string;
  readonly keyId: string;
  readonly alias: string;
  readonly policyIds: readonly string[];
  /** Unix seconds. */
  readonly expires: number | undefined;
  readonly metaData: Readonly<Record<string, unknown>>;
  readonly oauthClientId: string | undefined;
}

/**
 * Creates the session of an external identity, in memory only. A key stored under the same id supplies what the token
 * leaves open.
 */
export async function createDerivedSession(services: Services, derived: DerivedIdentity): Promise<SessionResult> {
  const stored = await services.keyCache.find(derived.orgId, derived.keyId);
  const { apply_policy_id: _deprecated, ...written }: Key = stored?.rawKey ?? {};
  const expires = Math.max(written.expires ?? 0, derived.expires ?? 0);
  const key: Key = {
    ...written,
    org_id: derived.orgId,
    alias: derived.alias,
    apply_policies: [...derived.policyIds],
    expires,
    meta_data: { ...(isObject(written.meta_data) ? written.meta_data : {}), ...derived.metaData },
    ...(derived.oauthClientId === undefined ? {} : { oauth_client_id: derived.oauthClientId }),
  };
  return applyKeyPolicies(services, derived.orgId, derived.keyId, key);
}

/** Applies the policies of a key. */
export async function applyKeyPolicies(
  services: Services,
  orgId: string,
  keyId: string,
  key: Key,
): Promise<SessionResult> {
  const ids = policyIdsOf(key);
  const application = applyPolicies(key, await services.keyCache.policies(orgId, ids), {
    orgId,
    allowMasterKeys: services.settings['keys.allow_master_keys'],
  });
  if (!application.ok) return application;
  return {
    keyId,
    counterOwner: services.keyCache.counterOwnerOf(keyId),
    keyHash: services.keyCache.hashOf(keyId),
    kind: 'token',
    session: application.session,
    rawKey: key,
    createdAt: 0,
    policyTopics: ids.map(id => policyChangeName(orgId, id)),
  };
}
