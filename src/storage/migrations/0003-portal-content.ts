import { createIndex, createTable, type Migration } from '../migration.ts';

const numbered = { id: 'serial', body: 'text not null' };
const label = { ...numbered, cid: 'text not null unique', name: 'text not null unique' };

/** Portal content: blog posts, webhooks and single sign-on profiles. */
export const portalContent: Migration = {
  name: 'portal content',
  async up(schema) {
    await createTable(schema, 'portal_categories', label);
    await createTable(schema, 'portal_tags', label);
    await createTable(schema, 'portal_posts', {
      ...numbered,
      path: 'text not null unique',
      status: 'text not null',
    });
    await createIndex(schema, 'portal_posts', 'status', 'status, id desc');
    await createTable(schema, 'portal_webhooks', numbered);
    await createTable(schema, 'portal_sso_profiles', {
      id: 'text primary key',
      created_at: 'number not null',
      body: 'text not null',
    });
    await createIndex(schema, 'portal_sso_profiles', 'newest', 'created_at desc, id desc');
  },
};
