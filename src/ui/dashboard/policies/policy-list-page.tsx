import { useSearch } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { formatNumber } from '../../kit/format.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { useListChange } from '../list-search.ts';
import { ListToolbar } from '../list-toolbar.tsx';

const own = texts.policies;

/** The exemplary list page: see `src/ui/README.md`. */

type PolicyItem = NonNullable<ResultOf<'GET /api/portal/policies/search'>['Data']>[number];
type SearchQuery = NonNullable<ArgumentsOf<'GET /api/portal/policies/search'>['query']>;

const idOf = ({ id, _id }: PolicyItem) => id || _id || '';
const tones: Readonly<Record<string, Tone>> = { active: 'success', draft: 'warning', deny: 'danger' };
const limitText = (limit = 0, seconds = 0) =>
  limit > 0 ? own.perSeconds(formatNumber(limit), formatNumber(seconds)) : texts.kit.unlimited;

const columns: readonly Column<PolicyItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    sort: 'name',
    cell: policy => <span className="font-medium">{policy.name || idOf(policy)}</span>,
  },
  { id: 'id', title: own.columns.id, cell: policy => <IdText id={idOf(policy)} /> },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ state = 'active' }) => (
      <StatusPill tone={tones[state] ?? 'neutral'}>{own.states[state] ?? state}</StatusPill>
    ),
  },
  {
    id: 'apis',
    title: own.columns.apis,
    cell: ({ access_rights: rights }) =>
      Object.entries(rights ?? {})
        .map(([apiId, right]) => right?.api_name || apiId)
        .join(', ') || '–',
  },
  { id: 'rate', title: own.columns.rate, align: 'right', cell: ({ rate, per }) => limitText(rate, per) },
  {
    id: 'quota',
    title: own.columns.quota,
    align: 'right',
    cell: ({ quota_max: max, quota_renewal_rate: seconds }) => limitText(max, seconds),
  },
  { id: 'tags', title: own.columns.tags, cell: ({ tags }) => (tags ?? []).join(', ') },
];

export const PolicyListPage = () => (
  <PageFrame title={own.title}>
    <PolicyList />
  </PageFrame>
);

function PolicyList() {
  const { p = 1, ...filters } = useSearch({ from: '/shell/policies' });
  const { change, onSearch, clear } = useListChange();
  const query = { ...filters, p } as SearchQuery;
  const list = useOperation('GET /api/portal/policies/search', { query }, { keepPrevious: true });
  if (!list.data) return <QueryState query={list} />;
  const rows = list.data.value.Data ?? [];
  if (rows.length === 0 && Object.keys(filters).length === 0 && p === 1)
    return (
      <Notice icon={ScrollText} title={own.emptyTitle}>
        {own.emptyAbout}
      </Notice>
    );
  return (
    <DataTable
      label={own.list}
      rows={rows}
      columns={columns}
      idOf={idOf}
      nameOf={policy => policy.name || idOf(policy)}
      sort={filters.sort ?? ''}
      onSort={sort => change({ sort: sort.replace('-', '') })}
      page={p}
      pages={list.data.value.Pages}
      onPage={next => change({ p: next })}
      isRefreshing={list.isFetching}
      onClearFilters={clear}
      toolbar={
        <ListToolbar label={own.searchLabel} placeholder={own.search} value={filters.q ?? ''} onSearch={onSearch}>
          <FilterSelect
            label={own.anyState}
            value={filters.state ?? ''}
            onChange={event => change({ state: event.target.value })}
            options={[
              { value: '', label: own.anyState },
              ...Object.entries(own.states).map(([value, label]) => ({ value, label })),
            ]}
          />
        </ListToolbar>
      }
    />
  );
}
