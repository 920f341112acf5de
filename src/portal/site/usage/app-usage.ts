import { readPercentiles } from '#analytics/latency-histogram.ts';
import { problem } from '#analytics/problems.ts';
import { createTimeBuckets, dayMs } from '#analytics/time-buckets.ts';
import type { UsageQuery, UsageSum } from '#analytics/usage-sums-store.ts';
import { Problem } from '#base/problems.ts';
import { utcZone } from '#base/time-zone.ts';
import type { SiteServices } from '../page.ts';
import { createOrganisationFinder } from './organisation-finder.ts';

/** Keys of one report: those of the newest credentials. */
export const maxReportKeys = 500;
const maxReportApis = 100;
/** Status codes of one report. */
const maxReportCodes = 100;

export type AppUsageServices = Pick<SiteServices, 'portal' | 'clock' | 'usage' | 'defaultOrgId'>;

export interface AppUsageCount {
  readonly calls: number;
  readonly errors: number;
  /** Mean duration in milliseconds; 0 without calls. */
  readonly meanMs: number;
}

export interface UsageDay extends AppUsageCount {
  readonly dayMs: number;
}

export interface AppUsage {
  /** One entry for each day of the range, oldest first. */
  readonly days: readonly UsageDay[];
  readonly apis: readonly (AppUsageCount & { readonly name: string })[];
  /** By status code, the most frequent one first. */
  readonly codes: readonly (AppUsageCount & { readonly code: number })[];
  readonly total: AppUsageCount;
  /** As many days before. */
  readonly before: AppUsageCount;
  /** Durations in milliseconds; undefined without calls, and where their counts cannot be read at the moment. */
  readonly percentiles: UsagePercentiles | undefined;
}

export type UsagePercentiles = Readonly<Record<'p50' | 'p95' | 'p99', number>>;

/** Calls that a report counts. */
export interface AppUsageSelection {
  /** Keys of one request with their hashes. */
  readonly keys: readonly { readonly providerId: number; readonly hashes: readonly string[] }[];
  /** Undefined for all APIs. */
  readonly apiIds: readonly string[] | undefined;
  /** Both inclusive; undefined for all. */
  readonly statuses: readonly [number, number] | undefined;
  readonly days: number;
}

/** Days of a selection, today included, in UTC. */
function toSpan(days: number, nowMs: number) {
  const today = Math.floor(nowMs / dayMs);
  return { today, from: (today - days + 1) * dayMs, to: (today + 1) * dayMs };
}

/** Queries of a selection, one for each organisation whose gateway counts. Calls of remote providers are elsewhere. */
async function listQueries({ keys, apiIds, statuses, days }: AppUsageSelection, services: AppUsageServices) {
  const { from, to } = toSpan(days, services.clock.now());
  const findOrganisation = createOrganisationFinder(services);
  const hashesOf = new Map<string, string[]>();
  for (const { providerId, hashes } of keys) {
    const orgId = await findOrganisation(providerId);
    if (orgId !== undefined) hashesOf.set(orgId, [...(hashesOf.get(orgId) ?? []), ...hashes]);
  }
  const shared = { from, to, ownedApis: apiIds, statuses, ascending: false } as const;
  return [...hashesOf].map(([orgId, hashes]) => ({ orgId, keyHashes: hashes.slice(-maxReportKeys), ...shared }));
}

type Query = Awaited<ReturnType<typeof listQueries>>[number];

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

async function readDays(queries: readonly Query[], days: number, { usage, clock }: AppUsageServices) {
  const { today } = toSpan(days, clock.now());
  const sums: UsageSum[] = [];
  for (const query of queries) {
    const daily = { ...query, groups: [], time: createTimeBuckets('day', utcZone, query), order: 'time' } as const;
    sums.push(...(await usage.page(daily, { page: 1, size: days })).items);
  }
  return Array.from({ length: days }, (_, place) => {
    const day = today - days + 1 + place;
    return { dayMs: day * dayMs, sums: sums.filter(({ bucket }) => Number(bucket) === day) };
  });
}

const toUsageDays = (days: Awaited<ReturnType<typeof readDays>>): UsageDay[] =>
  days.map(it => ({ dayMs: it.dayMs, ...toCount(it.sums) }));

/** Calls by day only: cheaper than the whole report, whose percentiles take the most time. */
export async function readUsageDays(selection: AppUsageSelection, services: AppUsageServices): Promise<UsageDay[]> {
  return toUsageDays(await readDays(await listQueries(selection, services), selection.days, services));
}

export async function readAppUsage(selection: AppUsageSelection, services: AppUsageServices): Promise<AppUsage> {
  const { days } = selection;
  const queries = await listQueries(selection, services);
  const byDay = await readDays(queries, days, services);
  const byApi: UsageSum[] = [];
  const byCode: UsageSum[] = [];
  const earlier: UsageSum[] = [];
  for (const query of queries) {
    const perApi = { ...query, groups: ['api_id'], order: 'hits' } as const;
    byApi.push(...(await readTimed(perApi, services)));
    const perCode = { ...query, groups: ['code'], order: 'hits' } as const;
    byCode.push(...(await services.usage.page(perCode, { page: 1, size: maxReportCodes })).items);
    const former = { ...perApi, from: query.from - days * dayMs, to: query.from };
    earlier.push(...(await services.usage.page(former, { page: 1, size: maxReportApis })).items);
  }
  return {
    days: toUsageDays(byDay),
    apis: byApi.map(it => ({ name: it.api_name, ...toCount([it]) })),
    codes: [...Map.groupBy(byCode, it => Number(it.code))]
      .map(([code, sums]) => ({ code, ...toCount(sums) }))
      .toSorted((a, b) => b.calls - a.calls || a.code - b.code),
    total: toCount(byDay.flatMap(({ sums }) => sums)),
    before: toCount(earlier),
    percentiles: toPercentiles(byApi),
  };
}
