import { setImmediate } from 'node:timers/promises';
import { type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '#storage/collection.ts';
import { problem as storageProblem } from '#storage/database-errors.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import type { KeyPageAsked, KeyRow } from './store.ts';

/** Pages of keys. Everything is answered from an index, except the search inside ids, which are encrypted. */

export interface KeyRows {
  rows: KeyRow[];
  pages: number;
  total: number;
}

/** A bound on what "everything" means, so that one call cannot fill the memory. */
const everythingAtMost = 100_000;
/** Ids a search decrypts between two turns of the event loop. */
const idsAtOnce = 1000;

export const keyRows = (records: Records) =>
  records.db.selectFrom('keys').select(['id', 'org_id', 'kind', 'digest', 'key_hash', 'sealed', 'body']);

/** Keys that may call any of these APIs, or any but these: by their own rights or through a policy. */
function callersOf(
  records: Records,
  orgId: string | undefined,
  apiIds: readonly string[],
  some: 'in' | 'not in' = 'in',
) {
  const own = records.db.selectFrom('key_apis').select('key').where('api_id', some, apiIds);
  const governed = records.db
    .selectFrom('policy_apis')
    .innerJoin('policies', 'policies.id', 'policy_apis.policy')
    .innerJoin('key_policies', join =>
      join
        .onRef('key_policies.org_id', '=', 'policy_apis.org_id')
        .onRef('key_policies.policy_id', '=', 'policies.policy_id'),
    )
    .select('key_policies.key')
    .where('policy_apis.api_id', some, apiIds);
  if (orgId === undefined) return own.union(governed);
  return own.where('org_id', '=', orgId).union(governed.where('policy_apis.org_id', '=', orgId));
}

/** The queries behind a page without a search text. */
export function listQueries(records: Records, orgId: string, apiId?: string, hiddenApis: readonly string[] = []) {
  const all = keyRows(records).where('org_id', '=', orgId).orderBy('created_at', 'desc').orderBy('id', 'desc');
  const counted = records.db
    .selectFrom('keys')
    .select(it => it.fn.countAll<number>().as('total'))
    .where('org_id', '=', orgId);
  const isVisible = visibleKeys(records, orgId, hiddenApis);
  const visible = isVisible
    ? { rows: all.where(isVisible), counted: counted.where(isVisible) }
    : { rows: all, counted };
  if (apiId === undefined) return visible;
  const callers = callersOf(records, orgId, [apiId]);
  return { rows: visible.rows.where('id', 'in', callers), counted: visible.counted.where('id', 'in', callers) };
}

/** Leaves out keys that may call hidden APIs alone. */
function visibleKeys(records: Records, orgId: string, hiddenApis: readonly string[]) {
  if (hiddenApis.length === 0) return undefined;
  const hidden = callersOf(records, orgId, hiddenApis);
  const others = callersOf(records, orgId, hiddenApis, 'not in');
  return (it: ExpressionBuilder<Tables, 'keys'>) => it.or([it('id', 'not in', hidden), it('id', 'in', others)]);
}

const pagesOf = (total: number, { page, size }: PageRequest) => (page < 1 ? 1 : Math.max(1, Math.ceil(total / size)));

const limited = ({ page, size }: PageRequest) =>
  page < 1 ? { limit: everythingAtMost + 1, offset: 0 } : { limit: size, offset: (page - 1) * size };

function refuseTooMany(count: number): void {
  if (count > everythingAtMost) throw storageProblem.too_many({ detail: { most: everythingAtMost } });
}

export async function listKeys(records: Records, orgId: string, asked: KeyPageAsked): Promise<KeyRows> {
  const { rows, counted } = listQueries(records, orgId, asked.apiId, asked.hiddenApis);
  const total = Number((await counted.executeTakeFirstOrThrow()).total);
  const { limit, offset } = limited(asked);
  if (asked.page < 1) refuseTooMany(total);
  return { rows: await rows.limit(limit).offset(offset).execute(), pages: pagesOf(total, asked), total };
}

/**
 * Ids are encrypted, so a text inside them cannot be asked of the database: every key of the organisation is walked in
 * index order, without its body, and its id opened. Memory stays at one step of the walk and one page; time grows with
 * the number of keys, about a second for each hundred thousand, because the page count needs them all. Other callers
 * are served between two steps.
 */
export async function foundKeys(
  records: Records,
  orgId: string,
  asked: KeyPageAsked,
  matches: (row: Pick<KeyRow, 'sealed' | 'key_hash'>, text: string) => boolean,
): Promise<KeyRows> {
  const { limit, offset } = limited(asked);
  const found: string[] = [];
  let total = 0;
  for await (const rows of walked<Step>(last => stepQuery(records, orgId, asked, last).execute())) {
    for (const row of rows) {
      if (!matches(row, asked.q ?? '')) continue;
      if (total >= offset && found.length < limit) found.push(row.id);
      total++;
    }
    if (asked.page < 1) refuseTooMany(total);
  }
  return { rows: await rowsById(records, found), pages: pagesOf(total, asked), total };
}

type NamedRow = Pick<KeyRow, 'id' | 'sealed' | 'key_hash'>;
type Step = NamedRow & { readonly created_at: number };

/** All keys in order, a step at a time. */
async function* walked<Row>(step: (last?: Row) => Promise<Row[]>) {
  let rows = await step();
  while (rows.length > 0) {
    yield rows;
    if (rows.length < idsAtOnce) return;
    await setImmediate();
    rows = await step(rows.at(-1));
  }
}

export interface KeysAsked {
  /** Keys of every organisation where none is named. */
  readonly orgId?: string | undefined;
  readonly apiId?: string | undefined;
}

/** Keys without their bodies, newest first, of those that match; the limits of organisations are no keys. */
export async function namedKeys(
  records: Records,
  { orgId, apiId }: KeysAsked,
  matches: (row: NamedRow) => boolean,
): Promise<NamedRow[]> {
  const steps =
    orgId === undefined
      ? walked<NamedRow>(last => everyStep(records, apiId, last).execute())
      : walked<Step>(last => stepQuery(records, orgId, { apiId }, last).execute());
  const found: NamedRow[] = [];
  for await (const rows of steps) {
    found.push(...rows.filter(row => !row.id.startsWith(organisationPrefix) && matches(row)));
    refuseTooMany(found.length);
  }
  return found;
}

/** The ids of rows begin with the time they were made, so that the primary key has all of them in order. */
function everyStep(records: Records, apiId: string | undefined, last?: Pick<KeyRow, 'id'>) {
  const query = records.db
    .selectFrom('keys')
    .select(['id', 'sealed', 'key_hash'])
    .where('id', '<', last?.id ?? organisationPrefix)
    .orderBy('id', 'desc')
    .limit(idsAtOnce);
  return apiId === undefined ? query : query.where('id', 'in', callersOf(records, undefined, [apiId]));
}

/** The keys that follow the last one of the step before. */
export function stepQuery(
  records: Records,
  orgId: string,
  { apiId, hiddenApis = [] }: Pick<KeyPageAsked, 'apiId' | 'hiddenApis'> = {},
  last?: { readonly created_at: number; readonly id: string },
) {
  let query = records.db
    .selectFrom('keys')
    .select(['id', 'created_at', 'sealed', 'key_hash'])
    .where('org_id', '=', orgId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(idsAtOnce);
  const isVisible = visibleKeys(records, orgId, hiddenApis);
  if (isVisible) query = query.where(isVisible);
  if (apiId !== undefined) query = query.where('id', 'in', callersOf(records, orgId, [apiId]));
  return last ? query.where(sql<SqlBool>`(created_at, id) < (${last.created_at}, ${last.id})`) : query;
}

async function rowsById(records: Records, ids: readonly string[]): Promise<KeyRow[]> {
  const byId = new Map<string, KeyRow>();
  for (let at = 0; at < ids.length; at += idsAtOnce) {
    const rows = await keyRows(records)
      .where('id', 'in', ids.slice(at, at + idsAtOnce))
      .execute();
    for (const row of rows) byId.set(row.id, row);
  }
  return ids.flatMap(id => byId.get(id) ?? []);
}

/** Organisations' own limits have row ids of their own form: the primary key lists them among any number of keys. */
const organisationPrefix = 'org.';
const afterPrefix = 'org/';
export const organisationRowId = (rowId: string): string => organisationPrefix + rowId;

export async function organisationRows(records: Records, asked: PageRequest): Promise<KeyRows> {
  const counted = records.db
    .selectFrom('keys')
    .select(it => it.fn.countAll<number>().as('total'))
    .where('id', '>=', organisationPrefix)
    .where('id', '<', afterPrefix);
  const total = Number((await counted.executeTakeFirstOrThrow()).total);
  if (asked.page < 1) refuseTooMany(total);
  const { limit, offset } = limited(asked);
  const rows = await keyRows(records)
    .where('id', '>=', organisationPrefix)
    .where('id', '<', afterPrefix)
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows, pages: pagesOf(total, asked), total };
}
