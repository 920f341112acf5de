import { useSearch } from '@tanstack/react-router';
import { Download, Radio, RefreshCw, Square, TextSearch } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { DataTable } from '../../kit/data-table.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { useListView } from '../list-view.tsx';
import { useTimeRange } from '../monitor/time-range.ts';
import { LiveTail } from './live-tail.tsx';
import { createLogColumns } from './log-columns.tsx';
import { LogDetail } from './log-detail.tsx';
import { type LogRow, type LogSearch, toExportAddress, toLogFilters, toLogQuery } from './log-filters.ts';
import { LogToolbar } from './log-toolbar.tsx';

const own = texts.logs;
const liveOn = 'on';

/** Single requests: a list of a time range, or a live tail. Filters are in the address. */
export function LogPage() {
  const search = useSearch({ from: '/shell/logs' });
  const { change } = useListChange();
  const { range, refresh } = useTimeRange(search);
  const [opened, setOpened] = useState<LogRow>();
  const all = useMemo(() => createLogColumns(setOpened), []);
  const { columns, menus } = useListView('logs', all, 'path');
  const isLive = search.live !== undefined;
  return (
    <PageFrame
      title={own.title}
      actions={
        <>
          {!isLive && (
            <>
              <ExportLink address={toExportAddress(search, range, 'csv')} file="requests.csv" text={own.exportCsv} />
              <ExportLink
                address={toExportAddress(search, range, 'ndjson')}
                file="requests.ndjson"
                text={own.exportNdjson}
              />
              <Button icon={RefreshCw} onClick={refresh}>
                {own.refresh}
              </Button>
            </>
          )}
          <Button
            kind={isLive ? 'secondary' : 'primary'}
            icon={isLive ? Square : Radio}
            onClick={() => change({ live: isLive ? undefined : liveOn })}
          >
            {isLive ? own.stopLive : own.live}
          </Button>
        </>
      }
    >
      {isLive ? (
        <LiveTail
          search={search}
          columns={columns}
          toolbar={<LogToolbar search={search} onChange={change} menus={menus} />}
        />
      ) : (
        <LogList search={search} range={range} columns={columns} menus={menus} />
      )}
      {opened && <LogDetail call={opened.call} onClose={() => setOpened(undefined)} onFilter={change} />}
    </PageFrame>
  );
}

const ExportLink = ({ address, file, text }: Readonly<Record<'address' | 'file' | 'text', string>>) => (
  <a href={address} download={file} className={buttonClass('secondary')}>
    <Download size={16} strokeWidth={1.5} aria-hidden />
    {text}
  </a>
);

interface LogListProps {
  readonly search: LogSearch;
  readonly range: ReturnType<typeof useTimeRange>['range'];
  readonly columns: ReturnType<typeof createLogColumns>;
  readonly menus: ReactNode;
}

function LogList({ search, range, columns, menus }: LogListProps) {
  const { change, clear } = useListChange();
  const { p = 1 } = search;
  const list = useOperation('GET /api/logs', { query: toLogQuery(search, range, p) }, { keepPrevious: true });
  const data = list.data?.value.data;
  const rows = useMemo(() => (data ?? []).map(call => ({ id: call.id, call })), [data]);
  const isEmpty = rows.length === 0 && Object.keys(toLogFilters(search)).length === 0;
  // The toolbar stays in its place while lists load: typed text is not lost.
  return (
    <div className="flex flex-col gap-3">
      <LogToolbar search={search} range={range} onChange={change} menus={menus} />
      {list.data?.value.keys_cut && <p className="text-warning">{own.keysCut}</p>}
      {!list.data || list.isError ? (
        <QueryState query={list} />
      ) : isEmpty ? (
        <Notice icon={TextSearch} title={own.emptyTitle}>
          {own.emptyAbout}
        </Notice>
      ) : (
        <DataTable
          label={own.list}
          rows={rows}
          columns={columns}
          idOf={({ id }) => id}
          nameOf={({ call }) => `${call.method} ${call.raw_path}`}
          page={p}
          pages={list.data.value.pages}
          onPage={next => change({ p: next })}
          isRefreshing={list.isFetching}
          onClearFilters={clear}
        />
      )}
    </div>
  );
}
