import { createIndex, createTable, type Migration } from '../migration.ts';

/** Columns of one uptime result: the newest of an hour, or the first after a change. */
const result = {
  up: 'truth not null',
  url: 'text not null',
  status: 'number not null',
  latency_ms: 'number not null',
  failure: 'text not null',
  expires_at: 'number not null',
};

/** Uptime tests of upstream hosts: counts by the hour, and every change between up and down. */
export const uptimeTables: Migration = {
  name: 'uptime',
  async up(schema) {
    await createTable(
      schema,
      'uptime_hours',
      {
        org_id: 'text not null',
        api_id: 'text not null',
        host: 'text not null',
        hour: 'number not null',
        api_name: 'text not null',
        rounds: 'number not null',
        rounds_up: 'number not null',
        tests: 'number not null',
        passed: 'number not null',
        passed_ms: 'number not null',
        first_at: 'number not null',
        last_at: 'number not null',
        ...result,
      },
      'primary key (org_id, api_id, host, hour)',
    );
    await createIndex(schema, 'uptime_hours', 'age', 'hour');
    await createTable(schema, 'uptime_changes', {
      id: 'serial',
      org_id: 'text not null',
      api_id: 'text not null',
      host: 'text not null',
      at: 'number not null',
      ...result,
    });
    await createIndex(schema, 'uptime_changes', 'newest', 'org_id, api_id, host, at desc, id desc');
    await createIndex(schema, 'uptime_changes', 'age', 'at');
    for (const table of ['uptime_hours', 'uptime_changes'])
      await schema.run(`create index ${table}_expiry on ${table} (expires_at) where expires_at > 0`);
  },
};
