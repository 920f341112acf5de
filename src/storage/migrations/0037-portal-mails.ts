import { createIndex, createTable, type Migration } from '../migration.ts';

/** Outbox of mails of the portal, and changed templates of them. */
export const portalMailTables: Migration = {
  name: 'portal-mails',
  async up(schema) {
    await createTable(schema, 'portal_mails', {
      id: 'serial',
      body: 'text not null',
      name: 'text not null',
      recipient: 'text not null',
      state: 'text not null',
      holder: 'text not null',
      due_at: 'number not null',
      created_at: 'number not null',
    });
    await createIndex(schema, 'portal_mails', 'due', 'state, due_at');
    await createIndex(schema, 'portal_mails', 'recipient', 'recipient, state');
    await createIndex(schema, 'portal_mails', 'name', 'name, state');
    await createTable(schema, 'portal_mail_templates', { name: 'text primary key', body: 'text not null' });
  },
};
