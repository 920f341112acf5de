import { createIndex, createTable, type Migration } from '../migration.ts';

/** Client certificates that administrators of the portal assign to organisations of developers. */
export const portalOrganisationCertificates: Migration = {
  name: 'portal-organisation-certificates',
  async up(schema) {
    await createTable(schema, 'portal_organisation_certificates', {
      id: 'serial',
      body: 'text not null',
      organisation_id: 'number not null',
      fingerprint: 'text not null',
    });
    await createIndex(schema, 'portal_organisation_certificates', 'organisation', 'organisation_id, id');
  },
};
