import { Link, useSearch } from '@tanstack/react-router';
import { KeyRound, Plus } from 'lucide-react';
import { useMemo } from 'react';
import { nowMs } from '../../kit/browser-clock.ts';
import { Button, buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { DataTable } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { FilterText } from '../../kit/filter-text.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { keyUsageTexts as usage } from '../../texts/en/key-usage.ts';
import { texts } from '../../texts/texts.ts';
import { useListView } from '../list-view.tsx';
import { ApiSelect } from '../monitor/api-select.tsx';
import { useApiNames } from '../pickers/api-picker.tsx';
import { usePolicyNames } from '../pickers/policy-picker.tsx';
import { useNarrowedAnalytics, usePermission } from '../session/session.ts';
import { createKeyColumns } from './key-columns.tsx';
import { nameKey, toKeyFacts } from './key-facts.ts';
import { useKeyBulk } from './use-key-bulk.tsx';

const own = texts.keys;
type ListQuery = NonNullable<ArgumentsOf<'GET /api/keys/detailed'>['query']>;
const toOptions = (all: string, values: Readonly<Record<string, string>>) => [
  { value: '', label: all },
  ...Object.entries(values).map(([value, label]) => ({ value, label })),
];

const dayMs = 86_400_000;

/** Days of the address as the time of the query. */
function toExpiryFilter(expires: string | undefined) {
  const days = expires !== undefined && expires in own.expiresWithin ? Number.parseInt(expires, 10) : 0;
  return days > 0 ? { expires_before: Math.floor((nowMs() + days * dayMs) / 1000) } : {};
}

export function KeyListPage() {
  const canWrite = usePermission('keys:write');
  return (
    <PageFrame
      title={own.title}
      actions={
        canWrite && (
          <Link to="/keys/new" data-new className={buttonClass('primary')}>
            <Plus size={16} aria-hidden />
            {own.create}
          </Link>
        )
      }
    >
      <KeyList canWrite={canWrite} />
    </PageFrame>
  );
}

function KeyList({ canWrite }: { canWrite: boolean }) {
  const { q = '', p = 1, sort: _sort, ...filters } = useSearch({ from: '/shell/keys' });
  const { expires, ...sent } = filters;
  const expiry = useMemo(() => toExpiryFilter(expires), [expires]);
  const { change, onSearch, clear } = useListChange();
  const list = useOperation(
    'GET /api/keys/detailed',
    { query: { search: q, p, ...sent, ...expiry } as ListQuery },
    { keepPrevious: true },
  );
  const keys = list.data?.value.keys;
  const rows = useMemo(() => (keys ?? []).map(toKeyFacts), [keys]);
  const nameOfPolicy = usePolicyNames(rows.flatMap(({ policies }) => policies));
  const bulk = useKeyBulk(rows);
  const nameOfApi = useApiNames(rows.flatMap(({ apis }) => apis.flatMap(({ id, name }) => (name ? [] : [id]))));
  const canReadUsage = usePermission('analytics');
  const isNarrowed = useNarrowedAnalytics();
  const hashes = canReadUsage && !isNarrowed ? rows.map(({ hash }) => hash) : undefined;
  const view = useListView('keys', createKeyColumns({ nameOfPolicy, nameOfApi, hashes }));
  if (!list.data) return <QueryState query={list} />;
  const isFiltered = q !== '' || Object.keys(filters).length > 0;
  if (rows.length === 0 && !isFiltered && p === 1) return <EmptyKeys />;
  return (
    <>
      <DataTable
        label={own.list}
        rows={rows}
        columns={view.columns}
        idOf={({ hash }) => hash}
        nameOf={nameKey}
        page={p}
        pages={list.data.value.pages}
        onPage={next => change({ p: next })}
        isRefreshing={list.isFetching}
        onClearFilters={clear}
        toolbar={
          <ListToolbar label={own.searchLabel} placeholder={own.search} value={q} onSearch={onSearch}>
            <KeyFilters filters={filters} nameOfPolicy={nameOfPolicy} onChange={change} />
            {view.menus}
          </ListToolbar>
        }
        {...(canWrite ? { actions: bulk.actionsOf, selection: bulk.selection } : {})}
      />
      {bulk.dialogs}
    </>
  );
}

interface KeyFiltersProps {
  readonly filters: {
    readonly state?: string;
    readonly kind?: string;
    readonly expires?: string;
    readonly tag?: string;
    readonly api_id?: string;
    readonly policy_id?: string;
  };
  nameOfPolicy(id: string): string;
  onChange(some: Readonly<Record<string, string>>): void;
}

const KeyFilters = ({ filters, nameOfPolicy, onChange }: KeyFiltersProps) => (
  <>
    <FilterSelect
      label={own.anyState}
      value={filters.state ?? ''}
      onChange={event => onChange({ state: event.target.value })}
      options={toOptions(own.anyState, own.states)}
    />
    <FilterSelect
      label={own.anyKind}
      value={filters.kind ?? ''}
      onChange={event => onChange({ kind: event.target.value })}
      options={toOptions(own.anyKind, own.kinds)}
    />
    <FilterSelect
      label={own.anyExpiry}
      value={filters.expires ?? ''}
      onChange={event => onChange({ expires: event.target.value })}
      options={toOptions(own.anyExpiry, own.expiresWithin)}
    />
    <FilterText label={usage.tagFilter} value={filters.tag ?? ''} onChange={tag => onChange({ tag })} />
    <ApiSelect apiId={filters.api_id ?? ''} onChange={api_id => onChange({ api_id })} />
    {filters.policy_id && (
      <Button onClick={() => onChange({ policy_id: '' })}>{own.ofPolicy(nameOfPolicy(filters.policy_id))} ×</Button>
    )}
  </>
);

const EmptyKeys = () => (
  <Notice icon={KeyRound} title={own.emptyTitle}>
    {own.emptyAbout}
  </Notice>
);
