import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Card, FigureCard } from '../../kit/card.tsx';
import { Chart } from '../../kit/chart.tsx';
import { formatMs, formatNumber, formatPercent } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { toLogSearch, toUsageQuery, type UsageCount, type UsageScope } from './usage-filters.ts';
import { buildUsageSeries, type UsageTotals } from './usage-series.ts';

const own = texts.analytics;

export const UsageFigures = ({ totals: { requests, failures, meanMs } }: { totals: UsageTotals }) => (
  <div className="grid gap-4 min-[600px]:grid-cols-3">
    <FigureCard label={own.requests} value={formatNumber(requests)} />
    <FigureCard label={own.errorRate} value={requests === 0 ? '–' : formatPercent(failures / requests)} />
    <FigureCard label={own.latency} value={meanMs === undefined ? '–' : formatMs(meanMs)} />
  </div>
);

interface TrafficProps {
  readonly title?: string;
  readonly scope: UsageScope;
  readonly items: readonly UsageCount[];
  readonly totals: UsageTotals;
}

/** Place of the errors among the series. */
const errorSeries = 1;

/** Requests and errors over time; a value leads to its requests in the logs. */
export function TrafficChart({ title = own.traffic, scope, items, totals }: TrafficProps) {
  const { requests, failures } = totals;
  const navigate = useNavigate();
  const canReadLogs = usePermission('log');
  const openLogs = (start: number, place: number) => {
    const step = { ...scope, start, end: start + scope.stepSeconds };
    void navigate({ to: '/logs', search: toLogSearch(step, place === errorSeries ? { errors: 'only' } : {}) });
  };
  const { times, series } = useMemo(() => {
    const { times, hits, errors } = buildUsageSeries(items, scope);
    const lines = [
      { label: own.requests, values: hits },
      { label: own.errors, values: errors, tone: 'danger' as const },
    ];
    return { times, series: lines };
  }, [items, scope]);
  return (
    <Card title={title}>
      <Chart
        summary={own.trafficSummary(formatNumber(requests), formatNumber(failures))}
        times={times}
        series={series}
        {...(canReadLogs ? { onPick: openLogs } : {})}
      />
    </Card>
  );
}

/** Percentiles, in a read of their own: the server refuses them for ranges with too many counts. */
export function LatencyChart({ scope }: { scope: UsageScope }) {
  const read = useOperation(
    'GET /api/usage',
    { query: toUsageQuery(scope, { res: scope.res, percentiles: 1, p: -1 }) },
    { keepPrevious: true },
  );
  const items = read.data?.value.data;
  const built = useMemo(() => {
    if (!items) return;
    const { times, p50, p95, p99 } = buildUsageSeries(items, scope);
    const series = [
      { label: own.p50, values: p50 },
      { label: own.p95, values: p95 },
      { label: own.p99, values: p99 },
    ];
    return { times, series };
  }, [items, scope]);
  return (
    <Card title={own.percentiles}>
      {built && !read.isError ? (
        <Chart summary={own.percentileSummary} unit={own.milliseconds} {...built} />
      ) : (
        <QueryState query={read} lines={4} />
      )}
    </Card>
  );
}
