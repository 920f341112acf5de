import { createIndex, createTable, type Migration, type Schema } from '../migration.ts';

const rowsPerRead = 500;

/** Columns and a table by which lists of keys and APIs are filtered in the database. */
export const listFilters: Migration = {
  name: 'list-filters',
  async up(schema) {
    await schema.run('alter table keys add column expires_at bigint not null default 0');
    await schema.run('alter table keys add column inactive integer not null default 0');
    await createIndex(schema, 'keys', 'expiry', 'org_id, expires_at');
    await createTable(
      schema,
      'api_labels',
      { org_id: 'text not null', kind: 'text not null', label: 'text not null', api: 'text not null' },
      'primary key (org_id, kind, label, api)',
    );
    await createIndex(schema, 'api_labels', 'api', 'api');
    await fillKeys(schema);
    await fillLabels(schema);
  },
};

async function fillKeys({ db }: Schema): Promise<void> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const rows = await db
      .selectFrom('keys')
      .select(['id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const { id, body } of rows) {
      const { expires, is_inactive } = JSON.parse(body) as { expires?: unknown; is_inactive?: unknown };
      const row = {
        expires_at: Number.isSafeInteger(expires) ? Math.max(0, Number(expires)) : 0,
        inactive: is_inactive === true ? 1 : 0,
      };
      if (row.expires_at > 0 || row.inactive > 0) await db.updateTable('keys').set(row).where('id', '=', id).execute();
    }
    last = rows.length < rowsPerRead ? undefined : rows.at(-1)!.id;
  }
}

interface StoredTypes {
  readonly summary?: { readonly auth_types?: readonly string[]; readonly api_types?: readonly string[] };
}

async function fillLabels({ db }: Schema): Promise<void> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const rows = await db
      .selectFrom('apis')
      .select(['id', 'org_id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const { id: api, org_id, body } of rows) {
      const { auth_types = [], api_types = [] } = (JSON.parse(body) as StoredTypes).summary ?? {};
      const kinds = { auth_type: auth_types, api_type: api_types };
      for (const [kind, labels] of Object.entries(kinds))
        for (const label of new Set(labels))
          await db.insertInto('api_labels').values({ org_id, kind, label, api }).execute();
    }
    last = rows.length < rowsPerRead ? undefined : rows.at(-1)!.id;
  }
}
