import { Link, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useMemo } from 'react';
import { buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { DataTable } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { apiListTexts } from '../../texts/en/api-list.ts';
import { texts } from '../../texts/texts.ts';
import { useListView } from '../list-view.tsx';
import { usePermission } from '../session/session.ts';
import { ApiConfirmation, useApiActions } from './api-actions.tsx';
import { toApiOutline } from './api-outline.ts';
import { createApiColumns } from './list/api-columns.tsx';
import { withNeighbours } from './list/api-usage.tsx';
import { useUnservedApis } from './list/served-state.tsx';
import { StartCards } from './start-cards.tsx';
import { useApiBulk } from './use-api-bulk.tsx';

const own = texts.apis;
const newestFirst = '-updated_at';
/** Categories that the filter offers. */
const maxCategories = 200;
type ListQuery = NonNullable<ArgumentsOf<'GET /api/apis'>['query']>;

export function ApiListPage() {
  const canWrite = usePermission('apis:write');
  return (
    <PageFrame
      title={own.title}
      actions={
        canWrite && (
          <>
            <Link to="/apis/import" className={buttonClass()}>
              {texts.apis.importLink}
            </Link>
            <Link to="/apis/new" data-new className={buttonClass('primary')}>
              <Plus size={16} aria-hidden />
              {own.create}
            </Link>
          </>
        )
      }
    >
      <ApiList />
    </PageFrame>
  );
}

function ApiList() {
  const search = useSearch({ from: '/shell/apis' });
  const { change, onSearch, clear } = useListChange();
  const canWrite = usePermission('apis:write');
  const actions = useApiActions();
  const canSeeUsage = usePermission('analytics');
  const columns = useMemo(() => createApiColumns(canSeeUsage), [canSeeUsage]);
  const view = useListView('apis', columns);
  const { sort = newestFirst, p = 1, ...filters } = search;
  const unserved = useUnservedFilter(filters.state);
  const query = { ...filters, ...unserved.query, sort, p } as ListQuery;
  const list = useOperation('GET /api/apis', { query }, { keepPrevious: true, enabled: unserved.isReady });
  const apis = list.data?.value.apis;
  const rows = useMemo(() => withNeighbours((apis ?? []).map(toApiOutline)), [apis]);
  const bulk = useApiBulk(id => rows.find(row => row.id === id)?.name || id);
  if (!list.data) return <QueryState query={list} />;
  const isFiltered = Object.keys(filters).length > 0;
  if (rows.length === 0 && !isFiltered && p === 1) return <StartCards />;
  return (
    <>
      <DataTable
        label={own.list}
        rows={rows}
        columns={view.columns}
        idOf={({ id }) => id}
        nameOf={({ name, id }) => name || id}
        sort={sort}
        onSort={next => change({ sort: next })}
        page={p}
        pages={list.data.value.pages}
        onPage={next => change({ p: next })}
        isRefreshing={list.isFetching}
        onClearFilters={clear}
        {...(canWrite ? { actions: actions.menuOf, selection: bulk.selection } : {})}
        toolbar={
          <ListToolbar label={own.searchLabel} placeholder={own.search} value={search.q ?? ''} onSearch={onSearch}>
            <Filters search={search} onChange={change} />
            {view.menus}
          </ListToolbar>
        }
      />
      <ApiConfirmation actions={actions} />
      {bulk.dialog}
    </>
  );
}

const unservedState = 'unserved';
/** No API has this id. */
const noApi = '-';

/** Query of the state *not served*, which the gateway knows: the ids of those APIs in place of the state. */
function useUnservedFilter(state: string | undefined) {
  const isWanted = state === unservedState;
  const { data } = useUnservedApis(isWanted);
  if (!isWanted) return { query: {}, isReady: true };
  const ids = (data?.value.apis ?? []).map(({ api_id }) => api_id);
  return { query: { state: undefined, api_ids: ids.join(',') || noApi }, isReady: data !== undefined };
}

interface FiltersProps {
  readonly search: {
    readonly auth_type?: string;
    readonly state?: string;
    readonly format?: string;
    readonly category?: string;
    readonly api_type?: string;
    readonly owned?: string;
  };
  onChange(next: Readonly<Record<string, string>>): void;
}

function Filters({ search, onChange }: FiltersProps) {
  const select = (name: keyof typeof search, label: string, values: Readonly<Record<string, string>>) => (
    <FilterSelect
      label={label}
      value={search[name] ?? ''}
      onChange={event => onChange({ [name]: event.target.value })}
      options={[{ value: '', label }, ...Object.entries(values).map(([value, text]) => ({ value, label: text }))]}
    />
  );
  const { data } = useOperation('GET /api/apis/categories', {});
  const counts = (data?.value.categories ?? []).slice(0, maxCategories);
  const categories = Object.fromEntries(counts.map(({ name, count }) => [name, own.category(name, count)]));
  return (
    <>
      {counts.length > 0 && select('category', own.anyCategory, categories)}
      {select('auth_type', own.anyAuthentication, own.authentication)}
      {select('state', own.anyState, { ...own.states, [unservedState]: own.notServed })}
      {select('format', own.anyFormat, own.formats)}
      {select('api_type', apiListTexts.anyKind, apiListTexts.kinds)}
      {select('owned', apiListTexts.anyOwner, apiListTexts.ownedByMe)}
    </>
  );
}
