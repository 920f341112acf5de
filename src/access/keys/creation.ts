import { formatIsoTime, toUnixSeconds } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import {
  type ApplicationFault,
  type Applied,
  applyPolicies,
  type PolicyLookup,
  type Refused,
} from '../policies/apply-policies.ts';
import { idOf, stateOf } from '../policies/schema.ts';
import { type Key, limitIsSet, warnings } from './schema.ts';
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
export type KeyFault = ApplicationFault | keyof typeof faults;

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

export type Preparation = PreparedKey | Refused<KeyFault>;

const refuse = (reason: keyof typeof faults, message = faults[reason]): Refused<KeyFault> => ({
  ok: false,
  reason,
  message,
});

/** The key with a password already hashed. */
export function withPassword(key: Key, hashed: { readonly password: string; readonly hash_type: string }): Key {
  return { ...key, basic_auth_data: { ...key.basic_auth_data, ...hashed } };
}

/** A time that has passed is a mistake, so the one before stands; 0 and less mean never. */
function expiryOf(sent: number | undefined, before: number, nowMs: number): number {
  return sent !== undefined && sent > 1 && sent < toUnixSeconds(nowMs) ? before : (sent ?? 0);
}

function lifetimeGiven({ policies }: Applied): number | undefined {
  return policies.findLast(policy => (policy.key_expires_in ?? 0) > 0)?.key_expires_in;
}

const renewal = (periodSeconds: number | undefined, nowMs: number) =>
  periodSeconds !== undefined && periodSeconds > 0 ? toUnixSeconds(nowMs) + periodSeconds : 0;

/** Scopes that start a new quota period: those of the APIs that do not ask to be left alone. */
function scopesToReset({ session }: Applied, { suppressReset, keepsQuota = () => false }: KeyContext): string[] {
  if (suppressReset) return [];
  if (session.everyApi) return [''];
  return [...new Set([...session.rights].filter(([apiId]) => !keepsQuota(apiId)).map(([, right]) => right.scope))];
}

/** Begins a quota period in the members readers see; the counters themselves are kept elsewhere. */
function withFreshQuota(key: Key, { key: effective }: Applied, { nowMs, keepsQuota = () => false }: KeyContext): Key {
  const rights = Object.entries(key.access_rights ?? {}).map(([apiId, right]) => {
    if (!limitIsSet(right.limit) || keepsQuota(apiId)) return [apiId, right];
    const { quota_max = 0, quota_renewal_rate } = right.limit;
    const limit = { ...right.limit, quota_renews: renewal(quota_renewal_rate, nowMs), quota_remaining: quota_max };
    return [apiId, { ...right, limit }];
  });
  return {
    ...key,
    ...(isRecord(key.access_rights) && { access_rights: Object.fromEntries(rights) }),
    quota_renews: renewal(effective.quota_renewal_rate, nowMs),
    quota_remaining: effective.quota_max ?? 0,
  };
}

function unknownApis({ session }: Applied, { knowsApi = () => true }: KeyContext): string[] {
  const unknown = [...session.rights.keys()].filter(apiId => !knowsApi(apiId));
  return unknown.map(apiId => `access_rights.${apiId}: there is no such API`);
}

type Left = Pick<PreparedKey, 'passwordToHash' | 'certificateToCheck'>;

/** Applies the policies to what will be kept, so that the answer shows what the gateway will enforce. */
function prepared(kept: Key, context: KeyContext, before: Applied, left: Left): Preparation {
  const quotaScopes = scopesToReset(before, context);
  const key = quotaScopes.length > 0 ? withFreshQuota(kept, before, context) : kept;
  const applied = applyPolicies(key, context.policies, context);
  if (!applied.ok) return applied;
  const told = [...warnings(key), ...unknownApis(applied, context)];
  return { ok: true, key, effective: applied.key, session: applied.session, ...left, quotaScopes, warnings: told };
}

/** Id and organisation are the server's to give. */
function asSent({ key_id: _id, ...key }: Key, { orgId }: KeyContext): Key {
  return { ...key, org_id: orgId };
}

const changedCertificate = (key: Key, previous: Key): string | undefined =>
  key.certificate && key.certificate !== previous.certificate ? key.certificate : undefined;

/** A key nobody has yet. */
export function prepareNewKey(sent: Key, context: NewKeyContext): Preparation {
  const { nowMs, randomHex } = context;
  const key = asSent(sent, context);
  const applied = applyPolicies(key, context.policies, context);
  if (!applied.ok) return applied;
  const closed = applied.policies.find(policy => stateOf(policy) !== 'active');
  if (closed) {
    return refuse(
      'policy_takes_no_keys',
      `${faults.policy_takes_no_keys}: ${JSON.stringify(idOf(closed))} is in state ${stateOf(closed)}`,
    );
  }
  const lifetime = lifetimeGiven(applied);
  const password = sent.basic_auth_data?.password || undefined;
  const kept: Key = {
    ...key,
    date_created: formatIsoTime(nowMs),
    last_updated: String(toUnixSeconds(nowMs)),
    expires: lifetime ? toUnixSeconds(nowMs) + lifetime : expiryOf(sent.expires, 0, nowMs),
    ...(randomHex && applied.key.hmac_enabled && { hmac_string: Buffer.from(randomHex()).toString('base64') }),
    ...(sent.basic_auth_data && { basic_auth_data: { ...sent.basic_auth_data, password: '', hash_type: '' } }),
  };
  return prepared(kept, context, applied, {
    passwordToHash: password,
    certificateToCheck: changedCertificate(sent, {}),
  });
}

/** A password left out, or sent back as the hash that is kept, is the one kept. */
function keptPassword(
  next: Key,
  previous: Key,
): { basic_auth_data?: Key['basic_auth_data']; passwordToHash: string | undefined } {
  const sent = next.basic_auth_data?.password || undefined;
  const kept = { hash_type: '', ...previous.basic_auth_data, password: previous.basic_auth_data?.password ?? '' };
  const passwordToHash = sent !== undefined && constantTimeEqual(sent, kept.password) ? undefined : sent;
  if (!next.basic_auth_data && !previous.basic_auth_data) return { passwordToHash };
  const { password, hash_type } = kept;
  return { basic_auth_data: { ...kept, ...next.basic_auth_data, password, hash_type }, passwordToHash };
}

/** A key that replaces one: it keeps the day it was made, its organisation and its password. */
export function prepareKeyUpdate(previous: Key, next: Key, context: KeyContext): Preparation {
  if (previous.certificate && !next.certificate) return refuse('certificate_removed');
  const { nowMs, suppressReset } = context;
  const { passwordToHash, ...password } = keptPassword(next, previous);
  const { quota_renews = 0, quota_remaining = 0, last_updated = '' } = previous;
  const kept: Key = {
    ...asSent(next, context),
    ...(previous.org_id && { org_id: previous.org_id }),
    date_created: previous.date_created ?? formatIsoTime(nowMs),
    last_updated: suppressReset ? last_updated : String(toUnixSeconds(nowMs)),
    expires: expiryOf(next.expires, previous.expires ?? 0, nowMs),
    quota_renews,
    quota_remaining,
    ...password,
  };
  const applied = applyPolicies(kept, context.policies, context);
  if (!applied.ok) return applied;
  return prepared(kept, context, applied, {
    passwordToHash,
    certificateToCheck: changedCertificate(next, previous),
  });
}
