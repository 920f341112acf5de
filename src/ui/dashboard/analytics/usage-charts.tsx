import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Card, FigureCard } from '../../kit/card.tsx';
import { Chart } from '../../kit/chart.tsx';
import { formatChange, formatMs, formatNumber, formatPercent } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { usageViewTexts as more } from '../../texts/en/usage-views.ts';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import type { EarlierUsage } from './earlier-usage.ts';
import { MarkedChangeList, type MarkedChanges } from './marked-changes.tsx';
import { toLogSearch, toUsageQuery, type UsageCount, type UsageScope } from './usage-filters.ts';
import { buildUsageSeries, type UsageTotals } from './usage-series.ts';

const own = texts.analytics;

interface UsageFiguresProps {
  readonly totals: UsageTotals;
  /** Totals of the previous period, to compare with. */
  readonly earlier?: UsageTotals | undefined;
}

const toErrorShare = ({ requests, failures }: UsageTotals) => (requests === 0 ? undefined : failures / requests);

export const UsageFigures = ({ totals, earlier }: UsageFiguresProps) => (
  <div className="grid gap-4 min-[600px]:grid-cols-3">
    <Figure label={own.requests} format={formatNumber} earlier={earlier} of={({ requests }) => requests} now={totals} />
    <Figure label={own.errorRate} format={formatPercent} earlier={earlier} of={toErrorShare} now={totals} />
    <Figure label={own.latency} format={formatMs} earlier={earlier} of={({ meanMs }) => meanMs} now={totals} />
  </div>
);

interface FigureProps {
  readonly label: string;
  readonly now: UsageTotals;
  readonly earlier: UsageTotals | undefined;
  format(value: number): string;
  of(totals: UsageTotals): number | undefined;
}

/** A figure with its relative change since the previous period. */
function Figure({ label, now, earlier, format, of }: FigureProps) {
  const value = of(now);
  const before = earlier && of(earlier);
  const change = value !== undefined && before ? formatChange((value - before) / before) : '';
  const compared = earlier && (before === undefined ? more.noneEarlier : more.change(change, format(before)));
  return <FigureCard label={label} value={value === undefined ? '–' : format(value)} detail={compared?.trim()} />;
}

interface TrafficProps {
  readonly title?: string;
  readonly scope: UsageScope;
  readonly items: readonly UsageCount[];
  readonly totals: UsageTotals;
  readonly earlier?: EarlierUsage | undefined;
  /** Changes of configuration to mark. */
  readonly changes?: MarkedChanges;
}

/** Place of the errors among the series. */
const errorSeries = 1;
/** Place of the requests of the previous period. */
const earlierSeries = 2;

/** Requests and errors over time; a value leads to its requests in the logs. */
export function TrafficChart({ title = own.traffic, scope, items, totals, earlier, changes }: TrafficProps) {
  const { requests, failures } = totals;
  const navigate = useNavigate();
  const canReadLogs = usePermission('log');
  const marks = useMemo(() => changes?.records.map(({ timestamp }) => timestamp) ?? [], [changes]);
  const openLogs = (time: number, place: number) => {
    const start = place === earlierSeries ? time - (scope.end - scope.start) : time;
    const step = { ...scope, start, end: start + scope.stepSeconds };
    void navigate({ to: '/logs', search: toLogSearch(step, place === errorSeries ? { errors: 'only' } : {}) });
  };
  const { times, series } = useMemo(() => {
    const { times, hits, errors } = buildUsageSeries(items, scope);
    const compared = earlier && buildUsageSeries(earlier.items, earlier.scope).hits;
    const lines = [
      { label: own.requests, values: hits },
      { label: own.errors, values: errors, tone: 'danger' as const },
      ...(compared ? [{ label: more.earlierRequests, values: compared, isDashed: true as const }] : []),
    ];
    return { times, series: lines };
  }, [items, scope, earlier]);
  return (
    <Card title={title}>
      <Chart
        summary={own.trafficSummary(formatNumber(requests), formatNumber(failures))}
        times={times}
        series={series}
        marks={marks}
        fileName="requests.png"
        {...(canReadLogs ? { onPick: openLogs } : {})}
      />
      {changes && <MarkedChangeList changes={changes} />}
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
        <Chart summary={own.percentileSummary} unit={own.milliseconds} fileName="latency.png" {...built} />
      ) : (
        <QueryState query={read} lines={4} />
      )}
    </Card>
  );
}
