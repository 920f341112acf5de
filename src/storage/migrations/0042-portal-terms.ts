import { createIndex, createTable, type Migration } from '../migration.ts';

/** Versions of the terms of use, and who accepted them. */
export const portalTerms: Migration = {
  name: 'portal-terms',
  async up(schema) {
    await createTable(schema, 'portal_terms', {
      id: 'serial',
      body: 'text not null',
      version: 'text not null unique',
      published_at: 'number not null',
    });
    await createIndex(schema, 'portal_terms', 'published', 'published_at, id');
    await createTable(schema, 'portal_terms_acceptances', {
      id: 'serial',
      body: 'text not null',
      terms_id: 'number not null',
      user_id: 'number not null',
    });
    await createIndex(schema, 'portal_terms_acceptances', 'user', 'user_id, terms_id', true);
    await createIndex(schema, 'portal_terms_acceptances', 'terms', 'terms_id, id');
  },
};
