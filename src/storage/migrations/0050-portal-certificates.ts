import { createIndex, createTable, type Migration } from '../migration.ts';

/** Client certificates of apps of the portal, and those that it put into certificate stores of providers. */
export const portalCertificates: Migration = {
  name: 'portal-certificates',
  async up(schema) {
    await createTable(schema, 'portal_certificates', {
      id: 'serial',
      body: 'text not null',
      app_id: 'number not null',
      fingerprint: 'text not null',
    });
    await createIndex(schema, 'portal_certificates', 'app', 'app_id, id');
    await createIndex(schema, 'portal_certificates', 'fingerprint', 'fingerprint');
    await createTable(schema, 'portal_provider_certificates', {
      id: 'serial',
      body: 'text not null',
      provider_id: 'number not null',
      fingerprint: 'text not null',
    });
    await createIndex(schema, 'portal_provider_certificates', 'provider', 'provider_id, fingerprint');
  },
};
