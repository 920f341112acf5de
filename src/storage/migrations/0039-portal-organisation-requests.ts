import { createIndex, createTable, type Migration } from '../migration.ts';

/** Requests of developers for organisations of their own. */
export const portalOrganisationRequests: Migration = {
  name: 'portal-organisation-requests',
  async up(schema) {
    await createTable(schema, 'portal_organisation_requests', {
      id: 'serial',
      body: 'text not null',
      user_id: 'number not null',
      name: 'text not null',
      status: 'text not null',
    });
    await createIndex(schema, 'portal_organisation_requests', 'user', 'user_id, status');
    await createIndex(schema, 'portal_organisation_requests', 'status', 'status, id');
  },
};
