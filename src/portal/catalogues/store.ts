import type { Records } from '#storage/records.ts';
import { createJoinTableStore } from '../join-table-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredAudience, StoredCatalogue } from './schema.ts';

export function createCatalogueStore(records: Records) {
  const catalogues = createNumberedStore<'portal_catalogues', StoredCatalogue>(
    records,
    'portal_catalogues',
    it => ({ cid: it.CID, name: it.Name, slug: it.NameWithSlug }),
    problem.catalogue_exists,
  );
  const plans = createJoinTableStore(records, 'portal_catalogue_plans', 'catalogue_id');
  const products = createJoinTableStore(records, 'portal_catalogue_products', 'catalogue_id');
  const audiences = createNumberedStore<'portal_audiences', StoredAudience>(
    records,
    'portal_audiences',
    it => ({ catalogue_id: it.CatalogueID, team_id: it.TeamID }),
    problem.audience_exists,
  );
  return {
    ...catalogues,
    plans,
    products,
    audiences: {
      ...audiences,
      ofCatalogue: (catalogueId: number) => audiences.all({ catalogue_id: catalogueId }),
      removeTeam: (teamId: number) => audiences.rows.remove({ team_id: teamId }),
    },
    /** Inside a transaction: reads a catalogue under a row lock. */
    lock: (id: number) => catalogues.rows.lock({ id }),
    remove: (id: number) =>
      records.write(async () => {
        await plans.setRightOf(id, []);
        await products.setRightOf(id, []);
        await audiences.rows.remove({ catalogue_id: id });
        return catalogues.remove(id);
      }),
  };
}
