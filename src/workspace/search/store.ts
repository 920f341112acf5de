import { type SqlBool, sql } from 'kysely';
import { columnContains, toContainsPattern } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { SearchKind } from '#storage/search-names.ts';

export type SearchStore = ReturnType<typeof createSearchStore>;

export interface SearchMatch {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
}

/** Match before it is described: the row that its index names. */
export interface SearchCandidate {
  readonly rowId: string;
  /** Set where the index holds what a result shows. */
  readonly match?: SearchMatch;
}

/** Candidates of a kind in the order of their names, batch after batch. */
export type CandidateBatches = AsyncGenerator<readonly SearchCandidate[]>;

/** Rows of the first query, and of the largest: a caller who sees few of the candidates needs many. */
const firstBatchRows = 20;
const maxBatchRows = 500;
const batchGrowth = 5;

/**
 * Search by name. Each query reads one covering index of one organisation, never a body: the work is bounded by the
 * number of names of a kind, and ends with the first rows that suffice.
 */
export const createSearchStore = (records: Records) => ({
  /** Objects of the search index. */
  findByName: (kind: SearchKind, orgId: string, text: string): CandidateBatches =>
    findIndexed(records, kind, orgId, text),
  /** MCP proxies, or the other APIs. */
  findApis: (orgId: string, text: string, isMcp: boolean): CandidateBatches => findApis(records, orgId, text, isMcp),
  findPolicies: (orgId: string, text: string): CandidateBatches => findPolicies(records, orgId, text),
  describeApis: (rowIds: readonly string[]) => describeApis(records, rowIds),
  describePolicies: (rowIds: readonly string[]) => describePolicies(records, rowIds),
  describeOauthClients: (rowIds: readonly string[]) => describeOauthClients(records, rowIds),
  listApisOfPolicies: (rowIds: readonly string[]) => listApisOfPolicies(records, rowIds),
  listApisOfKeys: (rowIds: readonly string[]) => listApisOfKeys(records, rowIds),
});

/** Keyset pagination: `read` continues after the last row of the batch before. */
async function* readBatches<Row>(read: (limit: number, last: Row | undefined) => Promise<Row[]>) {
  let last: Row | undefined;
  for (let limit = firstBatchRows; ; limit = Math.min(limit * batchGrowth, maxBatchRows)) {
    const rows = await read(limit, last);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}

async function* findIndexed(records: Records, kind: SearchKind, orgId: string, text: string): CandidateBatches {
  const batches = readBatches<{ text: string; object: string; label: string; detail: string }>((limit, last) => {
    const query = records.db
      .selectFrom('search_names')
      .select(['text', 'object', 'label', 'detail'])
      .where('org_id', '=', orgId)
      .where('kind', '=', kind)
      .where(columnContains('text', text.toLowerCase()))
      .orderBy('text')
      .orderBy('object')
      .limit(limit);
    return (last ? query.where(sql<SqlBool>`(text, object) > (${last.text}, ${last.object})`) : query).execute();
  });
  for await (const rows of batches)
    yield rows.map(({ object, label, detail }) => ({
      rowId: object,
      match: { id: object, name: label, detail },
    }));
}

/** By a part of the name, or by either id. */
async function* findApis(records: Records, orgId: string, text: string, isMcp: boolean): CandidateBatches {
  const select = () =>
    records.db
      .selectFrom('apis')
      .select('id')
      .where('org_id', '=', orgId)
      .where('kind', isMcp ? '=' : '<>', 'mcp');
  const byId = [
    ...(await select().where('api_id', '=', text).execute()),
    ...(await select().where('id', '=', text).execute()),
  ];
  if (byId.length > 0) yield byId.map(({ id }) => ({ rowId: id }));
  const batches = readBatches<{ id: string; name_fold: string }>((limit, last) => {
    const query = select()
      .select('name_fold')
      .where(columnContains('name_fold', text.toLowerCase()))
      .orderBy('name_fold')
      .orderBy('id')
      .limit(limit);
    return (last ? query.where(sql<SqlBool>`(name_fold, id) > (${last.name_fold}, ${last.id})`) : query).execute();
  });
  for await (const rows of batches)
    yield rows.filter(({ id }) => !byId.some(row => row.id === id)).map(({ id }) => ({ rowId: id }));
}

async function describeApis(records: Records, rowIds: readonly string[]): Promise<SearchMatch[]> {
  const rows = await records.db
    .selectFrom('apis')
    .select(['id', 'api_id', 'name', 'listen_path'])
    .where('id', 'in', rowIds)
    .execute();
  return sortByIds(rowIds, rows).map(row => ({ id: row.api_id, name: row.name, detail: row.listen_path }));
}

/** Rows in the order of their ids; one deleted meanwhile is left out. */
function sortByIds<Row extends { readonly id: string }>(ids: readonly string[], rows: readonly Row[]): Row[] {
  const byId = new Map(rows.map(row => [row.id, row]));
  return ids.flatMap(id => byId.get(id) ?? []);
}

interface PolicyName {
  readonly id: string;
  readonly policy_id: string;
  readonly name_fold: string;
}

/** By a part of the name or of the public id. */
async function* findPolicies(records: Records, orgId: string, text: string): CandidateBatches {
  const pattern = toContainsPattern(text.toLowerCase());
  const isMatch = sql<SqlBool>`(name_fold like ${pattern} escape '\\' or lower(policy_id) like ${pattern} escape '\\'
    or id = ${text})`;
  const batches = readBatches<PolicyName>((limit, last) => {
    const query = records.db
      .selectFrom('policies')
      .select(['id', 'policy_id', 'name_fold'])
      .where('org_id', '=', orgId)
      .where(isMatch)
      .orderBy('name_fold')
      .orderBy('policy_id')
      .orderBy('id')
      .limit(limit);
    if (!last) return query.execute();
    const { name_fold, policy_id, id } = last;
    return query.where(sql<SqlBool>`(name_fold, policy_id, id) > (${name_fold}, ${policy_id}, ${id})`).execute();
  });
  for await (const rows of batches) yield rows.map(({ id }) => ({ rowId: id }));
}

async function describePolicies(records: Records, rowIds: readonly string[]): Promise<SearchMatch[]> {
  const rows = await records.db
    .selectFrom('policies')
    .select(['id', 'policy_id', 'name', 'state'])
    .where('id', 'in', rowIds)
    .execute();
  return sortByIds(rowIds, rows).map(row => ({ id: row.policy_id, name: row.name, detail: row.state }));
}

/** The detail is the API: operations on a client name both. */
async function describeOauthClients(records: Records, rowIds: readonly string[]): Promise<SearchMatch[]> {
  const rows = await records.db
    .selectFrom('oauth_clients')
    .innerJoin('search_names', join =>
      join.onRef('search_names.object', '=', 'oauth_clients.id').on('search_names.kind', '=', 'oauth_clients'),
    )
    .select(['oauth_clients.id', 'client_id', 'api_id', 'label'])
    .where('oauth_clients.id', 'in', rowIds)
    .execute();
  return sortByIds(rowIds, rows).map(row => ({ id: row.client_id, name: row.label, detail: row.api_id }));
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
