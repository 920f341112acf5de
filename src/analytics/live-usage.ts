import { formatIsoTime } from '#base/clock.ts';
import type { ServerEvent } from '#operations/event-streams.ts';
import { findUpperBoundMs } from './latency-histogram.ts';
import type { UsageSum } from './usage-sums-store.ts';

interface Counts {
  readonly apiId: string;
  readonly apiName: string;
  hits: number;
  error: number;
  readonly latencies: Map<number, number>;
}

const toCounts = ({ api_id, api_name, hits, error, latencies }: UsageSum): Counts => ({
  apiId: String(api_id),
  apiName: api_name,
  hits: Number(hits),
  error: Number(error),
  latencies: new Map(latencies),
});

/** Counts of one API since the last event. */
function subtract(now: Counts, before: Counts | undefined): Counts {
  if (!before) return now;
  const latencies = new Map<number, number>();
  for (const [bucket, count] of now.latencies) {
    const added = count - (before.latencies.get(bucket) ?? 0);
    if (added > 0) latencies.set(bucket, added);
  }
  return { ...now, hits: now.hits - before.hits, error: now.error - before.error, latencies };
}

function mergeCounts(into: Counts, more: Counts): void {
  into.hits += more.hits;
  into.error += more.error;
  for (const [bucket, count] of more.latencies) into.latencies.set(bucket, (into.latencies.get(bucket) ?? 0) + count);
}

/** Live counts: differences between successive reads of the roll-ups of the last minutes, by API. */
export function createLiveUsage(first: readonly UsageSum[], firstAt: number) {
  const index = (sums: readonly UsageSum[]) => new Map(sums.map(sum => [`${sum.bucket}/${sum.api_id}`, toCounts(sum)]));
  let before = index(first);
  let readAt = firstAt;
  return (sums: readonly UsageSum[], at: number): ServerEvent => {
    const current = index(sums);
    const apis = new Map<string, Counts>();
    for (const [name, counts] of current) {
      const added = subtract(counts, before.get(name));
      if (added.hits <= 0) continue;
      const known = apis.get(added.apiId);
      if (known) mergeCounts(known, added);
      else apis.set(added.apiId, { ...added, latencies: new Map(added.latencies) });
    }
    const seconds = Math.max(0, at - readAt) / 1000;
    before = current;
    readAt = at;
    return { name: 'usage', data: { at: formatIsoTime(at), seconds, apis: [...apis.values()].map(toView) } };
  };
}

const toView = ({ apiId, apiName, hits, error, latencies }: Counts) => ({
  api_id: apiId,
  api_name: apiName,
  hits,
  error,
  latencies: [...latencies].sort(([a], [b]) => a - b).map(([bucket, count]) => [findUpperBoundMs(bucket), count]),
});
