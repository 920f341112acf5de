import { createIndex, createTable, type Migration } from '../migration.ts';

interface StoredVersions {
  readonly summary?: { readonly versions?: Readonly<Record<string, string>> };
}

const rowsPerRead = 500;

/** Versions of APIs, so that the bases of a version are found without reading definitions. */
export const apiVersions: Migration = {
  name: 'api-versions',
  async up(schema) {
    await createTable(
      schema,
      'api_versions',
      { org_id: 'text not null', version: 'text not null', api: 'text not null' },
      'primary key (org_id, version, api)',
    );
    await createIndex(schema, 'api_versions', 'api', 'api');
    for (let last: string | undefined = ''; last !== undefined; ) {
      const rows = await schema.db
        .selectFrom('apis')
        .select(['id', 'org_id', 'body'])
        .where('id', '>', last)
        .orderBy('id')
        .limit(rowsPerRead)
        .execute();
      for (const { id, org_id, body } of rows) {
        const { summary } = JSON.parse(body) as StoredVersions;
        for (const version of new Set(Object.values(summary?.versions ?? {})))
          await schema.db.insertInto('api_versions').values({ org_id, version, api: id }).execute();
      }
      last = rows.length < rowsPerRead ? undefined : rows.at(-1)!.id;
    }
  },
};
