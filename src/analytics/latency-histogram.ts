/**
 * Log-linear histogram of latencies, mergeable by adding counts: eight buckets per doubling, from a tenth of a
 * millisecond. A percentile read from it is at most 4.5 % off (half a bucket, 2^(1/16)), or a tenth of a millisecond.
 */
const bucketsPerDoubling = 8;
const firstBoundUs = 100;
const maxDoublings = 26;
/** Bucket of all latencies above 6710 seconds. */
export const lastLatencyBucket = bucketsPerDoubling * maxDoublings + 1;

/** Bucket `n` holds latencies above bound `n - 1` up to bound `n`; bucket 0 those up to the first bound. */
export function findLatencyBucket(micros: number): number {
  if (micros <= firstBoundUs) return 0;
  return Math.min(lastLatencyBucket, Math.ceil(Math.log2(micros / firstBoundUs) * bucketsPerDoubling));
}

/** Middle of a bucket on the logarithmic scale. */
const findMiddleMicros = (bucket: number) => firstBoundUs * 2 ** ((bucket - 0.5) / bucketsPerDoubling);

/** Upper bound of a bucket in milliseconds, to the microsecond; null for the last, which has none. */
export const findUpperBoundMs = (bucket: number): number | null =>
  bucket === lastLatencyBucket ? null : Math.round(firstBoundUs * 2 ** (bucket / bucketsPerDoubling)) / 1000;

/** Counts by bucket. */
export type LatencyCounts = ReadonlyMap<number, number>;

/** Percentiles of a response, by name. */
const percentileRanks = { p50: 0.5, p75: 0.75, p95: 0.95, p99: 0.99 } as const;
export type PercentileName = keyof typeof percentileRanks;

/** Nearest-rank percentiles in microseconds, within the exact minimum and maximum. */
export function readPercentiles(
  counts: LatencyCounts,
  minUs: number,
  maxUs: number,
): Record<PercentileName, number> & { readonly samples: number } {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const samples = sorted.reduce((sum, [, count]) => sum + count, 0);
  const find = (rank: number) => {
    let left = Math.max(1, Math.ceil(rank * samples));
    for (const [bucket, count] of sorted) {
      left -= count;
      if (left <= 0)
        return bucket === lastLatencyBucket ? maxUs : Math.min(Math.max(findMiddleMicros(bucket), minUs), maxUs);
    }
    return 0;
  };
  const { p50, p75, p95, p99 } = percentileRanks;
  return { p50: find(p50), p75: find(p75), p95: find(p95), p99: find(p99), samples };
}
