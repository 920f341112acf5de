import { setTimeout as delay } from 'node:timers/promises';
import type { ControlPlaneOf } from '../../control-plane.ts';
import type { StoredPlan } from '../../plans/schema.ts';
import { isProviderFailure } from '../../providers/provider-client.ts';
import { hasQuota, type QuotaUse, toQuotaUse } from '../../quota-notices/quota-notices.ts';
import type { SiteServices } from '../page.ts';
import { type CountedKey, selectNewest } from './key-use.ts';

/** Reads of quotas of one page: those of the newest credentials. */
const maxQuotaReads = 20;
/** Time that a page waits for its reads, which end with it. */
const quotaTimeoutMs = 1500;
/** Reads from one provider at a time, of all pages of this process. */
const maxProviderReads = 5;

/** Reads in progress by the number of the provider; an installation has its own control planes. */
const readsOf = new WeakMap<ControlPlaneOf, Map<number, number>>();

type LimitedKey = CountedKey & { readonly plan: StoredPlan };

/**
 * Quotas of keys as their providers count them now; without those that fail, do not answer in time, or belong to a
 * provider that other pages read from. The status of a provider stays as it is: a page view is no check of it.
 */
export async function readQuotaLeft(
  keys: readonly (CountedKey & { readonly plan: StoredPlan | undefined })[],
  services: SiteServices,
): Promise<Map<number, QuotaUse>> {
  const found = new Map<number, QuotaUse>();
  const limited = keys.filter((it): it is LimitedKey => it.credential.Credential !== '' && hasQuota(it.plan));
  if (limited.length === 0) return found;
  const newest = selectNewest(limited, maxQuotaReads);
  const stop = new AbortController();
  const reads = [...Map.groupBy(newest, it => it.request.ProviderID)].map(([providerId, ofProvider]) =>
    readOfProvider(providerId, ofProvider, found, services, stop.signal),
  );
  try {
    await Promise.race([Promise.all(reads), delay(quotaTimeoutMs, undefined, { ref: false })]);
  } finally {
    stop.abort();
  }
  return new Map(found);
}

/** Reads keys of a provider in as many sequences as it has free places; each ends with its first failure. */
async function readOfProvider(
  providerId: number,
  keys: LimitedKey[],
  found: Map<number, QuotaUse>,
  services: SiteServices,
  signal: AbortSignal,
): Promise<void> {
  const { portal, controlPlane, log } = services;
  const provider = await portal.providers.get(providerId);
  if (!provider) return;
  const inProgress = readsOf.get(controlPlane) ?? new Map<number, number>();
  readsOf.set(controlPlane, inProgress);
  const count = (change: 1 | -1) => {
    const next = (inProgress.get(providerId) ?? 0) + change;
    if (next > 0) inProgress.set(providerId, next);
    else inProgress.delete(providerId);
  };
  const waiting = [...keys];
  const readNext = async (): Promise<void> => {
    count(1);
    try {
      for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
        const use = toQuotaUse(await controlPlane(provider).readKey(next.credential.Credential, signal), next.plan);
        if (use) found.set(next.credential.ID, use);
      }
    } catch (error) {
      if (!signal.aborted && !isProviderFailure(error)) log.warn({ err: error }, 'quota of credential unreadable');
    } finally {
      count(-1);
    }
  };
  const free = maxProviderReads - (inProgress.get(providerId) ?? 0);
  await Promise.all(keys.slice(0, Math.max(0, free)).map(readNext));
}
