import { Link, useSearch } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';
import { useProductItems } from '../lists/reference-items.ts';

const own = adminTexts.terms;
type TermsItem = ResultOf<'GET /portal-api/terms'>[number];

export const TermsStatePill = ({ terms }: { terms: Pick<TermsItem, 'Published' | 'InForce'> }) => (
  <StatusPill tone={terms.InForce ? 'success' : 'neutral'}>
    {terms.InForce ? own.inForce : terms.Published ? own.former : own.draft}
  </StatusPill>
);

const createColumns = (nameOf: (productId: number) => string): readonly Column<TermsItem>[] => [
  {
    id: 'version',
    title: own.columns.version,
    cell: ({ ID, Version }) => (
      <Link to="/admin/terms/$termsId" params={{ termsId: String(ID) }} className="row-link">
        {Version}
      </Link>
    ),
  },
  { id: 'product', title: own.columns.product, cell: ({ ProductID }) => nameOf(ProductID) },
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

export function TermsListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/terms' });
  const query = { page: p, per_page: adminPageRows };
  const { nameOf } = useTermsProducts();
  const list = useOperation('GET /portal-api/terms', { query }, { keepPrevious: true });
  return (
    <PageFrame title={own.title} about={own.about} actions={<CreateLink to="/admin/terms/new" label={own.create} />}>
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={createColumns(nameOf)}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Version }) => Version}
        empty={{ icon: ScrollText, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
