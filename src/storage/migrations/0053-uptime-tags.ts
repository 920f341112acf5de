import type { Migration } from '../migration.ts';

/** Uptime results by the tags of their API; results of earlier versions have none. */
export const uptimeTags: Migration = {
  name: 'uptime-tags',
  async up(schema) {
    await schema.run(`alter table uptime_hours add column tags ${schema.text} not null default ''`);
  },
};
