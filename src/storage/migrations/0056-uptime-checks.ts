import type { Migration } from '../migration.ts';

/** Outcomes of the last checks of a host in an hour, one character each; hours of earlier versions have none. */
export const uptimeChecks: Migration = {
  name: 'uptime-checks',
  async up(schema) {
    await schema.run(`alter table uptime_hours add column checks ${schema.text} not null default ''`);
  },
};
