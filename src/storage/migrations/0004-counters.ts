import { createIndex, createTable, type Migration } from '../migration.ts';

/** What has been used of long limits, so that a restart gives nothing away. A count without an end never ends. */
export const counters: Migration = {
  name: 'counters',
  async up(schema) {
    await createTable(
      schema,
      'counters',
      {
        node: 'text not null',
        name: 'text not null',
        started_at: 'number not null',
        ends_at: 'number',
        used: 'number not null',
      },
      'primary key (node, name)',
    );
    await createIndex(schema, 'counters', 'ended', 'ends_at');
  },
};
