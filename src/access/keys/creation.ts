import { formatIsoTime, toUnixSeconds } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import { isObject } from '#base/json-tree.ts';
import {
  type AppliedPolicies,
  applyPolicies,
  type PolicyFault,
  type PolicyLookup,
  type Rejection,
} from '../policies/apply-policies.ts';
import { type Policy, policyIdOf, stateOf } from '../policies/schema.ts';
import { type Key, keyWarnings, limitIsSet } from './schema.ts';
import type { Session } from './session.ts';

/** Rules of creating and updating keys: from the request body to the stored key. */

export interface KeyContext {
  /** Organisation of the key and of its policies. */
  readonly orgId: string;
  readonly policies: PolicyLookup;
  readonly nowMs: number;
  readonly allowMasterKeys?: boolean;
  /** Leaves the running quota period and the rate window as they are. */
  readonly suppressReset?: boolean;
  /** True for APIs whose quotas are not reset when keys are written. */
  readonly keepsQuota?: (apiId: string) => boolean;
  readonly knowsApi?: (apiId: string) => boolean;
}

export interface NewKeyContext extends KeyContext {
  /** Set to generate an HMAC secret: 32 hexadecimal characters per call. */
  readonly randomHex?: () => string;
}

const faults = {
  policy_takes_no_keys: 'policy allows no new keys',
  certificate_removed: 'Key cannot be used without a certificate',
};
export type KeyFault = PolicyFault | keyof typeof faults;

export interface PreparedKey {
  readonly ok: true;
  /** Key to store: as sent, with members set by the server. Its password is the stored hash, or empty. */
  readonly key: Key;
  /** The same with its policies applied, as returned. */
  readonly effective: Key;
  /** The policies applied, in order. */
  readonly policies: readonly Policy[];
  readonly session: Session;
  /** Plaintext password: hash it and call `withPassword` before storing the key. */
  readonly passwordToHash: string | undefined;
  /** A newly named certificate: check that it exists before storing the key. */
  readonly certificateToCheck: string | undefined;
  /** Scopes whose quota counters are reset; the empty scope is the key itself. */
  readonly quotaScopes: readonly string[];
  readonly warnings: readonly string[];
}

export type Preparation = PreparedKey | Rejection<KeyFault>;

const refuse = (reason: keyof typeof faults, message = faults[reason]): Rejection<KeyFault> => ({
  ok: false,
  reason,
  message,
});

/** The key with a hashed password. */
export function withPassword(key: Key, hashed: { readonly password: string; readonly hash_type: string }): Key {
  return { ...key, basic_auth_data: { ...key.basic_auth_data, ...hashed } };
}

/** Expiry: a time in the past is ignored and the previous one stays; 0 and below mean never. */
function resolveExpiry(sent: number | undefined, before: number, nowMs: number): number {
  return sent !== undefined && sent > 1 && sent < toUnixSeconds(nowMs) ? before : (sent ?? 0);
}

function policyLifetime({ policies }: AppliedPolicies): number | undefined {
  return policies.findLast(policy => (policy.key_expires_in ?? 0) > 0)?.key_expires_in;
}

const nextRenewal = (periodSeconds: number | undefined, nowMs: number) =>
  periodSeconds !== undefined && periodSeconds > 0 ? toUnixSeconds(nowMs) + periodSeconds : 0;

/** Scopes to reset: those of APIs that do not keep quotas. */
function scopesToReset(
  { session }: AppliedPolicies,
  { suppressReset, keepsQuota = () => false }: KeyContext,
): string[] {
  if (suppressReset) return [];
  if (session.everyApi) return [''];
  return [...new Set([...session.rights].filter(([apiId]) => !keepsQuota(apiId)).map(([, right]) => right.scope))];
}

/** Starts a quota period in the response members; the counters are stored separately. */
function withFreshQuota(
  key: Key,
  { key: effective }: AppliedPolicies,
  { nowMs, keepsQuota = () => false }: KeyContext,
): Key {
  const rights = Object.entries(key.access_rights ?? {}).map(([apiId, right]) => {
    if (!limitIsSet(right.limit) || keepsQuota(apiId)) return [apiId, right];
    const { quota_max = 0, quota_renewal_rate } = right.limit;
    const limit = { ...right.limit, quota_renews: nextRenewal(quota_renewal_rate, nowMs), quota_remaining: quota_max };
    return [apiId, { ...right, limit }];
  });
  return {
    ...key,
    ...(isObject(key.access_rights) && { access_rights: Object.fromEntries(rights) }),
    quota_renews: nextRenewal(effective.quota_renewal_rate, nowMs),
    quota_remaining: effective.quota_max ?? 0,
  };
}

