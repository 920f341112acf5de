import { createIndex, createTable, type Migration } from '../migration.ts';

/** Templates of APIs. */
export const assets: Migration = {
  name: 'assets',
  async up(schema) {
    await createTable(
      schema,
      'assets',
      {
        id: 'text primary key',
        org_id: 'text not null',
        asset_id: 'text not null',
        kind: 'text not null',
        created_at: 'number not null',
        body: 'text not null',
      },
      'unique (org_id, asset_id)',
    );
    await createIndex(schema, 'assets', 'org_kind', 'org_id, kind, created_at');
  },
};
