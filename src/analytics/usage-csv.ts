import type { z } from 'zod';
import { formatCsv } from '#operations/csv.ts';
import type { UsageItem, usagePage } from './schema.ts';

const idColumns = [
  'start',
  'year',
  'month',
  'day',
  'hour',
  'minute',
  'api_id',
  'api_name',
  'api_version',
  'path',
  'key',
  'alias',
  'oauth_id',
  'code',
  'refusal',
  'method',
  'iso_country',
  'user_agent',
  'mcp_method',
  'mcp_primitive_type',
  'mcp_primitive_name',
  'tag',
] as const satisfies readonly (keyof UsageItem['id'])[];

const sumColumns = [
  'hits',
  'success',
  'error',
  'last_hit',
  'request_time',
  'latency',
  'upstream_latency',
  'max_latency',
  'min_latency',
  'max_upstream_latency',
  'min_upstream_latency',
  'request_bytes',
  'response_bytes',
] as const satisfies readonly (keyof UsageItem)[];

const percentileColumns = ['p50', 'p75', 'p95', 'p99', 'samples'] as const;

/** One line per item: dimensions first, then counts. Dimensions without a group are 0 or empty, as in JSON. */
export function formatUsageCsv({ data }: z.output<typeof usagePage>): string {
  const ranks = data.some(({ percentiles }) => percentiles) ? percentileColumns : [];
  return formatCsv(
    [...idColumns, ...sumColumns, ...ranks],
    data.map(item => [
      ...idColumns.map(name => item.id[name]),
      ...sumColumns.map(name => item[name]),
      ...ranks.map(name => item.percentiles?.[name] ?? 0),
    ]),
  );
}
