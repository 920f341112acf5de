import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { StoredProposal } from './proposal-schema.ts';

/** Proposals of a product that wait for a decision; older ones are dropped. */
const maxProposals = 20;

/** Proposed entries of changelogs. */
export function createProposalStore(records: Records) {
  const proposals = createNumberedStore<'portal_changelog_proposals', StoredProposal>(
    records,
    'portal_changelog_proposals',
    it => ({ product_id: it.ProductID }),
  );
  return {
    /** Newest first. */
    page: (productId: number, query: PortalPageQuery) => proposals.page(query, { product_id: productId }),
    /** Under a row lock: a proposal is published once. */
    lock: (productId: number, id: number) => proposals.rows.lock({ product_id: productId, id }),
    remove: (productId: number, id: number) => proposals.rows.remove({ product_id: productId, id }),
    removeOfProduct: (productId: number) => proposals.rows.remove({ product_id: productId }),

    /** Inside a transaction that locks the product. */
    async insert(proposal: Omit<StoredProposal, 'ID'>): Promise<void> {
      const { ProductID } = proposal;
      await proposals.insert(proposal);
      const all = await proposals.all({ product_id: ProductID });
      for (const { ID } of all.slice(0, -maxProposals)) await proposals.remove(ID);
    },
  };
}
