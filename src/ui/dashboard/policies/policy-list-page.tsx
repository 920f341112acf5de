import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, ScrollText } from 'lucide-react';
import { useState } from 'react';
import { buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useBatchedOperation, useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { policyListTexts } from '../../texts/en/policy-list.ts';
import { texts } from '../../texts/texts.ts';
import { describeQuota, describeRate } from '../limits/limit-text.ts';
import { useListView } from '../list-view.tsx';
import { ApiSelect } from '../monitor/api-select.tsx';
import { usePermission } from '../session/session.ts';
import { DeletePolicyDialog } from './delete-policy-dialog.tsx';
import { idOfPolicy as idOf } from './policy-draft.ts';
import { OfferBadges, type PolicyOffer, usePolicyOffers } from './policy-offers.tsx';
import { PolicyStatePill } from './policy-state-pill.tsx';

const own = texts.policies;

/** The exemplary list page: see `src/ui/README.md`. */

type PolicyItem = NonNullable<ResultOf<'GET /api/portal/policies/search'>['Data']>[number];
type SearchQuery = NonNullable<ArgumentsOf<'GET /api/portal/policies/search'>['query']>;

interface ListFacts {
  readonly counts: Counts;
  readonly offersOf: (id: string) => readonly PolicyOffer[];
}

type Counts = Readonly<Record<string, number>> | undefined;

const toIsoTime = (seconds: number) => new Date(seconds * 1000).toISOString();

const createColumns = ({ counts, offersOf }: ListFacts): readonly Column<PolicyItem>[] => [
  {
    id: 'name',
    title: own.columns.name,
    sort: 'name',
    cell: policy => (
      <Link to="/policies/$policyId" params={{ policyId: idOf(policy) }} className="row-link">
        {policy.name || idOf(policy)}
      </Link>
    ),
  },
  { id: 'portal', title: own.columns.portal, cell: policy => <OfferBadges offers={offersOf(idOf(policy))} /> },
  { id: 'id', title: own.columns.id, isOptional: true, cell: policy => <IdText id={idOf(policy)} /> },
  { id: 'state', title: own.columns.state, cell: ({ state }) => <PolicyStatePill state={state} /> },
  {
    id: 'apis',
    title: own.columns.apis,
    cell: ({ access_rights: rights }) =>
      Object.entries(rights ?? {})
        .map(([apiId, right]) => right?.api_name || apiId)
        .join(', ') || '–',
  },
  {
    id: 'authentication',
    title: own.columns.authentication,
    cell: ({ auth_type: type = 'other' }) => texts.apis.authentication[type] ?? type,
  },
  { id: 'rate', title: own.columns.rate, align: 'right', cell: describeRate },
  { id: 'quota', title: own.columns.quota, align: 'right', cell: describeQuota },
  ...(counts
    ? [
        {
          id: 'keys',
          title: own.columns.keys,
          align: 'right' as const,
          cell: (policy: PolicyItem) => (
            <Link to="/keys" search={{ policy_id: idOf(policy) }} className="row-link">
              {formatNumber(counts[idOf(policy)] ?? 0)}
            </Link>
          ),
        },
      ]
    : []),
  {
    id: 'updated',
    title: policyListTexts.updated,
    isOptional: true,
    cell: ({ last_updated: time }) => (Number(time) > 0 ? <TimeText time={toIsoTime(Number(time))} /> : '–'),
  },
  { id: 'tags', title: own.columns.tags, isOptional: true, cell: ({ tags }) => (tags ?? []).join(', ') },
];

export function PolicyListPage() {
  const canWrite = usePermission('policies:write');
  const create = canWrite && (
    <Link to="/policies/new" data-new className={buttonClass('primary')}>
      <Plus size={16} aria-hidden />
      {own.create}
    </Link>
  );
  return (
    <PageFrame title={own.title} actions={create}>
      <PolicyList canWrite={canWrite} />
    </PageFrame>
  );
}

/** Number of keys of each policy, where the user may see keys. */
function useKeyCounts(ids: readonly string[]): Counts {
  const canSeeKeys = usePermission('keys');
  const counts = useBatchedOperation('GET /api/keys/counts', ids, policy_id => ({ query: { policy_id } }), {
    enabled: canSeeKeys,
  });
  return counts && counts.length > 0 ? Object.assign({}, ...counts.map(({ policies }) => policies)) : undefined;
}

function PolicyList({ canWrite }: { canWrite: boolean }) {
  const { p = 1, ...filters } = useSearch({ from: '/shell/policies' });
  const { change, onSearch, clear } = useListChange();
  const query = { ...filters, p } as SearchQuery;
  const list = useOperation('GET /api/portal/policies/search', { query }, { keepPrevious: true });
  const rows = list.data?.value.Data ?? [];
  const counts = useKeyCounts(rows.map(idOf));
  const offersOf = usePolicyOffers(rows.map(idOf));
  const { actionsOf, dialog } = usePolicyActions();
  const view = useListView('policies', createColumns({ counts, offersOf }));
  if (!list.data) return <QueryState query={list} />;
  if (rows.length === 0 && Object.keys(filters).length === 0 && p === 1) return <EmptyPolicies />;
  return (
    <>
      <DataTable
        label={own.list}
        rows={rows}
        columns={view.columns}
        {...(canWrite ? { actions: actionsOf } : {})}
        idOf={policy => idOf(policy)}
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
            <FilterSelect
              label={texts.apis.anyAuthentication}
              value={filters.auth_type ?? ''}
              onChange={event => change({ auth_type: event.target.value })}
              options={[
                { value: '', label: texts.apis.anyAuthentication },
                ...Object.entries(texts.apis.authentication).map(([value, label]) => ({ value, label })),
              ]}
            />
            <ApiSelect apiId={filters.api_id ?? ''} onChange={api_id => change({ api_id })} />
            {view.menus}
          </ListToolbar>
        }
      />
      {dialog}
    </>
  );
}

const EmptyPolicies = () => (
  <Notice icon={ScrollText} title={own.emptyTitle}>
    {own.emptyAbout}
  </Notice>
);

/** Menu of a row, and the dialog that confirms its deletion. */
function usePolicyActions() {
  const navigate = useNavigate();
  const [pending, setPending] = useState<PolicyItem>();
  const actionsOf = (policy: PolicyItem) => {
    const id = idOf(policy);
    return [
      { label: own.open, onSelect: () => void navigate({ to: '/policies/$policyId', params: { policyId: id } }) },
      { label: own.duplicate, onSelect: () => void navigate({ to: '/policies/new', search: { from: id } }) },
      'line' as const,
      { label: own.delete, isDanger: true, onSelect: () => setPending(policy) },
    ];
  };
  const dialog = <DeletePolicyDialog policy={pending} onClose={() => setPending(undefined)} />;
  return { actionsOf, dialog };
}
