import { Link } from '@tanstack/react-router';
import { UsersRound } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';
import { useOrganisationItems } from '../lists/reference-items.ts';
import { UserStatePill } from './user-state-pill.tsx';

const own = adminTexts.users;

type PortalUserItem = ResultOf<'GET /portal-api/users'>[number];

const columns: readonly Column<PortalUserItem>[] = [
  {
    id: 'email',
    title: own.columns.email,
    cell: user => (
      <Link to="/admin/users/$userId" params={{ userId: String(user.ID) }} className="row-link break-all">
        {user.Email}
      </Link>
    ),
  },
  { id: 'name', title: own.columns.name, cell: ({ First, Last }) => `${First} ${Last}`.trim() || '–' },
  { id: 'role', title: own.columns.role, cell: ({ Role }) => own.roles[Role] ?? Role },
  {
    id: 'organisation',
    title: own.columns.organisation,
    cell: ({ OrganisationID }) =>
      OrganisationID === 0 ? (
        '–'
      ) : (
        <Link
          to="/admin/organisations/$organisationId"
          params={{ organisationId: String(OrganisationID) }}
          className="row-link"
        >
          <OrganisationName id={OrganisationID} />
        </Link>
      ),
  },
  { id: 'provider', title: own.columns.provider, cell: ({ Provider }) => Provider },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ State }) => <UserStatePill state={State} />,
  },
  { id: 'lastSignIn', title: own.columns.lastSignIn, cell: ({ LastSignInAt }) => LastSignInAt || own.never },
];

/** Rows share one read of the organisations. */
function OrganisationName({ id }: { id: number }) {
  const { items = [] } = useOrganisationItems();
  return items.find(it => it.id === String(id))?.name ?? own.organisationOf(id);
}

export const PortalUserListPage = createListPage({
  texts: own,
  path: '/admin/users',
  icon: UsersRound,
  columns,
  useRows: query => useOperation('GET /portal-api/users', { query }, { keepPrevious: true }),
  nameOf: ({ Email }) => Email,
  searchLabel: own.search,
});
