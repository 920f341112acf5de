import { createTable, type Migration } from '../migration.ts';

/** Notices about the expiry of credentials that were sent, one for each stage and time of expiry. */
export const portalExpiryNotices: Migration = {
  name: 'portal-expiry-notices',
  async up(schema) {
    await createTable(
      schema,
      'portal_expiry_notices',
      { credential_id: 'number not null', stage: 'text not null', expires_at: 'number not null' },
      'primary key (credential_id, stage)',
    );
  },
};
