import { Link } from '@tanstack/react-router';
import { LogIn } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';

const own = adminTexts.signOn;

type SignOnRow = ResultOf<'GET /portal-api/sso_profiles'>[number];

const columns: readonly Column<SignOnRow>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ ID, Name }) => (
      <Link to="/admin/sso_profiles/$profileId" params={{ profileId: ID }} className="row-link">
        {Name}
      </Link>
    ),
  },
  {
    id: 'audience',
    title: own.columns.audience,
    cell: ({ ActionType }) => own.audiences[ActionType] ?? ActionType,
  },
  { id: 'provider', title: own.columns.provider, cell: ({ SelectedProviderType }) => SelectedProviderType },
  {
    id: 'loginUrl',
    title: own.columns.loginUrl,
    cell: ({ LoginURL }) => <span className="break-all">{LoginURL}</span>,
  },
  {
    id: 'updated',
    title: own.columns.updated,
    cell: ({ UpdatedAt, UpdatedBy }) => own.by(UpdatedAt, UpdatedBy),
  },
];

export const PortalSignOnListPage = createListPage({
  texts: own,
  path: '/admin/sso_profiles',
  icon: LogIn,
  columns,
  useRows: query => useOperation('GET /portal-api/sso_profiles', { query }, { keepPrevious: true }),
  nameOf: ({ Name }) => Name,
});
