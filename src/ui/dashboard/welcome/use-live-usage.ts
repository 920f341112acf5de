import { useEffect, useState } from 'react';

export interface LivePoint {
  /** Unix seconds. */
  readonly time: number;
  readonly hits: number;
  readonly errors: number;
}

interface UsageEvent {
  readonly at: string;
  readonly apis: readonly { readonly hits: number; readonly error: number }[];
}

export interface LiveUsage {
  readonly state: 'connecting' | 'open' | 'ended';
  /** Newest last. */
  readonly points: readonly LivePoint[];
  readonly total: number;
}

/** Seconds that the chart shows: always as many, so that it does not change its scale. */
const windowSeconds = 60;
const none: LiveUsage = { state: 'connecting', points: [], total: 0 };

const toPoint = ({ at, apis }: UsageEvent): LivePoint => ({
  time: Math.floor(Date.parse(at) / 1000),
  hits: apis.reduce((sum, { hits }) => sum + hits, 0),
  errors: apis.reduce((sum, { error }) => sum + error, 0),
});

const emptyPoint = (time: number): LivePoint => ({ time, hits: 0, errors: 0 });

/** Every second of the window up to the newest point; seconds without an event are 0. */
function addPoint(points: readonly LivePoint[], point: LivePoint): readonly LivePoint[] {
  const byTime = new Map([...points, point].map(it => [it.time, it]));
  return Array.from({ length: windowSeconds }, (_, index) => {
    const time = point.time - windowSeconds + 1 + index;
    return byTime.get(time) ?? emptyPoint(time);
  });
}

/** Counts of one API by server-sent events, one a second; nothing is read while it is disabled. */
export function useLiveUsage(apiId: string, isEnabled: boolean): LiveUsage {
  const [usage, setUsage] = useState(none);
  useEffect(() => {
    if (!isEnabled) return;
    setUsage(none);
    const source = new EventSource(`/api/live?${new URLSearchParams({ api_id: apiId })}`);
    source.addEventListener('open', () => setUsage(it => ({ ...it, state: 'open' })));
    source.addEventListener('error', () =>
      setUsage(it => ({ ...it, state: source.readyState === EventSource.CLOSED ? 'ended' : 'connecting' })),
    );
    source.addEventListener('usage', ({ data }: MessageEvent<string>) => {
      const point = toPoint(JSON.parse(data) as UsageEvent);
      setUsage(it => ({
        ...it,
        points: addPoint(it.points, point),
        total: it.total + point.hits,
      }));
    });
    return () => source.close();
  }, [apiId, isEnabled]);
  return usage;
}
