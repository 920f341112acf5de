import type { Records } from '#storage/records.ts';
import { pairsStore } from '../join-table-store.ts';
import { numberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredCatalogue } from './schema.ts';

export function catalogueStore(records: Records) {
  const catalogues = numberedStore<'portal_catalogues', StoredCatalogue>(
    records,
    'portal_catalogues',
    it => ({ cid: it.CID, name: it.Name, slug: it.NameWithSlug }),
    problem.catalogue_exists,
  );
  const plans = pairsStore(records, 'portal_catalogue_plans', 'catalogue_id');
  const products = pairsStore(records, 'portal_catalogue_products', 'catalogue_id');
  return {
    ...catalogues,
    plans,
    products,
    remove: (id: number) =>
      records.write(async () => {
        await plans.set(id, []);
        await products.set(id, []);
        return catalogues.remove(id);
      }),
  };
}
