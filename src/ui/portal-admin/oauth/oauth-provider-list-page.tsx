import { Link } from '@tanstack/react-router';
import { KeySquare } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';

const own = adminTexts.oauthProviders;

type OauthProviderItem = ResultOf<'GET /portal-api/oauth-providers'>[number];

const columns: readonly Column<OauthProviderItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ ID, Name }) => (
      <Link to="/admin/oauth2-0-providers/$providerId" params={{ providerId: String(ID) }} className="row-link">
        {Name}
      </Link>
    ),
  },
  { id: 'type', title: own.columns.type, cell: ({ Type }) => Type },
  {
    id: 'address',
    title: own.columns.address,
    cell: ({ WellKnownURL }) => <span className="break-all">{WellKnownURL}</span>,
  },
];

export const OauthProviderListPage = createListPage({
  texts: own,
  path: '/admin/oauth2-0-providers',
  icon: KeySquare,
  columns,
  useRows: query => useOperation('GET /portal-api/oauth-providers', { query }, { keepPrevious: true }),
  nameOf: ({ Name }) => Name,
});
