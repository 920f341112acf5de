import { useSearch } from '@tanstack/react-router';
import { HeartPulse, RefreshCw } from 'lucide-react';
import { useMemo, useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { Button, buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { formatMs, formatNumber } from '../../kit/format.ts';
import { useListChange } from '../../kit/list-search.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { uptimeTexts as own } from '../../texts/en/uptime.ts';
import { ApiSelect } from '../monitor/api-select.tsx';
import { RangeSelect } from '../monitor/range-select.tsx';
import { useTimeRange } from '../monitor/time-range.ts';
import { CheckStrip } from './check-strip.tsx';
import { UptimeDetail } from './uptime-detail.tsx';

export type HostView = ResultOf<'GET /api/uptime'>['data'][number];
const idOfHost = ({ api_id, host }: HostView) => `${api_id} ${host}`;
const defaultRange = '24h';
const refreshMs = 30_000;
const hostStates = ['up', 'down'] as const;
const toHostState = (text: string | undefined) => hostStates.find(state => state === text);

/** Two digits: 99.95 % and 99.5 % differ. */
const formatAvailability = (share: number | null) => (share === null ? '–' : `${formatNumber(share * 100, 2)} %`);

const createColumns = (open: (host: HostView) => void): readonly Column<HostView>[] => [
  {
    id: 'host',
    title: own.columns.host,
    cell: host => (
      <button
        type="button"
        className="row-link min-h-6 rounded-control text-left font-mono text-small break-all"
        onClick={() => open(host)}
      >
        {host.host}
      </button>
    ),
  },
  { id: 'api', title: own.columns.api, cell: ({ api_name, api_id }) => api_name || api_id },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ up }) => <StatusPill tone={up ? 'success' : 'danger'}>{up ? own.up : own.down}</StatusPill>,
  },
  { id: 'since', title: own.columns.since, cell: ({ since }) => <TimeText time={since} /> },
  { id: 'checks', title: own.columns.checks, cell: ({ checks }) => <CheckStrip checks={checks} /> },
  ...(['day', 'week', 'month'] as const).map(
    (window): Column<HostView> => ({
      id: window,
      title: own.columns[window],
      align: 'right',
      cell: ({ availability }) => formatAvailability(availability[window]),
    }),
  ),
  {
    id: 'latency',
    title: own.columns.latency,
    align: 'right',
    cell: ({ latency }) => (latency === 0 ? '–' : formatMs(latency)),
  },
  {
    id: 'tests',
    title: own.columns.tests,
    align: 'right',
    cell: ({ failed, tests }) => own.failedOf(formatNumber(failed), formatNumber(tests)),
  },
  { id: 'last', title: own.columns.last, cell: ({ last }) => <TimeText time={last.at} /> },
];

/** Results of uptime tests by upstream host, read again every half minute. */
export function UptimePage() {
  const search = useSearch({ from: '/shell/uptime' });
  const { change } = useListChange();
  const { range, refresh } = useTimeRange({ ...search, range: search.range ?? defaultRange });
  const [opened, setOpened] = useState<HostView>();
  const columns = useMemo(() => createColumns(setOpened), []);
  const { p = 1, api_id } = search;
  const state = toHostState(search.state);
  const list = useOperation(
    'GET /api/uptime',
    // A range that ends now has no end, so that results of later tests are included.
    { query: { p, api_id, state, from: range.start, to: range.name === undefined ? range.end : undefined } },
    { keepPrevious: true, refetchIntervalMs: refreshMs },
  );
  return (
    <PageFrame
      title={own.title}
      actions={
        <Button icon={RefreshCw} onClick={refresh}>
          {own.refresh}
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <search className="flex flex-wrap items-center gap-2">
          <RangeSelect range={range} onChange={change} />
          <ApiSelect apiId={api_id ?? ''} onChange={it => change({ api_id: it })} />
          <FilterSelect
            label={own.stateFilter}
            value={state ?? ''}
            onChange={event => change({ state: event.target.value })}
            options={[{ value: '', label: own.anyState }, ...hostStates.map(value => ({ value, label: own[value] }))]}
          />
        </search>
        <HostList list={list} search={search} columns={columns} />
      </div>
      {opened && <UptimeDetail host={opened} onClose={() => setOpened(undefined)} />}
    </PageFrame>
  );
}

interface HostListProps {
  readonly list: ReturnType<typeof useOperation<'GET /api/uptime'>>;
  readonly search: { readonly p?: number; readonly api_id?: string; readonly state?: string };
  readonly columns: readonly Column<HostView>[];
}

function HostList({ list, search: { p = 1, api_id, state }, columns }: HostListProps) {
  const { change, clear } = useListChange();
  if (!list.data || list.isError) return <QueryState query={list} />;
  if (list.data.value.data.length === 0 && api_id === undefined && state === undefined) return <EmptyList />;
  return (
    <DataTable
      label={own.list}
      rows={list.data.value.data}
      columns={columns}
      idOf={idOfHost}
      nameOf={({ host }) => host}
      page={p}
      pages={list.data.value.pages}
      onPage={next => change({ p: next })}
      isRefreshing={list.isFetching}
      onClearFilters={clear}
    />
  );
}

const EmptyList = () => (
  <Notice
    icon={HeartPulse}
    title={own.emptyTitle}
    action={
      <a href="/guides/upstreams" className={buttonClass()}>
        {own.guide}
      </a>
    }
  >
    {own.emptyAbout}
  </Notice>
);
