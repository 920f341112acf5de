import { createIndex, createTable, type Migration } from '../migration.ts';

/** Preferences of dashboard users for the web app: one row per user. */
export const preferences: Migration = {
  name: 'preferences',
  async up(schema) {
    await createTable(schema, 'user_preferences', {
      user_id: 'text primary key',
      org_id: 'text not null',
      updated_at: 'number not null',
      body: 'text not null',
    });
    await createIndex(schema, 'user_preferences', 'org', 'org_id');
  },
};
