import type { Records } from '#storage/records.ts';
import { createJoinTableStore } from '../join-table-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredCatalogue } from './schema.ts';

export function createCatalogueStore(records: Records) {
  const catalogues = createNumberedStore<'portal_catalogues', StoredCatalogue>(
    records,
    'portal_catalogues',
    it => ({ cid: it.CID, name: it.Name, slug: it.NameWithSlug }),
    problem.catalogue_exists,
  );
  const plans = createJoinTableStore(records, 'portal_catalogue_plans', 'catalogue_id');
  const products = createJoinTableStore(records, 'portal_catalogue_products', 'catalogue_id');
  return {
    ...catalogues,
    plans,
    products,
    remove: (id: number) =>
      records.write(async () => {
        await plans.setRightOf(id, []);
        await products.setRightOf(id, []);
        return catalogues.remove(id);
      }),
  };
}
