import { hasListedMember, selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import type { KeyListFilter } from './filter-store.ts';
import type { IndexedKey } from './key-id-index.ts';

/**
 * Filters of key lists on the index in memory: the conditions of `filter-store.ts`, without a join over all keys. The
 * database is queried for policies and tags alone.
 */
type KeyTest = (key: IndexedKey) => boolean;

/** True where the filter leaves keys out. */
export const hasKeyFilter = ({ hiddenApis = [], ...filter }: KeyListFilter): boolean =>
  hiddenApis.length > 0 || filterMembers.some(name => filter[name] !== undefined && filter[name] !== '');
const filterMembers = ['apiId', 'policyId', 'text', 'kind', 'state', 'expiresBefore'] as const;

/** Test of a filter, with the policies as they are now. */
export async function buildKeyTest(records: Records, orgId: string, filter: KeyListFilter): Promise<KeyTest> {
  const { apiId, hiddenApis = [], policyId, text, kind, state, expiresBefore, tag, nowMs = 0 } = filter;
  const tests: KeyTest[] = [];
  if (kind) tests.push(key => key.kind === kind);
  if (expiresBefore !== undefined) tests.push(({ expiresAt }) => expiresAt > 0 && expiresAt < expiresBefore);
  if (state) tests.push(await buildStateTest(records, orgId, state, nowMs));
  if (tag !== undefined) tests.push(await buildTagTest(records, orgId, tag));
  if (policyId !== undefined) tests.push(buildListTest('policyIds', id => id === policyId));
  if (apiId !== undefined) tests.push(await buildGrantTest(records, orgId, apiId));
  if (hiddenApis.length > 0) tests.push(await buildVisibilityTest(records, orgId, hiddenApis));
  if (text) {
    const folded = text.toLowerCase();
    tests.push(({ names }) => names?.includes(folded) ?? false);
  }
  const [only] = tests;
  return tests.length === 1 ? only! : key => tests.every(test => test(key));
}

/** The index has no tags: the database finds the keys of one. */
async function buildTagTest(records: Records, orgId: string, tag: string): Promise<KeyTest> {
  const rows = await records.db
    .selectFrom('keys')
    .select('id')
    .where('org_id', '=', orgId)
    .where(hasListedMember(records, 'body', 'tags', tag))
    .execute();
  const ids = new Set(rows.map(({ id }) => id));
  return ({ rowId }) => ids.has(rowId);
}

type ListColumn = 'apiIds' | 'policyIds';

/** One result for each list, the bits of its ids together: many keys share a list. */
function buildListBits(column: ListColumn, bitsOf: (id: string) => number): (key: IndexedKey) => number {
  const known = new Map<readonly string[], number>();
  return ({ [column]: ids }) => {
    if (ids.length === 0) return 0;
    let bits = known.get(ids);
    if (bits !== undefined) return bits;
    bits = 0;
    for (const id of ids) bits |= bitsOf(id);
    known.set(ids, bits);
    return bits;
  };
}

function buildListTest(column: ListColumn, matches: (id: string) => boolean): KeyTest {
  const readBits = buildListBits(column, id => (matches(id) ? 1 : 0));
  return key => readBits(key) !== 0;
}

/** Public ids of the policies that grant any of these APIs (`in`), or any other API (`not in`). */
async function listGrantingPolicies(
  records: Records,
  orgId: string,
  apiIds: readonly string[],
  operator: 'in' | 'not in' = 'in',
): Promise<ReadonlySet<string>> {
  const rows = await records.db
    .selectFrom('policy_apis')
    .innerJoin('policies', 'policies.id', 'policy_apis.policy')
    .select('policies.policy_id')
    .distinct()
    .where('policy_apis.org_id', '=', orgId)
    .where('policies.org_id', '=', orgId)
    .where('policy_apis.api_id', operator, selectListed(records, apiIds))
    .execute();
  return new Set(rows.map(({ policy_id }) => policy_id));
}

/** Keys that may call the API, directly or through a policy. */
async function buildGrantTest(records: Records, orgId: string, apiId: string): Promise<KeyTest> {
  const policies = await listGrantingPolicies(records, orgId, [apiId]);
  const isDirect = buildListTest('apiIds', id => id === apiId);
  const isGranted = buildListTest('policyIds', id => policies.has(id));
  return key => isDirect(key) || isGranted(key);
}

const hiddenBit = 1;
const visibleBit = 2;

/** Leaves out keys whose APIs, directly or through policies, are all hidden. */
async function buildVisibilityTest(records: Records, orgId: string, apiIds: readonly string[]): Promise<KeyTest> {
  const hidden = new Set(apiIds);
  const grantingHidden = await listGrantingPolicies(records, orgId, apiIds);
  const grantingOthers = await listGrantingPolicies(records, orgId, apiIds, 'not in');
  const ownBits = buildListBits('apiIds', id => (hidden.has(id) ? hiddenBit : visibleBit));
  const policyBits = buildListBits(
    'policyIds',
    id => (grantingHidden.has(id) ? hiddenBit : 0) | (grantingOthers.has(id) ? visibleBit : 0),
  );
  return key => (ownBits(key) | policyBits(key)) !== hiddenBit;
}

/** As the gateway decides: a key expires after its second; policies, where there are any, decide whether it is inactive. */
async function buildStateTest(
  records: Records,
  orgId: string,
  state: NonNullable<KeyListFilter['state']>,
  nowMs: number,
): Promise<KeyTest> {
  const nowSeconds = Math.ceil(nowMs / 1000);
  const isExpired: KeyTest = ({ expiresAt }) => expiresAt > 0 && expiresAt < nowSeconds;
  if (state === 'expired') return isExpired;
  const rows = await records.db
    .selectFrom('policies')
    .select('policy_id')
    .where('org_id', '=', orgId)
    .where('state', '=', 'deny')
    .execute();
  const denied = new Set(rows.map(({ policy_id }) => policy_id));
  const isDenied = buildListTest('policyIds', id => denied.has(id));
  const isInactive: KeyTest = key => (key.policyIds.length > 0 ? isDenied(key) : key.isInactive);
  return key => !isExpired(key) && isInactive(key) === (state === 'inactive');
}
