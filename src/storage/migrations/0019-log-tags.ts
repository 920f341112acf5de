import type { Migration } from '../migration.ts';

/** Tags of logged requests as a column, by which they are found; requests of earlier versions have none there. */
export const logTags: Migration = {
  name: 'log-tags',
  async up(schema) {
    await schema.run(`alter table logs add column tags ${schema.text} not null default ''`);
  },
};
