import { Link, useSearch } from '@tanstack/react-router';
import { Share2 } from 'lucide-react';
import { Badge, StatusPill } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import { toApiOutline } from '../apis/api-outline.ts';
import { toGraphOutline } from './graph-outline.ts';

const own = graphqlTexts;
const graphTypes = 'graphql,udg,subgraph,supergraph';

const toRow = (item: ResultOf<'GET /api/apis'>['apis'][number]) => ({
  api: toApiOutline(item),
  graph: toGraphOutline(item.api_definition),
});
type Row = ReturnType<typeof toRow>;

const columns: readonly Column<Row>[] = [
  {
    id: 'name',
    title: own.columns.name,
    sort: 'name',
    cell: ({ api: { id, name } }) => (
      <Link to="/apis/$apiId/schema" params={{ apiId: id }} className="row-link">
        {name || id}
      </Link>
    ),
  },
  {
    id: 'kind',
    title: own.columns.kind,
    cell: ({ graph }) => <Badge>{own.kinds[graph?.mode ?? ''] ?? graph?.mode ?? ''}</Badge>,
  },
  {
    id: 'path',
    title: own.columns.path,
    cell: ({ api }) => <code className="font-mono text-small break-all">{api.listenPath}</code>,
  },
  {
    id: 'sources',
    title: own.columns.sources,
    align: 'right',
    cell: ({ graph }) => formatNumber(graph?.sources.length ?? 0),
  },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ api: { isActive } }) => (
      <StatusPill tone={isActive ? 'success' : 'neutral'}>{isActive ? own.active : own.inactive}</StatusPill>
    ),
  },
];

/** APIs with a GraphQL schema of every kind. */
export function GraphListPage() {
  const { q, sort, p = 1 } = useSearch({ from: '/shell/data-graphs' });
  const { change, onSearch, clear } = useListChange();
  const query = { q, p, sort: sort as 'name', api_type: graphTypes };
  const list = useOperation('GET /api/apis', { query }, { keepPrevious: true });
  const rows = (list.data?.value.apis ?? []).map(toRow);
  const isEmpty = list.data !== undefined && rows.length === 0 && q === undefined;
  return (
    <PageFrame title={own.title}>
      <div className="flex flex-col gap-3">
        {!isEmpty && (
          <ListToolbar label={own.searchLabel} placeholder={own.search} value={q ?? ''} onSearch={onSearch} />
        )}
        {!list.data || list.isError ? (
          <QueryState query={list} />
        ) : isEmpty ? (
          <Notice
            icon={Share2}
            title={own.emptyTitle}
            action={
              <a href="/guides/graphql" className={buttonClass()}>
                {own.guide}
              </a>
            }
          >
            {own.emptyAbout}
          </Notice>
        ) : (
          <DataTable
            label={own.list}
            rows={rows}
            columns={columns}
            idOf={({ api }) => api.id}
            nameOf={({ api }) => api.name}
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
