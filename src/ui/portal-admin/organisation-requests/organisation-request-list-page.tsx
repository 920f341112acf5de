import { Link, useSearch } from '@tanstack/react-router';
import { Building } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows } from '../lists/admin-list.tsx';
import { RequestStatePill, requestStates } from '../requests/request-state-pill.tsx';

const own = adminTexts.organisationRequests;
type RequestItem = ResultOf<'GET /portal-api/organisation-requests'>[number];

const columns: readonly Column<RequestItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ ID, Name }) => (
      <Link to="/admin/organisation_requests/$requestId" params={{ requestId: String(ID) }} className="row-link">
        {Name}
      </Link>
    ),
  },
  {
    id: 'developer',
    title: own.columns.developer,
    cell: ({ AdminEmail }) => <span className="break-all">{AdminEmail}</span>,
  },
  { id: 'state', title: own.columns.state, cell: request => <RequestStatePill request={request} /> },
  { id: 'created', title: own.columns.created, cell: ({ CreatedAt }) => CreatedAt },
];

export function OrganisationRequestListPage() {
  const { p = 1, state: chosen = 'pending' } = useSearch({ from: '/shell/admin/organisation_requests' });
  const { change } = useListChange();
  const state = requestStates.find(it => it === chosen);
  const query = { page: p, per_page: adminPageRows, ...(state ? { status: state } : {}) };
  const list = useOperation('GET /portal-api/organisation-requests', { query }, { keepPrevious: true });
  return (
    <PageFrame title={own.title} about={own.about}>
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        toolbar={
          <search>
            <FilterSelect
              label={own.columns.state}
              value={chosen}
              onChange={event => change({ state: event.target.value })}
              options={[
                ...requestStates.map(value => ({ value, label: adminTexts.requests.states[value] })),
                { value: 'all', label: own.anyState },
              ]}
            />
          </search>
        }
        empty={{ icon: Building, title: adminTexts.requests.emptyOf[state ?? 'all'], about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
