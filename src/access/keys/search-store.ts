import type { PageRequest } from '#storage/collection.ts';
import { problem as storageProblem } from '#storage/database-errors.ts';
import type { Records } from '#storage/records.ts';
import { buildKeyConditions, type KeyListFilter, selectCallers } from './filter-store.ts';
import type { KeyIdIndexes } from './id-index-store.ts';
import { buildKeyTest } from './index-filter-store.ts';
import type { KeyRow } from './key-row.ts';
import { type KeyIdRow, scanBatches, scanBatchSize, scanKeys } from './scan-store.ts';

/** Key listing and search. Lists use an index of the database; searches and filters the index in memory. */

export interface KeyPageQuery extends PageRequest, KeyListFilter {
  /** Substring of the key id. */
  readonly q?: string | undefined;
}

export interface KeyRowPage {
  rows: KeyRow[];
  pages: number;
  total: number;
}

/** Bound of a list without pages. */
const maxListedKeys = 100_000;
export const selectKeyRows = (records: Records) =>
  records.db.selectFrom('keys').select(['id', 'org_id', 'kind', 'digest', 'key_hash', 'sealed', 'body']);

/** Changed APIs and policies. */
export interface ConcernedObjects {
  readonly apiIds: readonly string[];
  readonly policyIds: readonly string[];
}

const maxIdsPerCount = 500;

/** Number of keys that may call one of the APIs or have one of the policies, up to the bound of a list. */
export async function countConcernedKeys(
  records: Records,
  orgId: string,
  { apiIds, policyIds }: ConcernedObjects,
): Promise<number> {
  const keys = new Set<string>();
  const collect = async (ids: readonly string[], select: (some: readonly string[]) => ConcernedQuery) => {
    for (let at = 0; at < ids.length && keys.size < maxListedKeys; at += maxIdsPerCount)
      for (const { key } of await select(ids.slice(at, at + maxIdsPerCount)).execute()) keys.add(key);
  };
  await collect(apiIds, some => selectCallers(records, orgId, some).limit(maxListedKeys));
  await collect(policyIds, some =>
    records.db
      .selectFrom('key_policies')
      .select('key')
      .where('org_id', '=', orgId)
      .where('policy_id', 'in', some)
      .limit(maxListedKeys),
  );
  return Math.min(keys.size, maxListedKeys);
}

interface ConcernedQuery {
  execute(): Promise<{ readonly key: string }[]>;
}

/** Queries of a page without search in ids. */
export function buildListQueries(records: Records, orgId: string, filter: KeyListFilter = {}) {
  const conditions = buildKeyConditions(records, orgId, filter);
  const rows = selectKeyRows(records)
    .where('org_id', '=', orgId)
    .where(it => it.and(conditions.map(condition => condition(it))));
  const counted = records.db
    .selectFrom('keys')
    .select(it => it.fn.countAll<number>().as('total'))
    .where('org_id', '=', orgId)
    .where(it => it.and(conditions.map(condition => condition(it))));
  return { rows: rows.orderBy('created_at', 'desc').orderBy('id', 'desc'), counted };
}

const countPages = (total: number, { page, size }: PageRequest) =>
  page < 1 ? 1 : Math.max(1, Math.ceil(total / size));

const toLimitOffset = ({ page, size }: PageRequest) =>
  page < 1 ? { limit: maxListedKeys + 1, offset: 0 } : { limit: size, offset: (page - 1) * size };

function refuseTooMany(count: number): void {
  if (count > maxListedKeys) throw storageProblem.too_many({ detail: { maxItems: maxListedKeys } });
}

export async function listKeys(records: Records, orgId: string, query: KeyPageQuery): Promise<KeyRowPage> {
  const { rows, counted } = buildListQueries(records, orgId, query);
  const total = Number((await counted.executeTakeFirstOrThrow()).total);
  const { limit, offset } = toLimitOffset(query);
  if (query.page < 1) refuseTooMany(total);
  return { rows: await rows.limit(limit).offset(offset).execute(), pages: countPages(total, query), total };
}

/** Tells whether an id contains the text; an id that cannot be read is reported, or an error. */
type MatchesId = (row: Pick<KeyRow, 'sealed' | 'key_hash'>, text: string) => boolean;

/**
 * Search in ids, which are encrypted, and filters: by the index in memory. Where the keys do not fit into it, the
 * database filters them, and a scan opens their ids.
 */
