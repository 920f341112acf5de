import { createIndex, createTable, type Migration } from '../migration.ts';

/** Invitations by mail, and codes that sign-ups join a team with. */
export const portalInvitations: Migration = {
  name: 'portal-invitations',
  async up(schema) {
    await createTable(schema, 'portal_invitations', {
      id: 'serial',
      body: 'text not null',
      organisation_id: 'number not null',
      email: 'text not null',
      digest: 'text not null unique',
      expires_at: 'number not null',
    });
    await createIndex(schema, 'portal_invitations', 'organisation', 'organisation_id, email', true);
    await createIndex(schema, 'portal_invitations', 'expiry', 'expires_at');
    await createTable(schema, 'portal_invite_codes', {
      id: 'serial',
      body: 'text not null',
      team_id: 'number not null',
      digest: 'text not null unique',
    });
    await createIndex(schema, 'portal_invite_codes', 'team', 'team_id');
  },
};
