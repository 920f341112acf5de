import { formatIsoTime } from '#base/clock.ts';
import type { ServerEvent } from '#operations/event-streams.ts';
import { findUpperBoundMs } from './latency-histogram.ts';
import type { LiveCounts } from './live-reader.ts';
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
export function createLiveUsage(first: LiveCounts) {
  const index = ({ sums }: LiveCounts) => new Map(sums.map(sum => [`${sum.bucket}/${sum.api_id}`, toCounts(sum)]));
  let before = { ...first, counts: index(first) };
  /** The event of a read; undefined for the read of the last event. */
  return (read: LiveCounts): ServerEvent | undefined => {
    if (read.at === before.at) return undefined;
    const current = index(read);
    const apis = new Map<string, Counts>();
    for (const [name, counts] of current) {
      const earlier = before.counts.get(name);
      // Counts that an incomplete read may have left out are no difference.
      if (!earlier && !before.isComplete) continue;
      const added = subtract(counts, earlier);
      if (added.hits <= 0) continue;
      const known = apis.get(added.apiId);
      if (known) mergeCounts(known, added);
      else apis.set(added.apiId, { ...added, latencies: new Map(added.latencies) });
    }
    const seconds = Math.max(0, read.at - before.at) / 1000;
    before = { ...read, counts: current };
    const truncated = read.isComplete ? {} : { truncated: true };
    const view = [...apis.values()].map(toView);
    return { name: 'usage', data: { at: formatIsoTime(read.at), seconds, apis: view, ...truncated } };
  };
}

const toView = ({ apiId, apiName, hits, error, latencies }: Counts) => ({
  api_id: apiId,
  api_name: apiName,
  hits,
  error,
  latencies: [...latencies].sort(([a], [b]) => a - b).map(([bucket, count]) => [findUpperBoundMs(bucket), count]),
});
