import { Link, useSearch } from '@tanstack/react-router';
import { LogIn } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';

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

export function PortalSignOnListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/sso_profiles' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/sso_profiles', { query }, { keepPrevious: true });
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={<CreateLink to="/admin/sso_profiles/new" label={own.create} />}
    >
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => ID}
        nameOf={({ Name }) => Name}
        empty={{ icon: LogIn, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
