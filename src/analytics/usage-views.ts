import { formatIsoTime } from '#base/clock.ts';
import { type LatencyCounts, readPercentiles } from './latency-histogram.ts';
import type { UsageItem } from './schema.ts';
import { noBucketTime, type TimeBuckets, toBucketTime } from './time-buckets.ts';
import type { UsageSum } from './usage-sums-store.ts';

/** Milliseconds with at most three decimals. */
const milliseconds = (micros: number) => Math.round(micros) / 1000;
const wholeMilliseconds = (micros: number | null) => Math.round(Number(micros ?? 0) / 1000);
const average = (sum: number, count: number) => (count === 0 ? 0 : milliseconds(sum / count));

/** Response form of a sum. */
export function toUsageItem(sum: UsageSum, time: TimeBuckets | undefined): UsageItem {
  const hits = Number(sum.hits);
  const error = Number(sum.error);
  const latency = average(Number(sum.total_us), hits);
  return {
    id: {
      ...(time ? toBucketTime(time, toTimeGroup(sum)) : noBucketTime),
      code: Number(sum.code ?? 0),
      path: String(sum.path ?? ''),
      key: String(sum.key ?? ''),
      alias: sum.key === undefined ? '' : sum.alias,
      url: '',
      iso_country: String(sum.country ?? ''),
      api_id: String(sum.api_id ?? ''),
      api_name: sum.api_id === undefined ? '' : sum.api_name,
      api_version: String(sum.api_version ?? ''),
      oauth_id: String(sum.oauth_id ?? ''),
      refusal: String(sum.refusal ?? ''),
      method: String(sum.method ?? ''),
      user_agent: String(sum.user_agent ?? ''),
      mcp_method: String(sum.mcp_method ?? ''),
      mcp_primitive_type: String(sum.mcp_primitive_type ?? ''),
      mcp_primitive_name: String(sum.mcp_primitive_name ?? ''),
      tag: String(sum.tag ?? ''),
    },
    hits,
    success: hits - error,
    error,
    last_hit: formatIsoTime(Number(sum.last_hit)),
    request_time: latency,
    latency,
    upstream_latency: average(Number(sum.upstream_us), Number(sum.upstream_hits)),
    max_latency: wholeMilliseconds(sum.max_us),
    min_latency: wholeMilliseconds(sum.min_us),
    max_upstream_latency: wholeMilliseconds(sum.max_upstream_us),
    min_upstream_latency: wholeMilliseconds(sum.min_upstream_us),
    request_bytes: Number(sum.request_bytes),
    response_bytes: Number(sum.answer_bytes),
    ...(sum.latencies ? { percentiles: toPercentiles(sum, sum.latencies) } : {}),
  };
}

function toPercentiles({ min_us, max_us }: UsageSum, latencies: LatencyCounts) {
  const { p50, p75, p95, p99, samples } = readPercentiles(latencies, Number(min_us), Number(max_us));
  return {
    p50: milliseconds(p50),
    p75: milliseconds(p75),
    p95: milliseconds(p95),
    p99: milliseconds(p99),
    samples,
  };
}

const toTimeGroup = ({ bucket, offset_ms }: UsageSum) => ({
  bucket: Number(bucket),
  offsetMs: offset_ms === undefined ? undefined : Number(offset_ms),
});
