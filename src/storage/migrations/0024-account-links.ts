import { createIndex, createTable, type Migration } from '../migration.ts';

/** Links of accounts to users of identity providers, and the creator of sessions that a nonce opened. */
export const accountLinks: Migration = {
  name: 'account-links',
  async up(schema) {
    await createTable(
      schema,
      'account_links',
      {
        digest: 'text primary key',
        org_id: 'text not null',
        user_id: 'text not null',
        provider: 'text not null',
        created_at: 'number not null',
        body: 'text not null',
      },
      'unique (user_id, provider)',
    );
    await createIndex(schema, 'account_links', 'org', 'org_id');
    await schema.run(`alter table sessions add column creator_id ${schema.text} not null default ''`);
    await createIndex(schema, 'sessions', 'creator', 'creator_id');
    await createIndex(schema, 'sessions', 'org', 'org_id, created_at');
  },
};
