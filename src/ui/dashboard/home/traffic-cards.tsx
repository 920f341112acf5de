import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { nowMs } from '../../kit/browser-clock.ts';
import { Card, FigureCard } from '../../kit/card.tsx';
import { formatMs, formatNumber, formatPercent } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { ErrorReasons, TopApis } from '../analytics/top-tables.tsx';
import { TrafficChart } from '../analytics/usage-charts.tsx';
import { toUsageQuery, type UsageScope } from '../analytics/usage-filters.ts';
import { sumUsage, type UsageTotals } from '../analytics/usage-series.ts';
import { usePermission } from '../session/session.ts';

const own = texts.home;
const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;
const refreshMs = 30_000;
const limitedCode = 429;

/** Two columns stack the short cards beside the long one. */
const cardGrid =
  'grid gap-4 min-[1100px]:grid-cols-2 min-[1100px]:grid-rows-[auto_1fr] min-[1800px]:grid-cols-3 ' +
  'min-[1800px]:grid-rows-none *:min-w-0';

/** The last 24 hours, in whole hours. */
function useLastDay(): UsageScope {
  const end = Math.ceil(nowMs() / 1000 / hourSeconds) * hourSeconds;
  return useMemo(() => ({ start: end - daySeconds, end, stepSeconds: hourSeconds, res: 'hour' }), [end]);
}

const useCounts = (scope: UsageScope, more: Readonly<Record<string, string | number>>) =>
  useOperation(
    'GET /api/usage',
    { query: toUsageQuery(scope, more) },
    { refetchIntervalMs: refreshMs, keepPrevious: true },
  );

/** Requests, errors and latency of the last 24 hours: figures, chart, busiest APIs, reasons of errors, other cards. */
export function TrafficCards({ children }: { children: ReactNode }) {
  const scope = useLastDay();
  const navigate = useNavigate();
  const query = useCounts(scope, { res: scope.res, p: -1 });
  const items = query.data?.value.data;
  const totals = useMemo(() => sumUsage(items ?? []), [items]);
  if (!items) return <QueryState query={query} />;
  if (totals.requests === 0)
    return (
      <>
        <Card title={own.traffic}>
          <p className="text-dim">{own.noTraffic}</p>
        </Card>
        {children}
      </>
    );
  return (
    <>
      <Figures scope={scope} totals={totals} />
      <TrafficChart title={own.traffic} scope={scope} items={items} totals={totals} />
      <div className={cardGrid}>
        <TopApis scope={scope} onNarrow={search => void navigate({ to: '/analytics', search })} />
        <div className="min-[1100px]:row-span-2 min-[1800px]:row-span-1 *:h-full">
          <ErrorReasons scope={scope} />
        </div>
        {children}
      </div>
    </>
  );
}

/** Figures of the day; each leads to what it counts. */
function Figures({ scope, totals }: { scope: UsageScope; totals: UsageTotals }) {
  const canReadLogs = usePermission('log');
  const before = useMemo(() => ({ ...scope, start: scope.start - daySeconds, end: scope.start }), [scope]);
  const earlier = useCounts(before, {}).data?.value.data;
  const whole = useCounts(scope, { percentiles: 1 }).data?.value.data[0];
  const codes = useCounts(scope, { group_by: 'code', errors: 1, p: -1 }).data?.value.data;
  const { requests, failures, meanMs } = totals;
  const limited = codes?.find(({ id }) => Number(id.code) === limitedCode)?.hits ?? 0;
  const p95 = whole?.percentiles?.p95;
  const toLogs = (label: string, search: Readonly<Record<string, string>>) =>
    canReadLogs ? (
      <Link to="/logs" search={{ range: '24h', ...search }} className="underline-offset-2 hover:underline">
        {label}
      </Link>
    ) : (
      label
    );
  return (
    <div className="grid gap-4 min-[600px]:grid-cols-2 min-[1000px]:grid-cols-4">
      <FigureCard
        label={
          <Link to="/analytics" className="underline-offset-2 hover:underline">
            {own.requests}
          </Link>
        }
        value={formatNumber(requests)}
        detail={earlier && own.earlier(formatNumber(sumUsage(earlier).requests))}
      />
      <FigureCard
        label={toLogs(own.errorRate, { errors: 'only' })}
        value={formatPercent(failures / requests)}
        detail={own.errorCount(formatNumber(failures))}
      />
      <FigureCard
        label={own.latency}
        value={typeof p95 === 'number' ? formatMs(p95) : '–'}
        detail={meanMs === undefined ? undefined : own.meanLatency(formatMs(meanMs))}
      />
      <FigureCard
        label={toLogs(own.limited, { status: String(limitedCode) })}
        value={codes ? formatNumber(limited) : '–'}
        detail={own.limitedAbout}
      />
    </div>
  );
}
