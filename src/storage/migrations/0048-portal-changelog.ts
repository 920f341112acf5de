import { createIndex, createTable, type Migration } from '../migration.ts';

/** Changelogs of products, and the users who get mails about them. */
export const portalChangelog: Migration = {
  name: 'portal-changelog',
  async up(schema) {
    await createTable(schema, 'portal_changelog', {
      id: 'serial',
      body: 'text not null',
      product_id: 'number not null',
      released_at: 'number not null',
    });
    await createIndex(schema, 'portal_changelog', 'product', 'product_id, released_at');
    await createTable(
      schema,
      'portal_product_subscribers',
      { product_id: 'number not null', user_id: 'number not null' },
      'primary key (product_id, user_id)',
    );
    await createIndex(schema, 'portal_product_subscribers', 'user', 'user_id');
  },
};
