import type { Clock } from '#base/clock.ts';
import { utcZone } from '#base/time-zone.ts';
import type { AnalyticsScope } from './analytics-scope.ts';
import { createTimeBuckets } from './time-buckets.ts';
import { minuteMs } from './usage-rows.ts';
import type { TopSums, UsageStore } from './usage-store.ts';

export interface LiveScope extends AnalyticsScope {
  readonly orgId: string;
  readonly apiId?: string | undefined;
  readonly version?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** Counts of the last minutes, by API and minute. */
export interface LiveCounts extends TopSums {
  readonly at: number;
}

/** Minutes whose counts are compared: a request counts in the minute in which it began. */
const liveMinutes = 3;
const maxLiveApis = 1000;
/** Requests of the future are those of processes whose clock is ahead. */
export const clockSkewMs = 60_000;
/** Below the poll interval of streams, so that one stream alone gets a new read each time. */
const minSharedMs = 900;
/** An expensive read is shared longer: streams take at most a fifth of the time of the main thread. */
const sharedPerReadTime = 4;

export type LiveReader = ReturnType<typeof createLiveReader>;

/** Reads of live counts, shared by the streams of the same scope. */
export function createLiveReader({ usage, clock }: { readonly usage: UsageStore; readonly clock: Clock }) {
  const shared = new Map<string, Promise<LiveCounts>>();

  async function read(scope: LiveScope): Promise<LiveCounts> {
    const now = clock.now();
    const span = { from: now - (now % minuteMs) - (liveMinutes - 1) * minuteMs, to: now + clockSkewMs };
    const time = createTimeBuckets('minute', utcZone, span);
    const order = { order: 'hits', ascending: false } as const;
    const top = await usage.listTopSums(
      { ...scope, ...span, ...order, groups: ['api_id'], time },
      maxLiveApis * liveMinutes,
    );
    return { ...top, at: now };
  }

  return (scope: LiveScope): Promise<LiveCounts> => {
    const { orgId, apiId, version, tags = [], hiddenApis, ownedApis } = scope;
    const name = JSON.stringify([orgId, apiId, version, tags, hiddenApis, ownedApis]);
    const current = shared.get(name);
    if (current) return current;
    const startedAt = performance.now();
    const counts = read(scope);
    shared.set(name, counts);
    const expire = () => {
      const tookMs = performance.now() - startedAt;
      const sharedMs = Math.max(minSharedMs - tookMs, tookMs * sharedPerReadTime);
      setTimeout(() => shared.delete(name), sharedMs).unref();
    };
    counts.then(expire, () => shared.delete(name));
    return counts;
  };
}
