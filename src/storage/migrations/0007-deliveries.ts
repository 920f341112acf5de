import { createIndex, createTable, type Migration } from '../migration.ts';

/** Webhook deliveries, their queue and their signing secrets. */
export const deliveries: Migration = {
  name: 'deliveries',
  async up(schema) {
    const indexWhere = (name: string, columns: string, where: string) =>
      schema.run(`create index deliveries_${name} on deliveries (${columns}) where ${where}`);

    await createTable(schema, 'deliveries', {
      /** Delivery order of one hook. */
      id: 'serial',
      public_id: 'text not null unique',
      org_id: 'text not null',
      hook: 'text not null',
      api_id: 'text not null',
      event: 'text not null',
      state: 'text not null',
      attempts: 'number not null',
      status: 'number not null',
      created_at: 'number not null',
      updated_at: 'number not null',
      body: 'text not null',
    });
    await indexWhere('waiting', 'org_id, hook, id', "state = 'waiting'");
    await createIndex(schema, 'deliveries', 'newest', 'org_id, id desc');
    await createIndex(schema, 'deliveries', 'hook', 'org_id, hook, id desc');
    await createIndex(schema, 'deliveries', 'state', 'org_id, state, id desc');
    await createIndex(schema, 'deliveries', 'age', 'updated_at');

    /** Hooks with waiting deliveries. One process at a time owns a lane, until its lease expires. */
    await createTable(
      schema,
      'delivery_lanes',
      {
        org_id: 'text not null',
        hook: 'text not null',
        due_at: 'number not null',
        lease_until: 'number not null',
        holder: 'text not null',
      },
      'primary key (org_id, hook)',
    );
    await createIndex(schema, 'delivery_lanes', 'due', 'due_at');

    /** Deduplication keys with their expiry. */
    await createTable(schema, 'delivery_marks', { mark: 'text primary key', until: 'number not null' });
    await createIndex(schema, 'delivery_marks', 'until', 'until');

    await createTable(
      schema,
      'hook_secrets',
      {
        org_id: 'text not null',
        hook: 'text not null',
        sealed: 'text not null',
        /** Previous secret, which receivers may still verify with; empty for none. */
        previous: 'text not null',
        changed_at: 'number not null',
      },
      'primary key (org_id, hook)',
    );
  },
};
