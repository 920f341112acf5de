import { readPercentiles } from '#analytics/latency-histogram.ts';
import { problem } from '#analytics/problems.ts';
import { createTimeBuckets, dayMs } from '#analytics/time-buckets.ts';
import type { UsageQuery, UsageSum } from '#analytics/usage-sums-store.ts';
import { Problem } from '#base/problems.ts';
import { utcZone } from '#base/time-zone.ts';
import type { StoredApp } from '../../apps/schema.ts';
import { listKeyHashes } from '../../credentials/schema.ts';
import type { SiteServices } from '../page.ts';

/** Keys of one report: those of the newest credentials. */
const maxReportKeys = 500;
const maxReportApis = 100;

export type AppUsageServices = Pick<SiteServices, 'portal' | 'clock' | 'usage' | 'defaultOrgId'>;

export interface AppUsageCount {
  readonly calls: number;
  readonly errors: number;
  /** Mean duration in milliseconds; 0 without calls. */
  readonly meanMs: number;
}

export interface AppUsage {
  /** One entry for each day of the range, oldest first. */
  readonly days: readonly (AppUsageCount & { readonly dayMs: number })[];
  readonly apis: readonly (AppUsageCount & { readonly name: string })[];
  readonly total: AppUsageCount;
  /** As many days before. */
  readonly before: AppUsageCount;
  /** Durations in milliseconds; undefined without calls, and where their counts cannot be read at the moment. */
  readonly percentiles: UsagePercentiles | undefined;
}

export type UsagePercentiles = Readonly<Record<'p50' | 'p95' | 'p99', number>>;

/** Hashes of the keys of apps by the organisation whose gateway counts them. Those of remote providers are elsewhere. */
async function listHashes(apps: readonly StoredApp[], { portal, defaultOrgId }: AppUsageServices) {
  const appIds = apps.map(({ ID }) => ID);
  const requests = (await portal.accessRequests.listOfApps(appIds, { withDeleted: true })).slice(-maxReportKeys);
  const hashesOf = new Map(requests.map(({ ID, RevokedHashes = [] }) => [ID, [...RevokedHashes]]));
  for (const credential of await portal.credentials.ofRequests(requests.map(({ ID }) => ID)))
    hashesOf.get(credential.AccessRequestID)?.push(...listKeyHashes(credential));
  const providers = new Map<number, Awaited<ReturnType<typeof portal.providers.get>>>();
  for (const id of new Set(requests.map(({ ProviderID }) => ProviderID)))
    providers.set(id, await portal.providers.get(id));
  const byOrganisation = new Map<string, string[]>();
  for (const { ID, ProviderID } of requests) {
    const provider = providers.get(ProviderID);
    if (!provider || provider.MetaData.URL) continue;
    const orgId = provider.MetaData.OrgID || (await defaultOrgId());
    byOrganisation.set(orgId, [...(byOrganisation.get(orgId) ?? []), ...hashesOf.get(ID)!]);
  }
  return byOrganisation;
}

const toCount = (sums: readonly UsageSum[]): AppUsageCount => {
  const add = (read: (it: UsageSum) => number) => sums.reduce((total, it) => total + Number(read(it)), 0);
  const calls = add(it => it.hits);
  return { calls, errors: add(it => it.error), meanMs: calls === 0 ? 0 : add(it => it.total_us) / calls / 1000 };
};

const withoutLatencies = new Set([problem.percentile_rows_exceeded.code, problem.reads_exceeded.code]);

/** Sums with their latencies, or without them where there are too many counts to read, or too many reads of them. */
async function readTimed(query: UsageQuery, { usage }: AppUsageServices): Promise<readonly UsageSum[]> {
  const page = { page: 1, size: maxReportApis };
  try {
    return (await usage.page({ ...query, percentiles: true }, page)).items;
  } catch (error) {
    if (!(error instanceof Problem) || !withoutLatencies.has(error.code)) throw error;
    return (await usage.page(query, page)).items;
  }
}

/** Histograms are merged by adding their counts. */
function toPercentiles(sums: readonly UsageSum[]): UsagePercentiles | undefined {
  const timed = sums.filter(({ latencies }) => latencies !== undefined && latencies.size > 0);
  if (timed.length === 0) return undefined;
  const counts = new Map<number, number>();
  for (const { latencies } of timed)
    for (const [bucket, count] of latencies!) counts.set(bucket, (counts.get(bucket) ?? 0) + count);
  const min = Math.min(...timed.map(it => Number(it.min_us)));
  const { p50, p95, p99 } = readPercentiles(counts, min, Math.max(...timed.map(it => Number(it.max_us))));
  return { p50: p50 / 1000, p95: p95 / 1000, p99: p99 / 1000 };
}

/** Usage of the keys of apps in the last days, today included, in UTC. */
export async function readAppUsage(
  apps: readonly StoredApp[],
  days: number,
  services: AppUsageServices,
): Promise<AppUsage> {
  const today = Math.floor(services.clock.now() / dayMs);
  const span = { from: (today - days + 1) * dayMs, to: (today + 1) * dayMs };
  const byDay: UsageSum[] = [];
  const byApi: UsageSum[] = [];
  const earlier: UsageSum[] = [];
  for (const [orgId, hashes] of await listHashes(apps, services)) {
    const shared = { orgId, ...span, keyHashes: hashes.slice(-maxReportKeys), ascending: false } as const;
    const time = createTimeBuckets('day', utcZone, span);
    const daily = { ...shared, groups: [], time, order: 'time' } as const;
    byDay.push(...(await services.usage.page(daily, { page: 1, size: days })).items);
    const perApi = { ...shared, groups: ['api_id'], order: 'hits' } as const;
    byApi.push(...(await readTimed(perApi, services)));
    const former = { ...perApi, from: span.from - days * dayMs, to: span.from };
    earlier.push(...(await services.usage.page(former, { page: 1, size: maxReportApis })).items);
  }
  return {
    days: Array.from({ length: days }, (_, place) => {
      const day = today - days + 1 + place;
      return { dayMs: day * dayMs, ...toCount(byDay.filter(({ bucket }) => Number(bucket) === day)) };
    }),
    apis: byApi.map(it => ({ name: it.api_name, ...toCount([it]) })),
    total: toCount(byDay),
    before: toCount(earlier),
    percentiles: toPercentiles(byApi),
  };
}
