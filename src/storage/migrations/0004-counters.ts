import { createIndex, createTable, type Migration } from '../migration.ts';

/** Persisted counters of long limits, so that a restart resets none. `ends_at` is null for a counter without an end. */
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
