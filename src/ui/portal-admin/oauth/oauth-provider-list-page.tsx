import { Link, useSearch } from '@tanstack/react-router';
import { KeySquare } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';

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

export function OauthProviderListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/oauth2-0-providers' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/oauth-providers', { query }, { keepPrevious: true });
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={<CreateLink to="/admin/oauth2-0-providers/new" label={own.create} />}
    >
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        empty={{ icon: KeySquare, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
