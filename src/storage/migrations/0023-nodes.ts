import { createIndex, createTable, type Migration, type Schema } from '../migration.ts';

/** Heartbeats of processes, daily statistics, and the number of active APIs as a column. */
export const nodes: Migration = {
  name: 'nodes',
  async up(schema) {
    await createTable(
      schema,
      'nodes',
      {
        id: 'text not null',
        hostname: 'text not null',
        started_at: 'number not null',
        heartbeat_at: 'number not null',
        body: 'text not null',
      },
      'primary key (id, hostname)',
    );
    await createTable(
      schema,
      'daily_statistics',
      {
        org_id: 'text not null',
        entity: 'text not null',
        day: 'text not null',
        sampled_at: 'number not null',
        samples: 'number not null',
        total: 'number not null',
        lowest: 'number not null',
        highest: 'number not null',
        active_total: 'number not null',
        active_lowest: 'number not null',
        active_highest: 'number not null',
      },
      'primary key (org_id, entity, day)',
    );
    await createIndex(schema, 'daily_statistics', 'age', 'day');
    await schema.run('alter table apis add column active integer not null default 1');
    await markInactive(schema);
    await createIndex(schema, 'apis', 'active', 'org_id, active');
  },
};

const rowsPerBatch = 500;

/** Classic definitions are active unless they say otherwise; documents are active by their state alone. */
function isActive(body: string): boolean {
  const { kind, definition } = JSON.parse(body) as StoredRow;
  if (kind === 'classic') return definition?.active !== false;
  return definition?.['x-gw-api-gateway']?.info?.state?.active === true;
}

interface StoredRow {
  readonly kind?: string;
  readonly definition?: {
    readonly active?: unknown;
    readonly 'x-gw-api-gateway'?: { readonly info?: { readonly state?: { readonly active?: unknown } | null } | null };
  };
}

async function markInactive({ db }: Schema): Promise<void> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const rows = await db
      .selectFrom('apis')
      .select(['id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerBatch)
      .execute();
    const inactive = rows.filter(({ body }) => !isActive(body)).map(({ id }) => id);
    if (inactive.length > 0) await db.updateTable('apis').set({ active: 0 }).where('id', 'in', inactive).execute();
    last = rows.length < rowsPerBatch ? undefined : rows.at(-1)!.id;
  }
}
