import { Link, useSearch } from '@tanstack/react-router';
import { Bot, Plus } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { mcpTexts } from '../../texts/en/mcp.ts';
import { usePermission } from '../session/session.ts';
import { findRestApi, type McpOutline, toMcpOutline } from './mcp-outline.ts';

const own = mcpTexts;

const columns: readonly Column<McpOutline>[] = [
  {
    id: 'name',
    title: own.columns.name,
    sort: 'name',
    cell: ({ id, name }) => (
      <Link to="/mcp-proxies/$apiId" params={{ apiId: id }} className="row-link">
        {name || id}
      </Link>
    ),
  },
  {
    id: 'path',
    title: own.columns.path,
    cell: ({ listenPath }) => <code className="font-mono text-small break-all">{listenPath}</code>,
  },
  { id: 'upstream', title: own.columns.upstream, cell: api => <UpstreamText api={api} /> },
  {
    id: 'rules',
    title: own.columns.rules,
    align: 'right',
    cell: ({ tools }) => formatNumber(Object.keys(tools).length),
  },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ isActive }) => (
      <StatusPill tone={isActive ? 'success' : 'neutral'}>{isActive ? own.active : own.inactive}</StatusPill>
    ),
  },
];

export function UpstreamText({ api }: { api: McpOutline }) {
  const restApi = findRestApi(api);
  if (restApi !== undefined) return <span className="wrap-break-word">{own.restApi(restApi)}</span>;
  return <code className="font-mono text-small break-all">{api.upstream}</code>;
}

const NewLink = () => (
  <Link to="/mcp-proxies/new" data-new className={buttonClass('primary')}>
    <Plus size={16} aria-hidden />
    {own.newAction}
  </Link>
);

export function McpListPage() {
  const { q, sort, p = 1 } = useSearch({ from: '/shell/mcp-proxies' });
  const { change, onSearch, clear } = useListChange();
  const canWrite = usePermission('mcp:write');
  const list = useOperation('GET /api/mcps', { query: { q, p, sort: sort as 'name' } }, { keepPrevious: true });
  const rows = (list.data?.value.mcps ?? []).map(toMcpOutline);
  const isEmpty = list.data !== undefined && rows.length === 0 && q === undefined;
  return (
    <PageFrame title={own.title} actions={canWrite && !isEmpty && <NewLink />}>
      <div className="flex flex-col gap-3">
        {!isEmpty && (
          <ListToolbar label={own.searchLabel} placeholder={own.search} value={q ?? ''} onSearch={onSearch} />
        )}
        {!list.data || list.isError ? (
          <QueryState query={list} />
        ) : isEmpty ? (
          <EmptyList canWrite={canWrite} />
        ) : (
          <DataTable
            label={own.list}
            rows={rows}
            columns={columns}
            idOf={({ id }) => id}
            nameOf={({ name }) => name}
            sort={sort ?? ''}
            onSort={next => change({ sort: next })}
            page={p}
            pages={list.data.value.pages}
            onPage={next => change({ p: next })}
            isRefreshing={list.isFetching}
            onClearFilters={clear}
          />
        )}
      </div>
    </PageFrame>
  );
}

const EmptyList = ({ canWrite }: { canWrite: boolean }) => (
  <Notice
    icon={Bot}
    title={own.emptyTitle}
    action={
      <div className="flex flex-wrap justify-center gap-2">
        {canWrite && <NewLink />}
        <a href="/guides/mcp" className={buttonClass()}>
          {own.guide}
        </a>
      </div>
    }
  >
    {own.emptyAbout}
  </Notice>
);
