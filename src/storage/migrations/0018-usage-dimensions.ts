import { createTable, type Migration } from '../migration.ts';

/** Usage by method, country and agent, and latency histograms. */
export const usageDimensions: Migration = {
  name: 'usage-dimensions',
  async up(schema) {
    for (const column of ['method', 'country', 'user_agent'])
      await schema.run(`alter table usage add column ${column} ${schema.text} not null default ''`);
    await createTable(
      schema,
      'usage_latencies',
      {
        minute: 'number not null',
        id: 'text not null',
        bucket: 'number not null',
        hits: 'number not null',
        expires_at: 'number not null',
      },
      'primary key (minute, id, bucket)',
    );
    await schema.run('create index usage_latencies_expiry on usage_latencies (expires_at) where expires_at > 0');
  },
};
