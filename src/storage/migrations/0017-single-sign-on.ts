import { createIndex, createTable, type Migration } from '../migration.ts';

/** Identity profiles of organisations, and sessions of users who signed on with one. */
export const singleSignOn: Migration = {
  name: 'single-sign-on',
  async up(schema) {
    await createTable(schema, 'identity_profiles', {
      id: 'text primary key',
      org_id: 'text not null',
      name: 'text not null',
      created_at: 'number not null',
      body: 'text not null',
    });
    await createIndex(schema, 'identity_profiles', 'org', 'org_id, created_at');
    for (const column of ['profile_id', 'body'])
      await schema.run(`alter table sessions add column ${column} ${schema.text} not null default ''`);
    await createIndex(schema, 'sessions', 'profile', 'profile_id');
  },
};
