import { Link, useSearch } from '@tanstack/react-router';
import { AppWindow } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';

const own = adminTexts.apps;

type AppItem = ResultOf<'GET /portal-api/apps'>[number];

const columns: readonly Column<AppItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: app => (
      <Link to="/admin/apps/$appId" params={{ appId: String(app.ID) }} className="row-link">
        {app.Name}
      </Link>
    ),
  },
  {
    id: 'owner',
    title: own.columns.owner,
    cell: ({ UserID, UserEmail }) => (
      <Link to="/admin/users/$userId" params={{ userId: String(UserID) }} className="row-link">
        {UserEmail || own.userOf(UserID)}
      </Link>
    ),
  },
  { id: 'visibility', title: own.columns.visibility, cell: ({ Visibility }) => own.visibilities[Visibility] },
  { id: 'created', title: own.columns.created, cell: ({ CreatedAt }) => CreatedAt },
];

export function AppListPage() {
  const { p = 1, q = '' } = useSearch({ from: '/shell/admin/apps' });
  const query = { page: p, per_page: adminPageRows, q };
  const list = useOperation('GET /portal-api/apps', { query }, { keepPrevious: true });
  const create = <CreateLink to="/admin/apps/new" label={own.create} />;
  return (
    <PageFrame title={own.title} about={own.about} actions={create}>
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        search={{ label: adminTexts.forms.search, value: q }}
        empty={{ icon: AppWindow, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
