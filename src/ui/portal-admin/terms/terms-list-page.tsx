import { Link } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';
import { useProductItems } from '../lists/reference-items.ts';

const own = adminTexts.terms;
type TermsItem = ResultOf<'GET /portal-api/terms'>[number];

export const TermsStatePill = ({ terms }: { terms: Pick<TermsItem, 'Published' | 'InForce'> }) => (
  <StatusPill tone={terms.InForce ? 'success' : 'neutral'}>
    {terms.InForce ? own.inForce : terms.Published ? own.former : own.draft}
  </StatusPill>
);

const columns: readonly Column<TermsItem>[] = [
  {
    id: 'version',
    title: own.columns.version,
    cell: ({ ID, Version }) => (
      <Link to="/admin/terms/$termsId" params={{ termsId: String(ID) }} className="row-link">
        {Version}
      </Link>
    ),
  },
  { id: 'product', title: own.columns.product, cell: ({ ProductID }) => <TermsProduct id={ProductID} /> },
  { id: 'state', title: own.columns.state, cell: terms => <TermsStatePill terms={terms} /> },
  { id: 'published', title: own.columns.published, cell: ({ PublishedAt }) => PublishedAt || '–' },
];

/** Name of the product of terms, by its number where it is not among the newest ones. */
export function useTermsProducts() {
  const { items = [] } = useProductItems('');
  const nameOf = (id: number) =>
    id === 0 ? own.ofPortal : (items.find(it => it.id === String(id))?.name ?? own.productNumber(id));
  return { items, nameOf };
}

/** Rows share one read of the products. */
const TermsProduct = ({ id }: { id: number }) => useTermsProducts().nameOf(id);

export const TermsListPage = createListPage({
  texts: own,
  path: '/admin/terms',
  icon: ScrollText,
  columns,
  useRows: query => useOperation('GET /portal-api/terms', { query }, { keepPrevious: true }),
  nameOf: ({ Version }) => Version,
});
