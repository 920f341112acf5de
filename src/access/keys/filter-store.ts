import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { columnContains } from '#storage/collection.ts';
import { hasListedMember, selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';

/** Filters of key lists as conditions of the database, and counts of keys by policy and API. */

export interface KeyListFilter {
  /** Keys that may call this API, directly or through a policy. */
  readonly apiId?: string | undefined;
  /** Excludes keys whose APIs are all in this list. */
  readonly hiddenApis?: readonly string[] | undefined;
  /** Keys that have this policy, by its public id. */
  readonly policyId?: string | undefined;
  /** Part of the alias, user name or hash. */
  readonly text?: string | undefined;
  readonly kind?: 'token' | 'basic' | undefined;
  /** Requires `nowMs`. */
  readonly state?: 'active' | 'inactive' | 'expired' | undefined;
  /** Unix time in seconds. */
  readonly expiresBefore?: number | undefined;
  readonly tag?: string | undefined;
  readonly nowMs?: number | undefined;
}

/** Ids bound one by one; longer lists are one parameter. */
const maxBoundIds = 500;

const toIdList = (records: Records, ids: readonly string[]) =>
  ids.length > maxBoundIds ? selectListed(records, ids) : ids;

/** Keys that may call any of these APIs (`in`) or any other API (`not in`), directly or through a policy. */
export function selectCallers(
  records: Records,
  orgId: string | undefined,
  apiIds: readonly string[],
  operator: 'in' | 'not in' = 'in',
) {
  const own = records.db.selectFrom('key_apis').select('key').where('api_id', operator, toIdList(records, apiIds));
  const throughPolicies = records.db
    .selectFrom('policy_apis')
    .innerJoin('policies', 'policies.id', 'policy_apis.policy')
    .innerJoin('key_policies', join =>
      join
        .onRef('key_policies.org_id', '=', 'policy_apis.org_id')
        .onRef('key_policies.policy_id', '=', 'policies.policy_id'),
    )
    .select('key_policies.key')
    .where('policy_apis.api_id', operator, toIdList(records, apiIds));
  if (orgId === undefined) return own.union(throughPolicies);
  return own.where('org_id', '=', orgId).union(throughPolicies.where('policy_apis.org_id', '=', orgId));
}

type KeyCondition = (it: ExpressionBuilder<Tables, 'keys'>) => Expression<SqlBool>;

/** Conditions of a filter, in the organisation. */
export function buildKeyConditions(records: Records, orgId: string, filter: KeyListFilter): KeyCondition[] {
  const { apiId, hiddenApis = [], policyId, text, kind, state, expiresBefore, tag, nowMs = 0 } = filter;
  const conditions: KeyCondition[] = [];
  if (hiddenApis.length > 0) conditions.push(buildVisibilityFilter(records, orgId, hiddenApis));
  if (apiId !== undefined) conditions.push(it => it('id', 'in', selectCallers(records, orgId, [apiId])));
  if (policyId !== undefined)
    conditions.push(it => it('id', 'in', selectPolicyRows(records, orgId).where('policy_id', '=', policyId)));
  if (text) conditions.push(it => it('id', 'in', selectNamed(records, orgId, text)));
  if (kind) conditions.push(it => it('kind', '=', kind));
  if (expiresBefore !== undefined)
    conditions.push(it => it.and([it('expires_at', '>', 0), it('expires_at', '<', expiresBefore)]));
  if (tag !== undefined) conditions.push(() => hasListedMember(records, 'keys.body', 'tags', tag));
  if (state) conditions.push(buildStateFilter(records, orgId, state, nowMs));
  return conditions;
}

/** Filter that excludes keys whose APIs are all hidden. */
function buildVisibilityFilter(records: Records, orgId: string, hiddenApis: readonly string[]): KeyCondition {
  const hidden = selectCallers(records, orgId, hiddenApis);
  const others = selectCallers(records, orgId, hiddenApis, 'not in');
  return it => it.or([it('id', 'not in', hidden), it('id', 'in', others)]);
}

const selectPolicyRows = (records: Records, orgId: string) =>
  records.db.selectFrom('key_policies').select('key').where('org_id', '=', orgId);

/** The search index has alias, user name and hash of each key. */
const selectNamed = (records: Records, orgId: string, text: string) =>
  records.db
    .selectFrom('search_names')
    .select('object')
    .where('org_id', '=', orgId)
    .where('kind', '=', 'keys')
    .where(columnContains('text', text.toLowerCase()));

/** As the gateway decides: a key expires after its second; policies, where there are any, decide whether it is inactive. */
function buildStateFilter(
  records: Records,
  orgId: string,
  state: NonNullable<KeyListFilter['state']>,
  nowMs: number,
): KeyCondition {
  const denied = records.db
    .selectFrom('key_policies')
    .innerJoin('policies', join =>
      join
        .onRef('policies.org_id', '=', 'key_policies.org_id')
        .onRef('policies.policy_id', '=', 'key_policies.policy_id'),
    )
    .select('key_policies.key')
    .where('key_policies.org_id', '=', orgId)
    .where('policies.state', '=', 'deny');
  return it => {
    const isExpired = it.and([it('expires_at', '>', 0), it('expires_at', '<', Math.ceil(nowMs / 1000))]);
    if (state === 'expired') return isExpired;
    const isInactive = it.or([
      it('id', 'in', denied),
      it.and([it('inactive', '=', 1), it('id', 'not in', selectPolicyRows(records, orgId))]),
    ]);
    return it.and([it.not(isExpired), state === 'inactive' ? isInactive : it.not(isInactive)]);
  };
}

export interface CountedObjects {
  readonly hiddenApis: readonly string[];
  /** Public ids. */
  readonly policyIds: readonly string[];
  readonly apiIds: readonly string[];
}

export interface KeyCounts {
  readonly total: number;
  readonly policies: ReadonlyMap<string, number>;
  readonly apis: ReadonlyMap<string, number>;
}

/** Numbers of visible keys: of the organisation, of each policy, and of each API. */
export async function countKeysBy(
  records: Records,
  orgId: string,
  { hiddenApis, policyIds, apiIds }: CountedObjects,
): Promise<KeyCounts> {
  const conditions = buildKeyConditions(records, orgId, { hiddenApis });
  const visible = records.db
    .selectFrom('keys')
    .select('id')
    .where('org_id', '=', orgId)
    .where('kind', '!=', 'organisation')
    .where(it => it.and(conditions.map(condition => condition(it))));
  const total = await visible
    .clearSelect()
    .select(it => it.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const ofPolicies = records.db
    .selectFrom('key_policies')
    .select(['policy_id as id', it => it.fn.countAll<number>().as('total')])
    .where('org_id', '=', orgId)
    .where('policy_id', 'in', policyIds)
    .where('key', 'in', visible)
    .groupBy('policy_id');
  const ofApis = records.db
    .selectFrom(selectGrants(records, orgId, apiIds).as('grants'))
    .select(['grants.api_id as id', it => it.fn.countAll<number>().as('total')])
    .where('grants.key', 'in', visible)
    .groupBy('grants.api_id');
  return {
    total: Number(total.total),
    policies: policyIds.length > 0 ? toCountMap(await ofPolicies.execute()) : new Map(),
    apis: apiIds.length > 0 ? toCountMap(await ofApis.execute()) : new Map(),
  };
}

const toCountMap = (rows: readonly { readonly id: string; readonly total: number }[]) =>
  new Map(rows.map(({ id, total }) => [id, Number(total)]));

/** Pairs of an API and a key that may call it; a union has each pair once. */
const selectGrants = (records: Records, orgId: string, apiIds: readonly string[]) =>
  records.db
    .selectFrom('key_apis')
    .select(['api_id', 'key'])
    .where('org_id', '=', orgId)
    .where('api_id', 'in', apiIds)
    .union(
      records.db
        .selectFrom('policy_apis')
        .innerJoin('policies', 'policies.id', 'policy_apis.policy')
        .innerJoin('key_policies', join =>
          join
            .onRef('key_policies.org_id', '=', 'policy_apis.org_id')
            .onRef('key_policies.policy_id', '=', 'policies.policy_id'),
        )
        .select(['policy_apis.api_id', 'key_policies.key'])
        .where('policy_apis.org_id', '=', orgId)
        .where('policy_apis.api_id', 'in', apiIds),
    );
