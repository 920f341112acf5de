import { selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import type { ScanRow } from './scan-store.ts';

/** Row of a key with what filters of lists compare. */
export interface IndexRow extends ScanRow {
  readonly names: string | undefined;
  readonly apiIds: readonly string[];
  readonly policyIds: readonly string[];
}

const noIds: readonly string[] = [];

/** Adds search text, APIs and policies to the rows of one batch. */
export async function readIndexRows(records: Records, rows: readonly ScanRow[]): Promise<IndexRow[]> {
  if (rows.length === 0) return [];
  const listed = selectListed(
    records,
    rows.map(({ id }) => id),
  );
  const { db } = records;
  const names = await db
    .selectFrom('search_names')
    .select(['object', 'text'])
    .where('kind', '=', 'keys')
    .where('object', 'in', listed)
    .execute();
  const apis = await db.selectFrom('key_apis').select(['key', 'api_id as id']).where('key', 'in', listed).execute();
  const policies = await db
    .selectFrom('key_policies')
    .select(['key', 'policy_id as id'])
    .where('key', 'in', listed)
    .execute();
  const namesOf = new Map(names.map(({ object, text }) => [object, text]));
  const [apisOf, policiesOf] = [groupByKey(apis), groupByKey(policies)];
  return rows.map(row => ({
    ...row,
    names: namesOf.get(row.id),
    apiIds: apisOf.get(row.id) ?? noIds,
    policyIds: policiesOf.get(row.id) ?? noIds,
  }));
}

/** Ids of each key, sorted: equal lists are equal texts. */
function groupByKey(rows: readonly { readonly key: string; readonly id: string }[]): Map<string, readonly string[]> {
  const grouped = new Map<string, string[]>();
  for (const { key, id } of rows) {
    const ids = grouped.get(key);
    if (ids) ids.push(id);
    else grouped.set(key, [id]);
  }
  for (const ids of grouped.values()) ids.sort();
  return grouped;
}
