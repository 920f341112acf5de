import { Link } from '@tanstack/react-router';
import { AppWindow } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';

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
  { id: 'organisation', title: own.columns.organisation, cell: ({ Organisation }) => Organisation || '–' },
  { id: 'products', title: own.columns.products, cell: ({ Products }) => Products.join(', ') || '–' },
  { id: 'visibility', title: own.columns.visibility, cell: ({ Visibility }) => own.visibilities[Visibility] },
  { id: 'created', title: own.columns.created, cell: ({ CreatedAt }) => CreatedAt },
];

export const AppListPage = createListPage({
  texts: own,
  path: '/admin/apps',
  icon: AppWindow,
  columns,
  useRows: query => useOperation('GET /portal-api/apps', { query }, { keepPrevious: true }),
  nameOf: ({ Name }) => Name,
  searchLabel: adminTexts.forms.search,
});
