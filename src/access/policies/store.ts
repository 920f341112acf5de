import { type Expression, type SqlBool, sql } from 'kysely';
import {
  type CheckObjectLimit,
  createCollection,
  noObjectLimit,
  type PageRequest,
  type Query,
  toContainsPattern,
} from '#storage/collection.ts';
import { selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import type { ObjectHistory, RevisionLog } from '#storage/revision-log.ts';
import type { FindApis } from '../api-lookup.ts';
import { problem } from './problems.ts';
import { type Policy, type PolicyState, rightsOf } from './schema.ts';
import { policyChangeName } from './topic.ts';

export type PolicyStore = ReturnType<typeof createPolicyStore>;

/** A stored policy; members set by the server are present. */
export type StoredPolicy = Policy & {
  _id: string;
  id: string;
  org_id: string;
  name: string;
  state: PolicyState;
  date_created: string;
};

export const policySorts = ['date_created', 'name', 'state'] as const;

export interface PolicySearch {
  readonly q?: string | undefined;
  readonly policyIds?: readonly string[] | undefined;
  readonly states?: readonly PolicyState[];
  /** Policies that grant any of these. */
  readonly apiIds?: readonly string[] | undefined;
  readonly authType?: string | undefined;
  /** Leaves out policies that grant these APIs alone. */
  readonly hiddenApis?: readonly string[] | undefined;
  readonly sort?: (typeof policySorts)[number] | undefined;
}

interface ListAfter {
  readonly after: string;
  readonly size: number;
  readonly hiddenApis: readonly string[];
}

/** Both engines bound the values of one statement. */
const maxRowsPerStatement = 1000;

const newestFirst = ['-created_at', '-id'] as const;
const sortOrders = {
  date_created: ['created_at', 'id'],
  name: ['name_fold', 'policy_id', 'id'],
  state: ['state', 'id'],
} as const;

type PolicyCollection = ReturnType<typeof createPolicyCollection>;

const createPolicyCollection = (records: Records, history: ObjectHistory<StoredPolicy> | undefined) =>
  createCollection<'policies', StoredPolicy>(
    records,
    'policies',
    it => ({
      id: it._id,
      org_id: it.org_id,
      created_at: Date.parse(it.date_created),
      policy_id: it.id,
      name: it.name,
      name_fold: it.name.toLowerCase(),
      state: it.state,
      auth_type: it.auth_type ?? 'other',
    }),
    problem.exists,
    undefined,
    undefined,
    history?.recordChange,
  );

const createPolicyHistory = (revisions: RevisionLog) =>
  revisions.createHistory<StoredPolicy>({
    table: 'policies',
    identify: ({ org_id, id, name }) => ({ orgId: String(org_id), publicId: String(id), name: String(name ?? '') }),
    open: row => row as unknown as StoredPolicy,
    ignored: ['last_updated'],
  });

export function createPolicyStore(
  records: Records,
  findApis: FindApis,
  checkObjectLimit: CheckObjectLimit = noObjectLimit,
  revisions?: RevisionLog,
) {
  const history = revisions && createPolicyHistory(revisions);
  const policies = createPolicyCollection(records, history);
  const writes = createPolicyWrites(records, policies, findApis, checkObjectLimit);
  return { history, ...createPolicyReads(records, policies), ...writes };
}

const findPolicy = async (policies: PolicyCollection, orgId: string, id: string) =>
  (await policies.find({ org_id: orgId, policy_id: id })) ?? (await policies.find({ org_id: orgId, id }));

function createPolicyReads(records: Records, policies: PolicyCollection) {
  return {
    /** By either of its ids. */
    get: (orgId: string, id: string) => findPolicy(policies, orgId, id),

    /** Policies with this id in all organisations: for the operator only. */
    findInAllOrganisations: (id: string) =>
      policies.all({
        filter: query => query.where(sql<SqlBool>`(policy_id = ${id} or id = ${id})`),
        order: newestFirst,
      }),

    /** Of every organisation, newest first: for the operator only. */
    all: () => policies.all({ order: newestFirst }),

    /** Existing policies by the id they were requested with. */
    async findByIds(orgId: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredPolicy>> {
      if (ids.length === 0) return new Map();
      const rows = await records.db
        .selectFrom('policies')
        .select('body')
        .where('org_id', '=', orgId)
        .where(it => it.or([it('policy_id', 'in', ids), it('id', 'in', ids)]))
        .execute();
      const candidates = rows.map(policies.parse);
      const pairs = ids.map(
        id => [id, candidates.find(it => it.id === id) ?? candidates.find(it => it._id === id)] as const,
      );
      return new Map(pairs.filter((pair): pair is [string, StoredPolicy] => pair[1] !== undefined));
    },

    count: (orgId: string) => policies.count({ org_id: orgId }),

    /** In the order of public ids, those after one; without policies that grant hidden APIs alone. */
    async listAfter(orgId: string, { after, size, hiddenApis }: ListAfter): Promise<StoredPolicy[]> {
      const { filter, ...listing } = buildSearch(records, orgId, { hiddenApis }, ['policy_id'] as const);
      const following = (query: Query) => filter(query).where(sql<SqlBool>`policy_id > ${after}`);
      return (await policies.page({ ...listing, filter: following }, { page: 1, size })).items;
    },

    search: (orgId: string, { sort, ...filters }: PolicySearch, page: PageRequest) =>
      policies.page(buildSearch(records, orgId, filters, sort ? sortOrders[sort] : newestFirst), page),

    /** The page query, for tests that assert index use. */
    searchQuery: (orgId: string, { sort, ...filters }: PolicySearch) =>
      policies.listing(buildSearch(records, orgId, filters, sort ? sortOrders[sort] : newestFirst)),
  };
}

function createPolicyWrites(
  records: Records,
  policies: PolicyCollection,
  findApis: FindApis,
  checkObjectLimit: CheckObjectLimit,
) {
  return {
    async insert(policy: StoredPolicy): Promise<StoredPolicy> {
      return records.write(async () => {
        await refuseTaken(records, policy);
        await checkObjectLimit(policy.org_id, orgId => policies.count({ org_id: orgId }));
        const next = await withAuthTypes(findApis, policy);
        await policies.insert(next);
        await indexApis(records, next);
        markChanged(records, next);
        return next;
      });
    },

    /** Read-modify-write in one transaction. */
    async change(orgId: string, id: string, change: (policy: StoredPolicy) => StoredPolicy) {
      return records.write(async () => {
        const existing = await findPolicy(policies, orgId, id);
        if (!existing) return undefined;
        const next = await policies.change({ id: existing._id }, async policy => {
          const changed = await withAuthTypes(findApis, change(policy));
          await refuseTaken(records, changed, changed._id);
          return changed;
        });
        if (!next) return undefined;
        await indexApis(records, next);
        markChanged(records, existing, next);
        return next;
      });
    },

    async remove(orgId: string, id: string): Promise<boolean> {
      return records.write(async () => {
        const existing = await findPolicy(policies, orgId, id);
        if (!existing) return false;
        // Lock order: the policy row first, as in `change`; another order could deadlock.
        if (!(await policies.remove({ id: existing._id }))) return false;
        await records.db.deleteFrom('policy_apis').where('policy', '=', existing._id).execute();
        markChanged(records, existing);
        return true;
      });
    },

    ...createGrantWrites(records, policies, findApis),
    releaseNames: (ids: readonly string[]) => releaseNames(records, ids),
  };
}

/** A control character: names that people choose have none. */
const releasedNamePrefix = '\u0001';

/**
 * Frees the names of policies that are changed later in the same transaction: one of them can take the name of another.
 * Their documents stay; the column gets a text that no other row has.
 */
async function releaseNames(records: Records, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += maxRowsPerStatement)
    await records.db
      .updateTable('policies')
      .set({ name: sql<string>`${releasedNamePrefix} || id` })
      .where('id', 'in', ids.slice(at, at + maxRowsPerStatement))
      .execute();
}

/** Rights of policies that follow their APIs. */
function createGrantWrites(records: Records, policies: PolicyCollection, findApis: FindApis) {
  async function replace(policy: StoredPolicy): Promise<void> {
    const next = await withAuthTypes(findApis, policy);
    await policies.replace({ id: next._id }, next);
    await indexApis(records, next);
    markChanged(records, next);
  }

  const listGranting = (orgId: string, apiId: string) =>
    policies.all({
      where: { org_id: orgId },
      filter: query => query.where(grantsAny(orgId, [apiId])),
      order: newestFirst,
    });

  return {
    /**
     * Removes a deleted API from all rights. A policy keeps its last right: without any it would no longer define
     * what its keys may call.
     */
    async removeApi(orgId: string, apiId: string): Promise<void> {
      await records.write(async () => {
        for (const policy of await listGranting(orgId, apiId)) {
          const { [apiId]: _gone, ...rest } = rightsOf(policy);
          if (Object.keys(rest).length > 0) await replace({ ...policy, access_rights: rest });
        }
      });
    },

    /** Recomputes auth types after an API was created or changed. */
    async refreshAuthTypes(orgId: string, apiId: string): Promise<void> {
      await records.write(async () => {
        for (const policy of await listGranting(orgId, apiId)) await replace(policy);
      });
    },
  };
}

/** Ids and name must be unique: keys name a policy by either id. */
async function refuseTaken(records: Records, { _id, id, org_id, name }: StoredPolicy, ownId?: string): Promise<void> {
  const others = await records.db
    .selectFrom('policies')
    .select(['id', 'policy_id', 'name'])
    .where('org_id', '=', org_id)
    .where(it => it.or([it('policy_id', 'in', [id, _id]), it('id', 'in', [id, _id]), it('name', '=', name)]))
    .execute();
  for (const other of others.filter(it => it.id !== ownId)) {
    if (other.name === name) throw problem.name_exists({ detail: { name } });
    throw problem.id_exists({ detail: { id: [other.id, other.policy_id].includes(id) ? id : _id } });
  }
}

/** Derives auth_type(s) from the APIs of the policy; without a known API the sent value stays. */
async function withAuthTypes(findApis: FindApis, policy: StoredPolicy): Promise<StoredPolicy> {
  const apis = await findApis(policy.org_id, Object.keys(rightsOf(policy)));
  const types = [...new Set([...apis.values()].map(api => api.authType))];
  if (types.length === 0) return { ...policy, auth_type: policy.auth_type || 'other' };
  const [only = 'other'] = types;
  const agreed = types.length === 1 && only !== 'other';
  return { ...policy, auth_type: agreed ? only : 'other', auth_types: agreed ? [only] : [] };
}

async function indexApis(records: Records, policy: StoredPolicy): Promise<void> {
  await records.db.deleteFrom('policy_apis').where('policy', '=', policy._id).execute();
  const rows = Object.keys(rightsOf(policy))
    .filter(Boolean)
    .map(apiId => ({ org_id: policy.org_id, api_id: apiId, policy: policy._id }));
  for (let at = 0; at < rows.length; at += maxRowsPerStatement)
    await records.db
      .insertInto('policy_apis')
      .values(rows.slice(at, at + maxRowsPerStatement))
      .execute();
}

/** Marks both ids as changed: keys name a policy by either. */
function markChanged(records: Records, ...changed: readonly StoredPolicy[]): void {
  for (const { org_id, id, _id } of changed)
    for (const name of [id, _id]) records.markChanged('policies', policyChangeName(org_id, name));
}

const grantsAny = (orgId: string, apiIds: readonly string[]): Expression<SqlBool> =>
  sql<SqlBool>`id in (select policy from policy_apis where org_id = ${orgId} and api_id in (${sql.join(apiIds)}))`;

/** Grants none of these APIs, or another API too. */
function grantsMoreThan(records: Records, orgId: string, apiIds: readonly string[]): Expression<SqlBool> {
  const listed = selectListed(records, apiIds);
  const those = sql`select policy from policy_apis where org_id = ${orgId} and api_id in ${listed}`;
  const others = sql`select policy from policy_apis where org_id = ${orgId} and api_id not in ${listed}`;
  return sql<SqlBool>`(id not in (${those}) or id in (${others}))`;
}

/** Text search in index columns, so that only matching bodies are read. */
function matchesText(orgId: string, text: string): Expression<SqlBool> {
  const pattern = toContainsPattern(text.toLowerCase());
  return sql<SqlBool>`id in (select id from policies where org_id = ${orgId} and (
    name_fold like ${pattern} escape '\\' or lower(policy_id) like ${pattern} escape '\\' or id = ${text}))`;
}

function buildSearch<Order>(records: Records, orgId: string, filters: Omit<PolicySearch, 'sort'>, order: Order) {
  const { q, policyIds, states, apiIds, authType, hiddenApis } = filters;
  const filter = (query: Query): Query => {
    let filtered = query;
    if (q) filtered = filtered.where(matchesText(orgId, q));
    if (hiddenApis && hiddenApis.length > 0) filtered = filtered.where(grantsMoreThan(records, orgId, hiddenApis));
    if (apiIds) filtered = filtered.where(grantsAny(orgId, apiIds));
    if (policyIds) {
      const ids = sql.join(policyIds);
      filtered = filtered.where(sql<SqlBool>`(policy_id in (${ids}) or id in (${ids}))`);
    }
    if (states)
      filtered = filtered.where(states.length > 0 ? sql<SqlBool>`state in (${sql.join(states)})` : sql<SqlBool>`1 = 0`);
    if (authType !== undefined) filtered = filtered.where(sql<SqlBool>`auth_type = ${authType}`);
    return filtered;
  };
  return { where: { org_id: orgId }, filter, order };
}
