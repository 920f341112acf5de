import { useSearch } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { MethodBadge } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatMs, formatNumber, formatPercent } from '../../kit/format.ts';
import { useListChange } from '../../kit/list-search.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { usageViewTexts as own } from '../../texts/en/usage-views.ts';
import { texts } from '../../texts/texts.ts';
import { toUsageCsvAddress, toUsageQuery, type UsageCount, type UsageScope } from './usage-filters.ts';

const { columns: titles, meanLatency, exportOf, narrowTo } = texts.analytics;

const countColumns: readonly Column<UsageCount>[] = [
  { id: 'hits', title: titles.requests, sort: 'hits', align: 'right', cell: ({ hits }) => formatNumber(hits) },
  {
    id: 'error',
    title: titles.errors,
    sort: 'error',
    align: 'right',
    cell: ({ error, hits }) => `${formatNumber(error)} (${formatPercent(hits === 0 ? 0 : error / hits)})`,
  },
  { id: 'latency', title: meanLatency, sort: 'latency', align: 'right', cell: ({ latency }) => formatMs(latency) },
  { id: 'last', title: own.columns.last, sort: 'last_hit', cell: ({ last_hit }) => <TimeText time={last_hit} /> },
];
const orders = countColumns.flatMap(({ sort }) => sort ?? []);
const defaultSort = '-hits';

const toOrder = (sort: string) => {
  const name = sort.replace(/^-/, '');
  return orders.includes(name) ? { by: name, sort: sort.startsWith('-') ? '-1' : '1' } : {};
};

interface UsageTableProps {
  readonly label: string;
  readonly scope: UsageScope;
  readonly groups: string;
  readonly columns: readonly Column<UsageCount>[];
  idOf(item: UsageCount): string;
}

/** All counts by some dimensions: order and page are in the address. */
function UsageTable({ label, scope, groups, columns, idOf }: UsageTableProps) {
  const { p = 1, sort = defaultSort } = useSearch({ from: '/shell/analytics' });
  const { change, clear } = useListChange();
  const query = { group_by: groups, ...toOrder(sort) };
  const list = useOperation('GET /api/usage', { query: toUsageQuery(scope, { ...query, p }) }, { keepPrevious: true });
  if (!list.data || list.isError) return <QueryState query={list} />;
  return (
    <DataTable
      label={label}
      rows={list.data.value.data}
      columns={[...columns, ...countColumns]}
      idOf={idOf}
      nameOf={idOf}
      toolbar={
        <a href={toUsageCsvAddress(scope, query)} download className={buttonClass('secondary', 'self-end')}>
          <Download size={16} strokeWidth={1.5} aria-hidden />
          {exportOf(label)}
        </a>
      }
      sort={sort}
      onSort={next => change({ sort: next })}
      page={p}
      pages={list.data.value.pages}
      onPage={next => change({ p: next })}
      isRefreshing={list.isFetching}
      onClearFilters={clear}
    />
  );
}

/** Name of an API, which narrows the page to it. */
function ApiName({ id: { api_id, api_name } }: Pick<UsageCount, 'id'>) {
  const { change } = useListChange();
  const name = api_name || api_id;
  return (
    <button
      type="button"
      className="inline-flex min-h-6 items-center text-left text-accent-ink break-words hover:underline"
      title={narrowTo(name)}
      onClick={() => change({ api_id })}
    >
      {name}
    </button>
  );
}

const apiColumn: Column<UsageCount> = { id: 'api', title: titles.api, cell: ({ id }) => <ApiName id={id} /> };

export const EndpointTable = ({ scope }: { scope: UsageScope }) => (
  <UsageTable
    label={own.endpoints}
    scope={scope}
    groups="api_id,method,path"
    idOf={({ id: { api_id, method, path } }) => `${api_id} ${method} ${path}`}
    columns={[
      { id: 'method', title: own.columns.method, cell: ({ id }) => <MethodBadge method={id.method} /> },
      {
        id: 'path',
        title: own.columns.path,
        cell: ({ id }) => <code className="font-mono text-small break-all">{id.path}</code>,
      },
      apiColumn,
    ]}
  />
);

export const VersionTable = ({ scope }: { scope: UsageScope }) => (
  <UsageTable
    label={own.versions}
    scope={scope}
    groups="api_id,api_version"
    idOf={({ id: { api_id, api_version } }) => `${api_id} ${api_version}`}
    columns={[
      {
        id: 'version',
        title: own.columns.version,
        cell: ({ id }) => id.api_version || <span className="text-dim">{own.noVersion}</span>,
      },
      apiColumn,
    ]}
  />
);
