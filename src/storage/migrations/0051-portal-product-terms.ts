import { createIndex, type Migration } from '../migration.ts';

/** Terms of a product; 0 for those of the portal, as all of earlier versions are. */
export const portalProductTerms: Migration = {
  name: 'portal-product-terms',
  async up(schema) {
    await schema.run('alter table portal_terms add column product_id bigint not null default 0');
    await createIndex(schema, 'portal_terms', 'product', 'product_id, published_at, id');
  },
};
