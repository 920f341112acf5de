import { type SqlBool, sql } from 'kysely';
import { columnContains, toContainsPattern } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { SearchKind } from '#storage/search-names.ts';

export type SearchStore = ReturnType<typeof createSearchStore>;

export interface SearchMatch {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  /** Row by which the APIs of a match are found, where it differs from `id`. */
  readonly rowId: string;
}

/** Candidates of a kind in the order of their names, batch after batch. */
export type MatchBatches = AsyncGenerator<readonly SearchMatch[]>;

/** Rows of one query. */
const batchRows = 50;

/**
 * Search by name. Each query reads one covering index of one organisation, never a body: the work is bounded by the
 * number of names of a kind, and ends with the first rows that suffice.
 */
export const createSearchStore = (records: Records) => ({
  /** Objects of the search index. */
  findByName: (kind: SearchKind, orgId: string, text: string): MatchBatches => findIndexed(records, kind, orgId, text),
  findApis: (orgId: string, text: string): MatchBatches => findApis(records, orgId, text),
  findPolicies: (orgId: string, text: string): MatchBatches => findPolicies(records, orgId, text),
  listApisOfPolicies: (rowIds: readonly string[]) => listApisOfPolicies(records, rowIds),
  listApisOfKeys: (rowIds: readonly string[]) => listApisOfKeys(records, rowIds),
});

/** Keyset pagination: `read` continues after the last row of the batch before. */
async function* readBatches<Row>(read: (last: Row | undefined) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let last: Row | undefined; ; ) {
    const rows = await read(last);
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) return;
    last = rows.at(-1);
  }
}

async function* findIndexed(records: Records, kind: SearchKind, orgId: string, text: string): MatchBatches {
  const batches = readBatches<{ text: string; object: string; label: string; detail: string }>(last => {
    const query = records.db
      .selectFrom('search_names')
      .select(['text', 'object', 'label', 'detail'])
      .where('org_id', '=', orgId)
      .where('kind', '=', kind)
      .where(columnContains('text', text.toLowerCase()))
      .orderBy('text')
      .orderBy('object')
      .limit(batchRows);
    return (last ? query.where(sql<SqlBool>`(text, object) > (${last.text}, ${last.object})`) : query).execute();
  });
  for await (const rows of batches)
    yield rows.map(({ object, label, detail }) => ({ id: object, rowId: object, name: label, detail }));
}

/** By a part of the name, or by either id. */
async function* findApis(records: Records, orgId: string, text: string): MatchBatches {
  const select = () =>
    records.db.selectFrom('apis').select(['id', 'api_id', 'name', 'listen_path']).where('org_id', '=', orgId);
  const toMatch = (row: { id: string; api_id: string; name: string; listen_path: string }): SearchMatch => ({
    id: row.api_id,
    rowId: row.id,
    name: row.name,
    detail: row.listen_path,
  });
  const byId = [
    ...(await select().where('api_id', '=', text).execute()),
    ...(await select().where('id', '=', text).execute()),
  ];
  if (byId.length > 0) yield byId.map(toMatch);
  const batches = readBatches<{ id: string; name_fold: string }>(last => {
    const query = records.db
      .selectFrom('apis')
      .select(['id', 'name_fold'])
      .where('org_id', '=', orgId)
      .where(columnContains('name_fold', text.toLowerCase()))
      .orderBy('name_fold')
      .orderBy('id')
      .limit(batchRows);
    return (last ? query.where(sql<SqlBool>`(name_fold, id) > (${last.name_fold}, ${last.id})`) : query).execute();
  });
  for await (const found of batches) {
    // The index has the folded name only.
    const ids = found.map(({ id }) => id).filter(id => !byId.some(row => row.id === id));
    if (ids.length === 0) continue;
    const rows = new Map((await select().where('id', 'in', ids).execute()).map(row => [row.id, row]));
    yield ids.flatMap(id => rows.get(id) ?? []).map(toMatch);
  }
}

interface PolicyName {
  readonly id: string;
  readonly policy_id: string;
  readonly name_fold: string;
}

/** By a part of the name or of the public id. */
async function* findPolicies(records: Records, orgId: string, text: string): MatchBatches {
  const pattern = toContainsPattern(text.toLowerCase());
  const isMatch = sql<SqlBool>`(name_fold like ${pattern} escape '\\' or lower(policy_id) like ${pattern} escape '\\'
    or id = ${text})`;
  const batches = readBatches<PolicyName>(last => {
    const query = records.db
      .selectFrom('policies')
      .select(['id', 'policy_id', 'name_fold'])
      .where('org_id', '=', orgId)
      .where(isMatch)
      .orderBy('name_fold')
      .orderBy('policy_id')
      .orderBy('id')
      .limit(batchRows);
    if (!last) return query.execute();
    const { name_fold, policy_id, id } = last;
    return query.where(sql<SqlBool>`(name_fold, policy_id, id) > (${name_fold}, ${policy_id}, ${id})`).execute();
  });
  for await (const found of batches) {
    const rows = await records.db
      .selectFrom('policies')
      .select(['id', 'name', 'state'])
      .where(
        'id',
        'in',
        found.map(({ id }) => id),
      )
      .execute();
    const byId = new Map(rows.map(row => [row.id, row]));
    yield found.flatMap(({ id, policy_id }) => {
      const row = byId.get(id);
      return row ? [{ id: policy_id, rowId: id, name: row.name, detail: row.state }] : [];
    });
  }
}

/** Row id to the public ids of the APIs that it grants. */
export type GrantedApis = ReadonlyMap<string, readonly string[]>;

function groupApis(rows: readonly { row: string; api_id: string }[]): GrantedApis {
  const grouped = new Map<string, string[]>();
  for (const { row, api_id } of rows) {
    const apis = grouped.get(row);
    if (apis) apis.push(api_id);
    else grouped.set(row, [api_id]);
  }
  return grouped;
}

async function listApisOfPolicies(records: Records, rowIds: readonly string[]): Promise<GrantedApis> {
  const rows = await records.db
    .selectFrom('policy_apis')
    .select(['policy as row', 'api_id'])
    .where('policy', 'in', rowIds)
    .execute();
  return groupApis(rows);
}

/** By their own rights and through their policies. */
async function listApisOfKeys(records: Records, rowIds: readonly string[]): Promise<GrantedApis> {
  const own = await records.db
    .selectFrom('key_apis')
    .select(['key as row', 'api_id'])
    .where('key', 'in', rowIds)
    .execute();
  const throughPolicies = await records.db
    .selectFrom('key_policies')
    .innerJoin('policies', join =>
      join
        .onRef('policies.org_id', '=', 'key_policies.org_id')
        .onRef('policies.policy_id', '=', 'key_policies.policy_id'),
    )
    .innerJoin('policy_apis', 'policy_apis.policy', 'policies.id')
    .select(['key_policies.key as row', 'policy_apis.api_id'])
    .where('key_policies.key', 'in', rowIds)
    .execute();
  return groupApis([...own, ...throughPolicies]);
}
