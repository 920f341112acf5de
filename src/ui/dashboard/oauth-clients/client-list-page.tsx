import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { AppWindow, Plus } from 'lucide-react';
import { useState } from 'react';
import { buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';
import type { KeyNames } from '../keys/key-columns.tsx';
import { ApiSelect } from '../monitor/api-select.tsx';
import { useApiNames } from '../pickers/api-picker.tsx';
import { usePolicyNames } from '../pickers/policy-picker.tsx';
import { usePermission } from '../session/session.ts';
import { type ClientItem, nameClient, splitRedirects } from './client-facts.ts';
import { DeleteClientDialog } from './delete-client-dialog.tsx';

const own = texts.oauthClients;
type ListQuery = NonNullable<ArgumentsOf<'GET /api/oauth/clients'>['query']>;

const createColumns = ({ nameOfPolicy, nameOfApi }: KeyNames): readonly Column<ClientItem>[] => [
  {
    id: 'name',
    title: own.columns.name,
    cell: client => (
      <Link
        to="/oauth-clients/$apiId/$clientId"
        params={{ apiId: client.api_id, clientId: client.client_id }}
        className="row-link"
      >
        {nameClient(client)}
      </Link>
    ),
  },
  { id: 'id', title: own.columns.id, cell: ({ client_id }) => <IdText id={client_id} /> },
  { id: 'api', title: own.columns.api, cell: ({ api_id }) => <span className="break-all">{nameOfApi(api_id)}</span> },
  { id: 'policy', title: own.columns.policy, cell: ({ policy_id }) => (policy_id ? nameOfPolicy(policy_id) : '–') },
  {
    id: 'redirects',
    title: own.columns.redirects,
    cell: ({ redirect_uri }) => (
      <span className="text-small break-all">{splitRedirects(redirect_uri).join(', ') || '–'}</span>
    ),
  },
  { id: 'tokens', title: own.columns.tokens, align: 'right', cell: ({ tokens }) => formatNumber(tokens) },
  { id: 'created', title: own.columns.created, cell: ({ created_at }) => <TimeText time={created_at} /> },
];

export function ClientListPage() {
  const canWrite = usePermission('oauth:write');
  const create = canWrite && (
    <Link to="/oauth-clients/new" data-new className={buttonClass('primary')}>
      <Plus size={16} aria-hidden />
      {own.create}
    </Link>
  );
  return (
    <PageFrame title={own.title} actions={create}>
      <ClientList canWrite={canWrite} />
    </PageFrame>
  );
}

function ClientList({ canWrite }: { canWrite: boolean }) {
  const { q = '', p = 1, sort: _sort, ...filters } = useSearch({ from: '/shell/oauth-clients' });
  const { change, onSearch, clear } = useListChange();
  const navigate = useNavigate();
  const [pending, setPending] = useState<ClientItem>();
  const query = { q, p, ...filters } as ListQuery;
  const list = useOperation('GET /api/oauth/clients', { query }, { keepPrevious: true });
  const rows = list.data?.value.apps ?? [];
  const nameOfPolicy = usePolicyNames(rows.map(({ policy_id }) => policy_id).filter(Boolean));
  const nameOfApi = useApiNames(rows.map(({ api_id }) => api_id));
  if (!list.data) return <QueryState query={list} />;
  if (rows.length === 0 && q === '' && Object.keys(filters).length === 0 && p === 1) return <EmptyClients />;
  const actionsOf = (client: ClientItem) => [
    {
      label: own.open,
      onSelect: () =>
        void navigate({
          to: '/oauth-clients/$apiId/$clientId',
          params: { apiId: client.api_id, clientId: client.client_id },
        }),
    },
    'line' as const,
    { label: own.delete, isDanger: true, onSelect: () => setPending(client) },
  ];
  return (
    <>
      <DataTable
        label={own.list}
        rows={rows}
        columns={createColumns({ nameOfPolicy, nameOfApi })}
        idOf={({ api_id, client_id }) => `${api_id} ${client_id}`}
        nameOf={client => nameClient(client)}
        page={p}
        pages={list.data.value.pages}
        onPage={next => change({ p: next })}
        isRefreshing={list.isFetching}
        onClearFilters={clear}
        {...(canWrite ? { actions: actionsOf } : {})}
        toolbar={
          <ListToolbar label={own.searchLabel} placeholder={own.search} value={q} onSearch={onSearch}>
            <ApiSelect apiId={filters.api_id ?? ''} onChange={api_id => change({ api_id })} />
          </ListToolbar>
        }
      />
      <DeleteClientDialog client={pending} onClose={() => setPending(undefined)} />
    </>
  );
}

const EmptyClients = () => (
  <Notice icon={AppWindow} title={own.emptyTitle}>
    {own.emptyAbout}
  </Notice>
);