function warnUnknownApis({ session }: AppliedPolicies, { knowsApi = () => true }: KeyContext): string[] {
  const unknown = [...session.rights.keys()].filter(apiId => !knowsApi(apiId));
  return unknown.map(apiId => `access_rights.${apiId}: there is no such API`);
}

type PendingChecks = Pick<PreparedKey, 'passwordToHash' | 'certificateToCheck'>;

/** Applies the policies to the key to store, so that the response shows what the gateway enforces. */
function finishPreparation(
  toStore: Key,
  context: KeyContext,
  appliedBefore: AppliedPolicies,
  pending: PendingChecks,
): Preparation {
  const quotaScopes = scopesToReset(appliedBefore, context);
  const key = quotaScopes.length > 0 ? withFreshQuota(toStore, appliedBefore, context) : toStore;
  const applied = applyPolicies(key, context.policies, context);
  if (!applied.ok) return applied;
  const allWarnings = [...keyWarnings(key), ...warnUnknownApis(applied, context)];
  return {
    ok: true,
    key,
    effective: applied.key,
    policies: applied.policies,
    session: applied.session,
    ...pending,
    quotaScopes,
    warnings: allWarnings,
  };
}

/** Drops the sent id and sets the organisation. */
function withoutServerMembers({ key_id: _id, ...key }: Key, { orgId }: KeyContext): Key {
  return { ...key, org_id: orgId };
}

const findChangedCertificate = (key: Key, previous: Key): string | undefined =>
  key.certificate && key.certificate !== previous.certificate ? key.certificate : undefined;

/** Prepares a new key. */
export function prepareNewKey(sent: Key, context: NewKeyContext): Preparation {
  const { nowMs, randomHex } = context;
  const key = withoutServerMembers(sent, context);
  const applied = applyPolicies(key, context.policies, context);
  if (!applied.ok) return applied;
  const inactive = applied.policies.find(policy => stateOf(policy) !== 'active');
  if (inactive) {
    return refuse(
      'policy_takes_no_keys',
      `${faults.policy_takes_no_keys}: ${JSON.stringify(policyIdOf(inactive))} is in state ${stateOf(inactive)}`,
    );
  }
  const lifetimeSeconds = policyLifetime(applied);
  const password = sent.basic_auth_data?.password || undefined;
  const toStore: Key = {
    ...key,
    date_created: formatIsoTime(nowMs),
    last_updated: String(toUnixSeconds(nowMs)),
    expires: lifetimeSeconds ? toUnixSeconds(nowMs) + lifetimeSeconds : resolveExpiry(sent.expires, 0, nowMs),
    ...(randomHex && applied.key.hmac_enabled && { hmac_string: Buffer.from(randomHex()).toString('base64') }),
    ...(sent.basic_auth_data && { basic_auth_data: { ...sent.basic_auth_data, password: '', hash_type: '' } }),
  };
  return finishPreparation(toStore, context, applied, {
    passwordToHash: password,
    certificateToCheck: findChangedCertificate(sent, {}),
  });
}

/** Keeps the stored password when none is sent or the stored hash is sent back. */
function resolvePassword(
  next: Key,
  previous: Key,
): { basic_auth_data?: Key['basic_auth_data']; passwordToHash: string | undefined } {
  const sent = next.basic_auth_data?.password || undefined;
  const stored = { hash_type: '', ...previous.basic_auth_data, password: previous.basic_auth_data?.password ?? '' };
  const passwordToHash = sent !== undefined && constantTimeEqual(sent, stored.password) ? undefined : sent;
  if (!next.basic_auth_data && !previous.basic_auth_data) return { passwordToHash };
  const { password, hash_type } = stored;
  return { basic_auth_data: { ...stored, ...next.basic_auth_data, password, hash_type }, passwordToHash };
}

/** Prepares an update; creation date, organisation and password are kept. */
export function prepareKeyUpdate(previous: Key, next: Key, context: KeyContext): Preparation {
  if (previous.certificate && !next.certificate) return refuse('certificate_removed');
  const { nowMs, suppressReset } = context;
  const { passwordToHash, ...password } = resolvePassword(next, previous);
  const { quota_renews = 0, quota_remaining = 0, last_updated = '' } = previous;
  const toStore: Key = {
    ...withoutServerMembers(next, context),
    ...(previous.org_id && { org_id: previous.org_id }),
    date_created: previous.date_created ?? formatIsoTime(nowMs),
    last_updated: suppressReset ? last_updated : String(toUnixSeconds(nowMs)),
    expires: resolveExpiry(next.expires, previous.expires ?? 0, nowMs),
    quota_renews,
    quota_remaining,
    ...password,
  };
  const applied = applyPolicies(toStore, context.policies, context);
  if (!applied.ok) return applied;
  return finishPreparation(toStore, context, applied, {
    passwordToHash,
    certificateToCheck: findChangedCertificate(next, previous),
  });
}