export async function searchKeys(
  records: Records,
  indexes: KeyIdIndexes,
  orgId: string,
  query: KeyPageQuery,
  matches: MatchesId,
): Promise<KeyRowPage> {
  const { q: text = '' } = query;
  const isSelected = await buildKeyTest(records, orgId, query);
  const candidates = await indexes.search(orgId, index =>
    index.find(key => isSelected(key) && (key.keyId?.includes(text) ?? true)),
  );
  if (!candidates) return text ? scanForId(records, orgId, query, matches) : listKeys(records, orgId, query);
  const found = candidates.filter(
    ({ keyId, sealed, keyHash }) => !text || keyId !== undefined || matches({ sealed, key_hash: keyHash }, text),
  );
  if (query.page < 1) refuseTooMany(found.length);
  const { limit, offset } = toLimitOffset(query);
  const ids = found.slice(offset, offset + limit).map(({ rowId }) => rowId);
  return { rows: await fetchRowsById(records, ids), pages: countPages(found.length, query), total: found.length };
}

/**
 * Scan: every key of the organisation is read in index order, without its body, and its id opened. Memory stays at one
 * batch and one page; time grows with the number of keys, about a second for each hundred thousand, because the page
 * count needs them all. Other callers are served between two batches.
 */
async function scanForId(
  records: Records,
  orgId: string,
  query: KeyPageQuery,
  matches: MatchesId,
): Promise<KeyRowPage> {
  const { limit, offset } = toLimitOffset(query);
  const ids: string[] = [];
  let total = 0;
  for await (const rows of scanKeys(records, orgId, query)) {
    for (const row of rows) {
      if (!matches(row, query.q ?? '')) continue;
      if (total >= offset && ids.length < limit) ids.push(row.id);
      total++;
    }
    if (query.page < 1) refuseTooMany(total);
  }
  return { rows: await fetchRowsById(records, ids), pages: countPages(total, query), total };
}

export interface KeyFilter {
  /** Undefined means every organisation. */
  readonly orgId?: string | undefined;
  readonly apiId?: string | undefined;
}

/** Matching keys without bodies, newest first, excluding organisation limits. */
export async function filterKeys(
  records: Records,
  { orgId, apiId }: KeyFilter,
  matches: (row: KeyIdRow) => boolean,
): Promise<KeyIdRow[]> {
  const batches =
    orgId === undefined
      ? scanBatches<KeyIdRow>(last => buildGlobalScan(records, apiId, last).execute())
      : scanKeys(records, orgId, { apiId });
  const matching: KeyIdRow[] = [];
  for await (const rows of batches) {
    matching.push(...rows.filter(row => !row.id.startsWith(organisationPrefix) && matches(row)));
    refuseTooMany(matching.length);
  }
  return matching;
}

/** Scan by primary key: row ids begin with the creation time. */
function buildGlobalScan(records: Records, apiId: string | undefined, last?: Pick<KeyRow, 'id'>) {
  const query = records.db
    .selectFrom('keys')
    .select(['id', 'sealed', 'key_hash'])
    .where('id', '<', last?.id ?? organisationPrefix)
    .orderBy('id', 'desc')
    .limit(scanBatchSize);
  return apiId === undefined ? query : query.where('id', 'in', selectCallers(records, undefined, [apiId]));
}

async function fetchRowsById(records: Records, ids: readonly string[]): Promise<KeyRow[]> {
  const byId = new Map<string, KeyRow>();
  for (let at = 0; at < ids.length; at += scanBatchSize) {
    const rows = await selectKeyRows(records)
      .where('id', 'in', ids.slice(at, at + scanBatchSize))
      .execute();
    for (const row of rows) byId.set(row.id, row);
  }
  return ids.flatMap(id => byId.get(id) ?? []);
}

/** Row id prefix of organisation limits: a primary-key range scan lists them among any number of keys. */
const organisationPrefix = 'org.';
const afterPrefix = 'org/';
export const organisationRowId = (rowId: string): string => organisationPrefix + rowId;

export async function listOrganisationKeyRows(records: Records, query: PageRequest): Promise<KeyRowPage> {
  const countQuery = records.db
    .selectFrom('keys')
    .select(it => it.fn.countAll<number>().as('total'))
    .where('id', '>=', organisationPrefix)
    .where('id', '<', afterPrefix);
  const total = Number((await countQuery.executeTakeFirstOrThrow()).total);
  if (query.page < 1) refuseTooMany(total);
  const { limit, offset } = toLimitOffset(query);
  const rows = await selectKeyRows(records)
    .where('id', '>=', organisationPrefix)
    .where('id', '<', afterPrefix)
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows, pages: countPages(total, query), total };
}
