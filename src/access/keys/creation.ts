import { formatIsoTime, toUnixSeconds } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import {
  type AppliedPolicies,
  applyPolicies,
  type PolicyFault,
  type PolicyLookup,
  type Rejection,
} from '../policies/apply-policies.ts';
import { policyIdOf, stateOf } from '../policies/schema.ts';
import { type Key, keyWarnings, limitIsSet } from './schema.ts';
import { isRecord, type Session } from './session.ts';

/** What the server makes of a key somebody sends, before it is kept. */

export interface KeyContext {
  /** The organisation a new key gets, and whose policies it may use. */
  readonly orgId: string;
  readonly policies: PolicyLookup;
  readonly nowMs: number;
  readonly allowMasterKeys?: boolean;
  /** Leaves the running quota period and the rate window as they are. */
  readonly suppressReset?: boolean;
  /** Whether an API asks that quotas be left alone when keys are written. */
  readonly keepsQuota?: (apiId: string) => boolean;
  readonly knowsApi?: (apiId: string) => boolean;
}

export interface NewKeyContext extends KeyContext {
  /** Given where a key that may sign gets a secret made for it: 32 hexadecimal characters a call. */
  readonly randomHex?: () => string;
}

const faults = {
  policy_takes_no_keys: 'policy takes no new keys',
  certificate_removed: 'Key cannot be used without a certificate',
};
export type KeyFault = PolicyFault | keyof typeof faults;

export interface PreparedKey {
  readonly ok: true;
  /** What to keep: the key as sent, with what the server sets. Its password is the hash kept so far, or empty. */
  readonly key: Key;
  /** The same with its policies applied, as readers see it. */
  readonly effective: Key;
  readonly session: Session;
  /** A password sent in clear: hash it and hand the hash to `withPassword` before keeping the key. */
  readonly passwordToHash: string | undefined;
  /** A certificate the key did not have before: see that it exists before keeping the key. */
  readonly certificateToCheck: string | undefined;
  /** Scopes whose quota counters start anew; the empty one is that of the key itself. */
  readonly quotaScopes: readonly string[];
  readonly warnings: readonly string[];
}

export type Preparation = PreparedKey | Rejection<KeyFault>;

const refuse = (reason: keyof typeof faults, message = faults[reason]): Rejection<KeyFault> => ({
  ok: false,
  reason,
  message,
});

/** The key with a password already hashed. */
export function withPassword(key: Key, hashed: { readonly password: string; readonly hash_type: string }): Key {
  return { ...key, basic_auth_data: { ...key.basic_auth_data, ...hashed } };
}

/** A time that has passed is a mistake, so the one before stands; 0 and less mean never. */
function resolveExpiry(sent: number | undefined, before: number, nowMs: number): number {
  return sent !== undefined && sent > 1 && sent < toUnixSeconds(nowMs) ? before : (sent ?? 0);
}

function policyLifetime({ policies }: AppliedPolicies): number | undefined {
  return policies.findLast(policy => (policy.key_expires_in ?? 0) > 0)?.key_expires_in;
}

const nextRenewal = (periodSeconds: number | undefined, nowMs: number) =>
  periodSeconds !== undefined && periodSeconds > 0 ? toUnixSeconds(nowMs) + periodSeconds : 0;

/** Scopes that start a new quota period: those of the APIs that do not ask to be left alone. */
function scopesToReset(
  { session }: AppliedPolicies,
  { suppressReset, keepsQuota = () => false }: KeyContext,
): string[] {
  if (suppressReset) return [];
  if (session.everyApi) return [''];
  return [...new Set([...session.rights].filter(([apiId]) => !keepsQuota(apiId)).map(([, right]) => right.scope))];
}

/** Begins a quota period in the members readers see; the counters themselves are kept elsewhere. */
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
    ...(isRecord(key.access_rights) && { access_rights: Object.fromEntries(rights) }),
    quota_renews: nextRenewal(effective.quota_renewal_rate, nowMs),
    quota_remaining: effective.quota_max ?? 0,
  };
}

function warnUnknownApis({ session }: AppliedPolicies, { knowsApi = () => true }: KeyContext): string[] {
  const unknown = [...session.rights.keys()].filter(apiId => !knowsApi(apiId));
  return unknown.map(apiId => `access_rights.${apiId}: there is no such API`);
}

type PendingChecks = Pick<PreparedKey, 'passwordToHash' | 'certificateToCheck'>;

/** Applies the policies to what will be kept, so that the answer shows what the gateway will enforce. */
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
    session: applied.session,
    ...pending,
    quotaScopes,
    warnings: allWarnings,
  };
}

/** Id and organisation are the server's to give. */
function withoutServerMembers({ key_id: _id, ...key }: Key, { orgId }: KeyContext): Key {
  return { ...key, org_id: orgId };
}

const findChangedCertificate = (key: Key, previous: Key): string | undefined =>
  key.certificate && key.certificate !== previous.certificate ? key.certificate : undefined;

/** A key nobody has yet. */
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
  const lifetime = policyLifetime(applied);
  const password = sent.basic_auth_data?.password || undefined;
  const toStore: Key = {
    ...key,
    date_created: formatIsoTime(nowMs),
    last_updated: String(toUnixSeconds(nowMs)),
    expires: lifetime ? toUnixSeconds(nowMs) + lifetime : resolveExpiry(sent.expires, 0, nowMs),
    ...(randomHex && applied.key.hmac_enabled && { hmac_string: Buffer.from(randomHex()).toString('base64') }),
    ...(sent.basic_auth_data && { basic_auth_data: { ...sent.basic_auth_data, password: '', hash_type: '' } }),
  };
  return finishPreparation(toStore, context, applied, {
    passwordToHash: password,
    certificateToCheck: findChangedCertificate(sent, {}),
  });
}

/** A password left out, or sent back as the hash that is kept, is the one kept. */
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

/** A key that replaces one: it keeps the day it was made, its organisation and its password. */
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
