import { toUnixSeconds } from '#base/clock.ts';
import { applyPolicies, policyIdsOf } from '../policies/apply-policies.ts';
import type { PolicyStore } from '../policies/store.ts';
import { countersOf, type KeyCounters, keyOwner, organisationOwner, quotaCounter, quotaWindow } from './counters.ts';
import { limitIsSet } from './schema.ts';
import type { KeyLimits, Session } from './session.ts';
import type { KeyStore, StoredKey } from './store.ts';

/** Quota counters of keys, read and reset by management operations. */
export interface QuotaServices {
  policies: PolicyStore;
  counting: KeyCounters;
}

type CounterOwnerKey = Pick<StoredKey, 'kind' | 'keyId' | 'digest'>;

const counterOwnerOfKey = ({ kind, keyId, digest }: CounterOwnerKey) =>
  kind === 'organisation' ? organisationOwner(keyId) : keyOwner(digest);

/** Compiled session; undefined where the policies cannot be applied. */
export async function compileSession(
  { policies }: Pick<QuotaServices, 'policies'>,
  { orgId, key }: Pick<StoredKey, 'orgId' | 'key'>,
): Promise<Session | undefined> {
  const byId = await policies.findByIds(orgId, policyIdsOf(key));
  const applied = applyPolicies(key, byId, { orgId, allowMasterKeys: true });
  return applied.ok ? applied.session : undefined;
}

/** Resets the counters of a key in these scopes. Organisation limits have one scope. */
export async function resetQuota(
  { counting }: Pick<QuotaServices, 'counting'>,
  stored: CounterOwnerKey,
  session: Session,
  scopes: readonly string[],
): Promise<void> {
  if (scopes.length === 0) return;
  await counting.reset(countersOf(session, counterOwnerOfKey(stored), stored.kind === 'organisation' ? [''] : scopes));
}

/** Key that has quota counters, with its compiled session. */
export interface QuotaOwner {
  readonly stored: CounterOwnerKey;
  readonly session: Session;
}

/** Carries used quota over to the counters of a replaced key, or to those of the scopes that other policies count in. */
export async function carryQuota(
  { counting }: Pick<QuotaServices, 'counting'>,
  before: QuotaOwner,
  after: QuotaOwner,
): Promise<void> {
  const counterOf = ({ stored }: QuotaOwner, scope: string) => quotaCounter(counterOwnerOfKey(stored), scope);
  for (const [apiId, { scope, limits }] of after.session.rights) {
    const former = before.session.rights.get(apiId);
    if (!former?.limits.quota || !limits.quota) continue;
    const [from, to] = [counterOf(before, former.scope), counterOf(after, scope)];
    if (from !== to) await counting.carryOver(from, to, quotaWindow(limits.quota));
  }
}

/** Lets the quota that a key has used count on for another one, which replaces it. */
export async function carryUsedQuota(
  services: QuotaServices & { keys: Pick<KeyStore, 'get'> },
  orgId: string,
  fromKeyId: string,
  toKeyId: string,
): Promise<void> {
  const findCounted = async (keyId: string): Promise<QuotaOwner | undefined> => {
    const stored = await services.keys.get(orgId, keyId);
    const session = stored && (await compileSession(services, stored));
    return session && { stored, session };
  };
  const [before, after] = [await findCounted(fromKeyId), await findCounted(toKeyId)];
  if (before && after) await carryQuota(services, before, after);
}

/** Resets all counters of a key. */
export async function clearQuota(services: QuotaServices, stored: StoredKey): Promise<void> {
  const session = await compileSession(services, stored);
  if (!session) return;
  const scopes = new Set(['', ...[...session.rights.values()].map(right => right.scope)]);
  await resetQuota(services, stored, session, [...scopes]);
}

/** The key with its current quota_remaining and quota_renews. */
export async function withLiveQuota(services: QuotaServices, stored: StoredKey): Promise<StoredKey> {
  const session = await compileSession(services, stored);
  if (!session) return stored;
  const { key } = stored;
  const owner = counterOwnerOfKey(stored);
  const live = (scope: string, quota: KeyLimits['quota']) =>
    readQuota(services.counting, quotaCounter(owner, scope), quota);
  const rights = Object.entries(key.access_rights ?? {}).map(async ([apiId, right]) => {
    const granted = session.rights.get(apiId);
    if (!granted || !limitIsSet(right.limit)) return [apiId, right] as const;
    return [
      apiId,
      { ...right, limit: { ...right.limit, ...(await live(granted.scope, granted.limits.quota)) } },
    ] as const;
  });
  return {
    ...stored,
    key: {
      ...key,
      ...(key.access_rights && { access_rights: Object.fromEntries(await Promise.all(rights)) }),
      ...(await live('', session.limits.quota)),
    },
  };
}

/** Current quota members; a period without requests keeps the stored quota_renews. */
async function readQuota(counting: KeyCounters, name: string, quota: KeyLimits['quota']) {
  if (!quota) return {};
  const { used, remaining, resetsAtMs } = await counting.peek(name, quotaWindow(quota));
  const renews = resetsAtMs === Number.POSITIVE_INFINITY ? 0 : toUnixSeconds(resetsAtMs + 999);
  return { quota_remaining: remaining, ...(used > 0 && { quota_renews: renews }) };
}
