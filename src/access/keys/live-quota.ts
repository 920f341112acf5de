import { toUnixSeconds } from '#base/clock.ts';
import { applyPolicies, policyIdsOf } from '../policies/apply-policies.ts';
import type { PolicyStore } from '../policies/store.ts';
import { type Counting, countersOf, keyOwner, organisationOwner, quotaCounter, quotaWindow } from './counters.ts';
import { limitIsSet } from './schema.ts';
import type { Limits, Session } from './session.ts';
import type { StoredKey } from './store.ts';

/** What a key has used, seen and reset from the side of management. */
export interface QuotaTools {
  policies: PolicyStore;
  counting: Counting;
}

type Owned = Pick<StoredKey, 'kind' | 'keyId' | 'digest'>;

const ownerOf = ({ kind, keyId, digest }: Owned) =>
  kind === 'organisation' ? organisationOwner(keyId) : keyOwner(digest);

/** The key with its policies applied; nothing where they cannot be. */
async function sessionOfStored({ policies }: QuotaTools, { orgId, key }: StoredKey): Promise<Session | undefined> {
  const found = await policies.named(orgId, policyIdsOf(key));
  const applied = applyPolicies(key, found, { orgId, allowMasterKeys: true });
  return applied.ok ? applied.session : undefined;
}

/** Starts the counters of a key anew in these scopes. The limits of an organisation have one scope. */
export async function resetQuota(
  { counting }: Pick<QuotaTools, 'counting'>,
  stored: Owned,
  session: Session,
  scopes: readonly string[],
): Promise<void> {
  if (scopes.length === 0) return;
  await counting.reset(countersOf(session, ownerOf(stored), stored.kind === 'organisation' ? [''] : scopes));
}

/** Forgets all that a key has used. */
export async function forgetQuota(tools: QuotaTools, stored: StoredKey): Promise<void> {
  const session = await sessionOfStored(tools, stored);
  if (!session) return;
  const scopes = new Set(['', ...[...session.rights.values()].map(right => right.scope)]);
  await resetQuota(tools, stored, session, [...scopes]);
}

/** The key with what is left of its quotas now, and when they begin anew. */
export async function liveQuota(tools: QuotaTools, stored: StoredKey): Promise<StoredKey> {
  const session = await sessionOfStored(tools, stored);
  if (!session) return stored;
  const { key } = stored;
  const owner = ownerOf(stored);
  const live = (scope: string, quota: Limits['quota']) => shownQuota(tools.counting, quotaCounter(owner, scope), quota);
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

/** A period that nobody has begun renews as it was written. */
async function shownQuota(counting: Counting, name: string, quota: Limits['quota']) {
  if (!quota) return {};
  const { used, remaining, resetsAtMs } = await counting.look(name, quotaWindow(quota));
  const renews = resetsAtMs === Number.POSITIVE_INFINITY ? 0 : toUnixSeconds(resetsAtMs + 999);
  return { quota_remaining: remaining, ...(used > 0 && { quota_renews: renews }) };
}
