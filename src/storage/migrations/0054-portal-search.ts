import { createIndex, createTable, type Migration } from '../migration.ts';

/** Search index of the portal: operations of documents and guides, by their words. The portal fills it at its start. */
export const portalSearch: Migration = {
  name: 'portal-search',
  async up(schema) {
    await createTable(schema, 'portal_search_sources', {
      id: 'serial',
      owner: 'text not null unique',
      product_id: 'number not null',
    });
    await createIndex(schema, 'portal_search_sources', 'product', 'product_id');
    await createTable(
      schema,
      'portal_search_entries',
      {
        source_id: 'number not null',
        position: 'number not null',
        kind: 'text not null',
        place: 'text not null',
        title: 'text not null',
        summary: 'text not null',
      },
      'primary key (source_id, position)',
    );
    const words = { word: 'text not null', source_id: 'number not null', position: 'number not null' };
    await createTable(schema, 'portal_search_words', words, 'primary key (word, source_id, position)');
    await createIndex(schema, 'portal_search_words', 'entry', 'source_id, position, word');
  },
};
