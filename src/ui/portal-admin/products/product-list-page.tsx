import { Link } from '@tanstack/react-router';
import { Package } from 'lucide-react';
import { Badge } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { createListPage } from '../lists/list-page.tsx';
import { describeAuthentication } from './authentication-text.ts';

const own = adminTexts.products;

type ProductItem = ResultOf<'GET /portal-api/products'>[number];

const columns: readonly Column<ProductItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: product => (
      <Link to="/admin/api_products/$productId" params={{ productId: String(product.ID) }} className="row-link">
        {product.DisplayName || product.Name}
      </Link>
    ),
  },
  { id: 'path', title: own.columns.path, cell: ({ Path }) => <code className="font-mono text-small">{Path}</code> },
  { id: 'apis', title: own.columns.apis, cell: product => product.APIDetails.map(it => it.Name).join(', ') || '–' },
  {
    id: 'authentication',
    title: own.columns.authentication,
    cell: ({ AuthTypes }) => describeAuthentication(AuthTypes) || '–',
  },
  {
    id: 'catalogues',
    title: adminTexts.catalogues.title,
    cell: ({ Catalogues }) => Catalogues.join(', ') || <Badge tone="warning">{adminTexts.catalogues.none}</Badge>,
  },
  {
    id: 'registration',
    title: own.columns.registration,
    cell: ({ DCREnabled }) => (DCREnabled ? sharedTexts.kit.yes : sharedTexts.kit.no),
  },
  {
    id: 'marks',
    title: own.columns.marks,
    cell: ({ Feature, IsDocumentationOnly, Hidden }) => (
      <span className="inline-flex flex-wrap gap-1">
        {Hidden && <Badge tone="warning">{own.notOffered}</Badge>}
        {Feature && <Badge tone="info">{own.featured}</Badge>}
        {IsDocumentationOnly && <Badge>{own.documentationOnly}</Badge>}
      </span>
    ),
  },
];

export const ProductListPage = createListPage({
  texts: own,
  path: '/admin/api_products',
  icon: Package,
  columns,
  useRows: query => useOperation('GET /portal-api/products', { query }, { keepPrevious: true }),
  nameOf: product => product.DisplayName || product.Name,
  searchLabel: adminTexts.forms.search,
});
