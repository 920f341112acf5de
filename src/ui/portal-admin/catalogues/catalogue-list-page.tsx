import { Link, useSearch } from '@tanstack/react-router';
import { LibraryBig } from 'lucide-react';
import { Badge } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';

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

export function CatalogueListPage() {
  const { p = 1, q = '' } = useSearch({ from: '/shell/admin/catalogues' });
  const query = { page: p, per_page: adminPageRows, q };
  const list = useOperation('GET /portal-api/catalogues', { query }, { keepPrevious: true });
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={<CreateLink to="/admin/catalogues/new" label={own.create} />}
    >
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        search={{ label: adminTexts.forms.search, value: q }}
        empty={{ icon: LibraryBig, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
