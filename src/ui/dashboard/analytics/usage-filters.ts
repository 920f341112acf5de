import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import type { ListSearch } from '../../kit/list-search.ts';
import type { TimeRange } from '../monitor/time-range.ts';

/** Filters of the analytics in the address. */
export const usageFilterNames = ['range', 'start', 'end', 'api_id', 'key', 'tags', 'tab', 'compare'] as const;
export type UsageSearch = ListSearch<(typeof usageFilterNames)[number]>;
export type UsageCount = ResultOf<'GET /api/usage'>['data'][number];
type UsageQuery = ArgumentsOf<'GET /api/usage'>['query'];

export interface UsageScope {
  /** Unix seconds: whole steps. */
  readonly start: number;
  readonly end: number;
  readonly stepSeconds: number;
  readonly res: 'minute' | 'hour' | 'day';
  readonly api_id?: string;
  readonly key?: string;
  readonly tags?: string;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
/** Longest ranges in minutes and in hours: a chart has at most some hundreds of points. */
const maxMinuteRange = 6 * hour;
const maxHourRange = 45 * day;

/** Time in whole steps, and the filters of the address. */
export function toUsageScope({ api_id, key, tags }: UsageSearch, { start, end }: TimeRange): UsageScope {
  const length = end - start;
  const [res, stepSeconds] =
    length <= maxMinuteRange
      ? (['minute', minute] as const)
      : length <= maxHourRange
        ? (['hour', hour] as const)
        : (['day', day] as const);
  return {
    start: Math.floor(start / stepSeconds) * stepSeconds,
    end: Math.ceil(end / stepSeconds) * stepSeconds,
    stepSeconds,
    res,
    ...(api_id ? { api_id } : {}),
    ...(key ? { key } : {}),
    ...(tags ? { tags } : {}),
  };
}

type More = Readonly<Record<string, string | number | undefined>>;

/** Query of the counts of a scope. */
export const toUsageQuery = ({ stepSeconds: _step, res: _res, ...scope }: UsageScope, more: More) =>
  ({ ...scope, ...more }) as unknown as UsageQuery;

export function toUsageCsvAddress({ stepSeconds: _step, res: _res, ...scope }: UsageScope, more: More): string {
  const pairs = Object.entries({ ...scope, ...more, type: 'csv' }).filter(([, value]) => value !== undefined);
  return `/api/usage?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}

/** Address of the requests behind a count: `end` of the logs is inclusive. */
export const toLogSearch = (
  { start, end, api_id, key, tags }: UsageScope,
  more: Readonly<Record<string, string>> = {},
) => ({
  start: String(start),
  end: String(end - 1),
  ...(api_id ? { api_id } : {}),
  ...(key ? { key } : {}),
  ...(tags ? { tags } : {}),
  ...more,
});
