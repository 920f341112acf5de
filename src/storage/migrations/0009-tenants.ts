import { createIndex, createTable, type Migration } from '../migration.ts';

/** Grants of organisations, and the index by which routes are compared with those of other organisations. */
export const tenants: Migration = {
  name: 'tenants',
  async up(schema) {
    await createTable(schema, 'organisation_grants', { org_id: 'text primary key', body: 'text not null' });
    /** Covering index: the comparison never opens a definition. */
    await createIndex(schema, 'apis', 'route', 'domain, listen_path, org_id');
  },
};
