import { createIndex, createTable, type Migration } from '../migration.ts';

interface StoredOwners {
  readonly wrapper?: { readonly user_owners?: readonly string[]; readonly user_group_owners?: readonly string[] };
}

const rowsPerRead = 500;

/** Owners of APIs, so that visibility is decided without opening definitions. */
export const apiOwners: Migration = {
  name: 'api-owners',
  async up(schema) {
    await createTable(
      schema,
      'api_owners',
      { org_id: 'text not null', api: 'text not null', kind: 'text not null', owner: 'text not null' },
      'primary key (org_id, api, kind, owner)',
    );
    await createIndex(schema, 'api_owners', 'api', 'api');
    let last = '';
    for (;;) {
      const rows = await schema.db
        .selectFrom('apis')
        .select(['id', 'org_id', 'body'])
        .where('id', '>', last)
        .orderBy('id')
        .limit(rowsPerRead)
        .execute();
      for (const { id, org_id, body } of rows) {
        const { wrapper } = JSON.parse(body) as StoredOwners;
        const owners = [
          ...new Set(wrapper?.user_owners ?? []).keys().map(owner => ({ kind: 'user', owner })),
          ...new Set(wrapper?.user_group_owners ?? []).keys().map(owner => ({ kind: 'group', owner })),
        ];
        for (const it of owners)
          await schema.db
            .insertInto('api_owners')
            .values({ org_id, api: id, ...it })
            .execute();
      }
      if (rows.length < rowsPerRead) return;
      last = rows.at(-1)!.id;
    }
  },
};
