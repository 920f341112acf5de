import { createTimeBuckets, dayMs } from '#analytics/time-buckets.ts';
import { utcZone } from '#base/time-zone.ts';
import { readRevokedRequests } from '../../access-requests/store.ts';
import { listKeyHashes } from '../../credentials/schema.ts';
import { readCredentialOutlines } from '../../credentials/store.ts';
import type { SiteServices } from '../page.ts';
import type { AppUsageServices } from './app-usage.ts';
import { createOrganisationFinder } from './organisation-finder.ts';

export type AllUsageServices = AppUsageServices & Pick<SiteServices, 'records'>;

/** Keys of one query. */
const maxQueryKeys = 500;

export interface DailyCount {
  readonly calls: number;
  readonly errors: number;
}

/** Calls with the keys of all apps, revoked ones included, in the last days, today included, by day in UTC. */
export async function readDailyUsage(days: number, services: AllUsageServices): Promise<Map<number, DailyCount>> {
  const { clock, usage } = services;
  const today = Math.floor(clock.now() / dayMs);
  const span = { from: (today - days + 1) * dayMs, to: (today + 1) * dayMs };
  const counts = new Map<number, DailyCount>();
  const findOrganisation = createOrganisationFinder(services);

  async function addUsage(orgId: string, keyHashes: readonly string[]): Promise<void> {
    const time = createTimeBuckets('day', utcZone, span);
    const query = { orgId, ...span, keyHashes, ascending: false, groups: [], time, order: 'time' } as const;
    for (const { bucket, hits, error } of (await usage.page(query, { page: 1, size: days })).items) {
      const { calls = 0, errors = 0 } = counts.get(Number(bucket)) ?? {};
      counts.set(Number(bucket), { calls: calls + Number(hits), errors: errors + Number(error) });
    }
  }

  const waiting = new Map<string, string[]>();
  for await (const batch of readAppKeys(services))
    for (const { ProviderID, hashes } of batch) {
      const orgId = await findOrganisation(ProviderID);
      if (orgId === undefined) continue;
      const all = waiting.get(orgId) ?? [];
      all.push(...hashes);
      waiting.set(orgId, all);
      while (all.length >= maxQueryKeys) await addUsage(orgId, all.splice(0, maxQueryKeys));
    }
  for (const [orgId, hashes] of waiting) if (hashes.length > 0) await addUsage(orgId, hashes);
  return counts;
}

interface AppKeys {
  readonly ProviderID: number;
  readonly hashes: readonly string[];
}

/** Hashes of the keys of all apps in batches: those of credentials, then revoked ones, whose calls were of apps too. */
async function* readAppKeys({ portal, records }: AllUsageServices): AsyncGenerator<AppKeys[]> {
  for await (const credentials of readCredentialOutlines(records)) {
    const requests = await portal.accessRequests.byIds(credentials.map(it => it.AccessRequestID));
    yield credentials.map(it => ({
      ProviderID: requests.get(it.AccessRequestID)?.ProviderID ?? 0,
      hashes: listKeyHashes(it),
    }));
  }
  for await (const requests of readRevokedRequests(records))
    yield requests.map(({ ProviderID, RevokedHashes = [] }) => ({ ProviderID, hashes: RevokedHashes }));
}
