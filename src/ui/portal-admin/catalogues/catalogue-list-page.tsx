import { Link } from '@tanstack/react-router';
import { LibraryBig } from 'lucide-react';
import { Badge } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';

const own = adminTexts.catalogues;

type CatalogueItem = ResultOf<'GET /portal-api/catalogues'>[number];

const columns: readonly Column<CatalogueItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: catalogue => (
      <Link to="/admin/catalogues/$catalogueId" params={{ catalogueId: String(catalogue.ID) }} className="row-link">
        {catalogue.Name}
      </Link>
    ),
  },
  {
    id: 'slug',
    title: own.columns.slug,
    cell: ({ NameWithSlug }) => <code className="font-mono text-small">{NameWithSlug}</code>,
  },
  {
    id: 'visibility',
    title: own.columns.visibility,
    cell: ({ VisibilityStatus }) => (
      <Badge tone={VisibilityStatus === 'Public' ? 'info' : 'neutral'}>{own.visibilities[VisibilityStatus]}</Badge>
    ),
  },
];

export const CatalogueListPage = createListPage({
  texts: own,
  path: '/admin/catalogues',
  icon: LibraryBig,
  columns,
  useRows: query => useOperation('GET /portal-api/catalogues', { query }, { keepPrevious: true }),
  nameOf: ({ Name }) => Name,
  searchLabel: adminTexts.forms.search,
});
