import type { Records } from '#storage/records.ts';
import type { StoredApi } from './schema.ts';

/** Index tables of APIs: categories, owners, versions, and types as labels, each found without opening definitions. */
const indexTables = ['api_categories', 'api_owners', 'api_versions', 'api_labels'] as const;

/** Rows of one statement: both engines limit its parameters. */
const maxRowsPerInsert = 1000;

/** Replaces the index rows of an API, in the transaction of its write. */
export async function updateApiIndexes(records: Records, api: StoredApi): Promise<void> {
  await removeApiIndexes(records, api.id);
  const { id, org_id, summary } = api;
  const categories = summary.categories.map(category => ({ org_id, category, api: id }));
  if (categories.length > 0) await records.db.insertInto('api_categories').values(categories).execute();
  const owners = toOwnerRows(api);
  if (owners.length > 0) await records.db.insertInto('api_owners').values(owners).execute();
  const labels = toLabelRows(api);
  if (labels.length > 0) await records.db.insertInto('api_labels').values(labels).execute();
  const versions = [...new Set(Object.values(summary.versions))].map(version => ({ org_id, version, api: id }));
  for (let at = 0; at < versions.length; at += maxRowsPerInsert)
    await records.db
      .insertInto('api_versions')
      .values(versions.slice(at, at + maxRowsPerInsert))
      .execute();
}

export async function removeApiIndexes(records: Records, id: string): Promise<void> {
  for (const table of indexTables) await records.db.deleteFrom(table).where('api', '=', id).execute();
}

const toOwnerRows = ({ id: api, org_id, wrapper }: StoredApi) => [
  ...[...new Set(wrapper.user_owners)].map(owner => ({ org_id, api, kind: 'user', owner })),
  ...[...new Set(wrapper.user_group_owners)].map(owner => ({ org_id, api, kind: 'group', owner })),
];

const toLabelRows = ({ id: api, org_id, summary }: StoredApi) => [
  ...[...new Set(summary.auth_types)].map(label => ({ org_id, kind: 'auth_type', label, api })),
  ...[...new Set(summary.api_types)].map(label => ({ org_id, kind: 'api_type', label, api })),
];
