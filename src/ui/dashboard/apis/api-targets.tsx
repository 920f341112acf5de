import { Link } from '@tanstack/react-router';
import { MethodBadge, StatusPill } from '../../kit/badge.tsx';
import { Card } from '../../kit/card.tsx';
import { formatMs, formatNumber, formatPercent } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { apiTargetTexts } from '../../texts/en/api-targets.ts';
import { uptimeTexts } from '../../texts/en/uptime.ts';
import { texts } from '../../texts/texts.ts';
import { type TopColumn, TopTable } from '../analytics/top-table.tsx';
import type { UsageScope } from '../analytics/usage-filters.ts';

const own = apiTargetTexts;

const columns: readonly TopColumn[] = [
  {
    title: own.endpoint,
    cell: ({ id: { method, path } }) => (
      <span className="inline-flex items-center gap-2">
        <MethodBadge method={method} /> <code className="font-mono text-small break-all">{path}</code>
      </span>
    ),
  },
  { title: texts.analytics.columns.requests, align: 'right', cell: ({ hits }) => formatNumber(hits) },
  {
    title: texts.analytics.columns.errors,
    align: 'right',
    cell: ({ error, hits }) => formatPercent(hits === 0 ? 0 : error / hits),
  },
  { title: texts.analytics.meanLatency, align: 'right', cell: ({ latency }) => formatMs(latency) },
];

/** The most used methods and paths of one API. */
export const TopEndpoints = ({ scope }: { scope: UsageScope }) => (
  <TopTable
    title={own.topEndpoints}
    scope={scope}
    query={{ group_by: 'path,method' }}
    columns={columns}
    idOf={({ id: { method, path } }) => `${method} ${path}`}
    emptyText={texts.apis.noTraffic}
  />
);

/** State of the upstream hosts of an API by its uptime tests. */
export function TargetUptime({ apiId, from }: { apiId: string; from: number }) {
  const query = useOperation('GET /api/uptime', { query: { api_id: apiId, from } }, { keepPrevious: true });
  const hosts = query.data?.value.data;
  return (
    <Card
      title={own.uptime}
      action={
        <Link to="/uptime" search={{ api_id: apiId }} className="text-accent-ink underline">
          {own.uptimeLink}
        </Link>
      }
    >
      {!hosts ? (
        <QueryState query={query} lines={2} />
      ) : hosts.length === 0 ? (
        <p className="text-dim">{own.noTests}</p>
      ) : (
        <ul aria-label={own.uptime} className="flex flex-col gap-2">
          {hosts.map(({ host, up, uptime, latency }) => (
            <li key={host} className="flex flex-wrap items-center gap-2">
              <StatusPill tone={up ? 'success' : 'danger'}>{up ? uptimeTexts.up : uptimeTexts.down}</StatusPill>
              <code className="mr-auto font-mono text-small break-all">{host}</code>
              <span className="tabular-nums">{formatPercent(uptime)}</span>
              <span className="text-dim tabular-nums">{latency === 0 ? '–' : formatMs(latency)}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
