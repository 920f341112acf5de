import { useMemo } from 'react';
import { nowMs } from '../../kit/browser-clock.ts';
import type { ResultOf } from '../../kit/calls.ts';
import { Card, FigureCard } from '../../kit/card.tsx';
import { Chart } from '../../kit/chart.tsx';
import { formatMs, formatNumber, formatPercent } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.home;
const hourSeconds = 3600;
const hours = 24;
const refreshMs = 30_000;

type UsageItems = ResultOf<'GET /api/usage'>['data'];

/** Counts of each of the last 24 hours; an hour without requests is 0. */
function useLastDay() {
  const end = Math.ceil(nowMs() / 1000 / hourSeconds) * hourSeconds;
  const start = end - hours * hourSeconds;
  const query = useOperation(
    'GET /api/usage',
    { query: { start, end, res: 'hour', p: -1 } },
    { refetchIntervalMs: refreshMs, keepPrevious: true },
  );
  const items = query.data?.value.data;
  const counts = useMemo(() => items && countHours(items, start), [items, start]);
  return { query, counts };
}

function countHours(items: UsageItems, start: number) {
  const byHour = new Map(items.map(item => [Math.floor(Date.parse(item.id.start) / 1000), item]));
  const times = Array.from({ length: hours }, (_, index) => start + index * hourSeconds);
  const sum = (member: 'hits' | 'error') => items.reduce((total, item) => total + item[member], 0);
  const totalMs = items.reduce((total, { latency, hits }) => total + latency * hits, 0);
  const requests = sum('hits');
  return {
    times,
    hits: times.map(time => byHour.get(time)?.hits ?? 0),
    errors: times.map(time => byHour.get(time)?.error ?? 0),
    requests,
    failures: sum('error'),
    meanMs: requests === 0 ? undefined : totalMs / requests,
  };
}

/** Requests, errors and latency of the last 24 hours. */
export function TrafficCards() {
  const { query, counts } = useLastDay();
  const series = useMemo(
    () =>
      counts && [
        { label: own.hits, values: counts.hits },
        { label: own.errors, values: counts.errors, tone: 'danger' as const },
      ],
    [counts],
  );
  if (!counts || !series) return <QueryState query={query} />;
  const { requests, failures, meanMs, times } = counts;
  return (
    <>
      <div className="grid gap-4 min-[600px]:grid-cols-3">
        <FigureCard label={own.requests} value={formatNumber(requests)} />
        <FigureCard label={own.errorRate} value={requests === 0 ? '–' : formatPercent(failures / requests)} />
        <FigureCard label={own.latency} value={meanMs === undefined ? '–' : formatMs(meanMs)} />
      </div>
      <Card title={own.traffic}>
        {requests === 0 ? (
          <p className="text-dim">{own.noTraffic}</p>
        ) : (
          <Chart
            summary={own.trafficSummary(formatNumber(requests), formatNumber(failures))}
            times={times}
            series={series}
          />
        )}
      </Card>
    </>
  );
}
