import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { nowMs } from '../../kit/browser-clock.ts';
import { Card } from '../../kit/card.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { TrafficChart } from '../analytics/usage-charts.tsx';
import { toUsageQuery, toUsageScope } from '../analytics/usage-filters.ts';
import { sumUsage } from '../analytics/usage-series.ts';
import { useNarrowedAnalytics, usePermission } from '../session/session.ts';
import { TargetUptime, TopEndpoints } from './api-targets.tsx';

const own = texts.apis;
const range = '24h';
const hours = 24;
const hourSeconds = 3600;
const refreshMs = 30_000;

/** Requests and errors of one API by hour, its endpoints and upstream hosts, with the way to its analytics. */
export function ApiTraffic({ apiId }: { apiId: string }) {
  const end = Math.ceil(nowMs() / 1000 / hourSeconds) * hourSeconds;
  const scope = useMemo(
    () => toUsageScope({ api_id: apiId }, { start: end - hours * hourSeconds, end, name: range }),
    [apiId, end],
  );
  const query = useOperation(
    'GET /api/usage',
    { query: toUsageQuery(scope, { res: scope.res, p: -1 }) },
    { keepPrevious: true, refetchIntervalMs: refreshMs },
  );
  const items = query.data?.value.data;
  const isNarrowed = useNarrowedAnalytics();
  const canReadLogs = usePermission('log');
  const totals = useMemo(() => sumUsage(items ?? []), [items]);
  return (
    <div className="flex flex-col gap-2 min-[1100px]:col-span-2">
      {items && totals.requests > 0 ? (
        <TrafficChart title={own.traffic} scope={scope} items={items} totals={totals} />
      ) : (
        <Card title={own.traffic}>
          {items ? <p className="text-dim">{own.noTraffic}</p> : <QueryState query={query} lines={4} />}
        </Card>
      )}
      <div className="flex flex-wrap justify-end gap-4">
        {canReadLogs && (
          <Link to="/logs" search={{ api_id: apiId, range }} className="text-accent-ink underline">
            {own.requestLogs}
          </Link>
        )}
        <Link to="/analytics" search={{ api_id: apiId, range }} className="text-accent-ink underline">
          {own.analyse}
        </Link>
      </div>
      {!isNarrowed && (
        <div className="grid items-start gap-4 min-[1100px]:grid-cols-2 *:min-w-0">
          {totals.requests > 0 && <TopEndpoints scope={scope} />}
          <TargetUptime apiId={apiId} from={scope.start} />
        </div>
      )}
    </div>
  );
}
