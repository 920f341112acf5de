import { createIndex, createTable, type Migration } from '../migration.ts';

/** History of configuration objects. */
export const revisions: Migration = {
  name: 'revisions',
  async up(schema) {
    await createTable(schema, 'revisions', {
      id: 'serial',
      kind: 'text not null',
      org_id: 'text not null',
      object_id: 'text not null',
      public_id: 'text not null',
      revision: 'number not null',
      at: 'number not null',
      action: 'text not null',
      author: 'text not null',
      body: 'text not null',
    });
    await createIndex(schema, 'revisions', 'object', 'kind, object_id, revision', true);
    await createIndex(schema, 'revisions', 'public', 'kind, org_id, public_id');
    await createIndex(schema, 'revisions', 'age', 'at');
    await createIndex(schema, 'revisions', 'organisation', 'org_id');
  },
};
