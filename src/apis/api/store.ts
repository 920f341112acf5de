import { type Expression, type SqlBool, sql } from 'kysely';
import type { Vault } from '#base/vault.ts';
import {
  columnContains,
  columnEndsWith,
  createCollection,
  type Page,
  type PageRequest,
  type Query,
} from '#storage/collection.ts';
import { selectListed } from '#storage/listed-values.ts';
import { createMetaStore } from '#storage/meta.ts';
import type { Records } from '#storage/records.ts';
import type { RevisionLog } from '#storage/revision-log.ts';
import { problem } from '../problems.ts';
import { removeApiIndexes, updateApiIndexes } from './index-store.ts';
import { isActive } from './rules.ts';
import type { StoredApi, Summary } from './schema.ts';
import { type ApiRow, openApiSecrets, sealApiSecrets } from './sealing.ts';

export type ApiStore = ReturnType<typeof createApiStore>;

/** Filter of a list; all conditions must hold. */
export interface ApiFilter {
  readonly name?: string;
  readonly categories?: readonly string[];
  readonly kind?: StoredApi['kind'];
  /** Omits the APIs of a kind that has a list of its own. */
  readonly exceptKind?: StoredApi['kind'];
  /** Public ids of APIs the caller must not see. */
  readonly hidden?: readonly string[];
  /** Public ids of the only APIs of the list. */
  readonly only?: readonly string[];
  readonly isActive?: boolean;
  /** Any of these, as in the summary of an API. */
  readonly authTypes?: readonly string[];
  readonly apiTypes?: readonly string[];
  /** Omits versions of other APIs. */
  readonly withoutVersions?: boolean;
}

export const apiOrders = {
  name: ['name_fold', 'id'],
  '-name': ['-name_fold', '-id'],
  created_at: ['created_at', 'id'],
  '-created_at': ['-created_at', '-id'],
  updated_at: ['updated_at', 'id'],
  '-updated_at': ['-updated_at', '-id'],
} as const;
export type ApiOrder = keyof typeof apiOrders;

/** Claimed route, as in its columns. */
export interface ClaimedRoute {
  readonly org_id: string;
  readonly domain: string;
  readonly listen_path: string;
}

/** Candidate routes of other organisations to compare with a route: by port, or by host and path. */
export type RouteSearch =
  | { readonly port: number }
  | {
      /** Literal domains that can match, beside patterns and hosts with ports; undefined: all domains. */
      readonly domains: readonly string[] | undefined;
      readonly above: readonly string[];
      readonly below: { readonly from: string; readonly to: string };
      /** First path segment, where APIs are also served at their id; empty: any id. */
      readonly id: string | undefined;
    };

/** Both engines limit the parameters of one statement. */
const maxIdsPerQuery = 1000;

const sealBatchRows = 500;

/** Row that serves as the write lock: every writer of APIs updates it first, so that what it checked still holds. */
const writeLockName = 'apis.turn';

export interface ApiStoreOptions {
  readonly revisions?: RevisionLog | undefined;
  /** A route with more candidates than this is rejected as overlapping. */
  readonly maxRoutesCompared: number;
}

/** API store. Secrets inside definitions are sealed in the table and in plain text everywhere else. */
export function createApiStore(records: Records, vault: Vault, { revisions, maxRoutesCompared }: ApiStoreOptions) {
  const meta = createMetaStore(records);
  const history = revisions && createApiHistory(revisions, vault);
  const codec = {
    encode: (api: StoredApi) => sealApiSecrets(vault, api),
    decode: (row: unknown) => openApiSecrets(vault, row as ApiRow),
  };
  const apis = createCollection<'apis', StoredApi>(
    records,
    'apis',
    toColumns,
    problem.id_exists,
    codec,
    undefined,
    history?.recordChange,
  );
  return {
    history,
    ...createApiReader(records, apis),
    /** APIs of all organisations whose stored form contains a text. */
    findMentioningAnywhere: (text: string) =>
      apis.all({ filter: query => query.where(columnContains('body', text)), order: apiOrders.created_at }),
    ...createRouteChecks(records, apis, maxRoutesCompared),
    ...createApiWriter(records, apis),
    ...createCategoryReader(records),
    /** Serializes writers of APIs; call inside a write, before anything is read. */
    lockForWrite: () => meta.set(writeLockName, ''),
    /** Seals rows that an earlier release wrote; call inside a write, after `lockForWrite`. Returns their number. */
    sealPlainRows: () => sealPlainRows(records, vault),
  };
}

/** Revisions are rows as they are stored, with sealed secrets. */
const createApiHistory = (revisions: RevisionLog, vault: Vault) =>
  revisions.createHistory<StoredApi>({
    table: 'apis',
    identify: ({ org_id, api_id, summary }) => ({
      orgId: String(org_id),
      publicId: String(api_id),
      name: String((summary as StoredApi['summary']).name ?? ''),
    }),
    open: row => openApiSecrets(vault, row as unknown as ApiRow),
    ignored: ['updated_at'],
  });

type Apis = ReturnType<typeof createCollection<'apis', StoredApi>>;

const createApiReader = (records: Records, apis: Apis) => ({
  /** Finds by public or database id. */
  async get(orgId: string, ref: string): Promise<StoredApi | undefined> {
    return (await apis.find({ org_id: orgId, api_id: ref })) ?? apis.find({ org_id: orgId, id: ref });
  },
  /** In any organisation: for the operator and the gateway. */
  async getAnywhere(ref: string): Promise<StoredApi | undefined> {
    // Database ids are generated, public ids may be chosen: a chosen id cannot shadow a generated one.
    return (await apis.find({ id: ref })) ?? apis.find({ api_id: ref });
  },
  /** By public id only, in any organisation. */
  findByApiId: (apiId: string) => apis.find({ api_id: apiId }),
  /** The existing ones of these public ids. */
  async findByIds(orgId: string, apiIds: readonly string[]): Promise<StoredApi[]> {
    const found: StoredApi[] = [];
    for (let at = 0; at < apiIds.length; at += maxIdsPerQuery) {
      const some = sql.join(apiIds.slice(at, at + maxIdsPerQuery));
      const filter = (query: Query) => query.where(sql<SqlBool>`api_id in (${some})`);
      found.push(...(await apis.all({ where: { org_id: orgId }, filter, order: ['id'] })));
    }
    return found;
  },
  /** All APIs of the installation, oldest first. */
  all: () => apis.all({ order: apiOrders.created_at }),
  count: (orgId: string) => apis.count({ org_id: orgId }),
  /** In the order of public ids, those after one. */
  async listAfter(orgId: string, after: string, size: number, hidden: readonly string[] = []): Promise<StoredApi[]> {
    const filter = (query: Query) =>
      buildFilter(records, orgId, { hidden })(query).where(sql<SqlBool>`api_id > ${after}`);
    const where = { org_id: orgId };
    return (await apis.page({ where, filter, order: ['api_id'] }, { page: 1, size })).items;
  },
  /** APIs that list this one among their versions. */
  async findBases(orgId: string, apiId: string): Promise<StoredApi[]> {
    const bases = sql`select api from api_versions where org_id = ${orgId} and version = ${apiId}`;
    const filter = (query: Query) => query.where(sql<SqlBool>`id in (${bases})`);
    return apis.all({ where: { org_id: orgId }, filter, order: ['id'] });
  },
  /** APIs whose stored form contains one of these texts: candidates for those that name an object by its id. */
  findMentioning: (orgId: string, ...texts: readonly string[]) =>
    apis.all({
      where: { org_id: orgId },
      filter: query => query.where(it => it.or(texts.map(text => columnContains('body', text)))),
      order: apiOrders.created_at,
    }),
  async hasKind(orgId: string, kind: StoredApi['kind']): Promise<boolean> {
    const ofKind = records.db.selectFrom('apis').select('id').where('org_id', '=', orgId).where('kind', '=', kind);
    return (await ofKind.limit(1).execute()).length > 0;
  },
  async page(orgId: string, filter: ApiFilter, order: ApiOrder, request: PageRequest): Promise<Page<StoredApi>> {
    const listing = { where: { org_id: orgId }, order: apiOrders[order], filter: buildFilter(records, orgId, filter) };
    return apis.page(listing, request);
  },
});

/** Checks of a write: ids and routes that are taken. */
const createRouteChecks = (records: Records, apis: Apis, maxRoutes: number) => ({
  /** Lookups accept both kinds of id, so neither may equal an id of either kind of any API. */
  async isTaken({ id, api_id }: Pick<StoredApi, 'id' | 'api_id'>): Promise<boolean> {
    for (const ref of [id, api_id])
      if ((await apis.count({ api_id: ref })) + (await apis.count({ id: ref })) > 0) return true;
    return false;
  },

  /** True where another API of the organisation claims the same route. */
  async isClaimed(
    orgId: string,
    { domain, listen_path }: Pick<Summary, 'domain' | 'listen_path'>,
    id: string,
  ): Promise<boolean> {
    if (listen_path === '') return false;
    return (await apis.count({ org_id: orgId, domain, listen_path }, query => query.where('id', '!=', id))) > 0;
  },

  /** Candidate routes of other organisations; each query uses an index and reads no definitions. */
  foreignRoutes: (orgId: string, search: RouteSearch) =>
    readRoutes(foreignRouteQueries(records, orgId, search), maxRoutes),
  /** The same of the organisation itself. */
  ownRoutes: (orgId: string, search: RouteSearch) =>
    readRoutes(
      buildRouteQueries(() => routeRows(records).where('org_id', '=', orgId), search),
      maxRoutes,
    ),
});

async function readRoutes(
  { routes, byId }: RouteQueries,
  maxRoutes: number,
): Promise<{ routes: ClaimedRoute[]; byId: ClaimedRoute[] }> {
  const read = async (query: RouteQuery): Promise<ClaimedRoute[]> => {
    const rows = await query.limit(maxRoutes + 1).execute();
    if (rows.length > maxRoutes) throw problem.too_many_routes({ detail: { maxRoutes } });
    return rows;
  };
  const found: ClaimedRoute[] = [];
  for (const query of routes) found.push(...(await read(query)));
  return { routes: found, byId: byId ? await read(byId) : [] };
}

const createApiWriter = (records: Records, apis: Apis) => ({
  async insert(api: StoredApi): Promise<void> {
    await apis.insert(api);
    await updateApiIndexes(records, api);
  },
  async replace(api: StoredApi): Promise<void> {
    await apis.replace({ id: api.id }, api);
    await updateApiIndexes(records, api);
  },
  /**
   * Frees the routes of APIs that are replaced later in the same transaction: one of them can take the route of another.
   * Their documents stay.
   */
  async releaseRoutes(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += maxIdsPerQuery)
      await records.db
        .updateTable('apis')
        .set({ domain: '', listen_path: '' })
        .where('id', 'in', ids.slice(at, at + maxIdsPerQuery))
        .execute();
  },
  async remove(id: string): Promise<void> {
    await apis.remove({ id });
    await removeApiIndexes(records, id);
  },
});

const createCategoryReader = (records: Records) => ({
  async categoryCounts(orgId: string, hidden: readonly string[] = []): Promise<{ name: string; count: number }[]> {
    const rows = await records.db
      .selectFrom('api_categories')
      .innerJoin('apis', 'apis.id', 'api_categories.api')
      .select(['category', sql<number>`count(*)`.as('count')])
      .where('api_categories.org_id', '=', orgId)
      .where(buildHiddenFilter(records, hidden))
      .groupBy('category')
      .orderBy('category')
      .execute();
    return rows.map(({ category, count }) => ({ name: category, count: Number(count) }));
  },

  /** Category to the public ids of its APIs. */
  async categoryMembers(orgId: string, hidden: readonly string[] = []): Promise<Map<string, string[]>> {
    const rows = await records.db
      .selectFrom('api_categories')
      .innerJoin('apis', 'apis.id', 'api_categories.api')
      .select(['api_categories.category', 'apis.api_id'])
      .where('api_categories.org_id', '=', orgId)
      .where(buildHiddenFilter(records, hidden))
      .orderBy('api_categories.category')
      .orderBy('apis.created_at')
      .orderBy('apis.id')
      .execute();
    const members = new Map<string, string[]>();
    for (const { category, api_id } of rows) members.set(category, [...(members.get(category) ?? []), api_id]);
    return members;
  },
});

/** Seals rows that an earlier release wrote; call inside a write, after `lockForWrite`. Returns their number. */
async function sealPlainRows(records: Records, vault: Vault): Promise<number> {
  let sealed = 0;
  for (let last: string | undefined = ''; last !== undefined; ) {
    const rows = await records.db
      .selectFrom('apis')
      .select(['id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(sealBatchRows)
      .execute();
    for (const { id, body } of rows) {
      const row = JSON.parse(body) as ApiRow;
      if (row.sealed !== undefined) continue;
      const next = sealApiSecrets(vault, row);
      if (next === row) continue;
      await records.db
        .updateTable('apis')
        .set({ body: JSON.stringify(next) })
        .where('id', '=', id)
        .execute();
      sealed++;
    }
    last = rows.length < sealBatchRows ? undefined : rows.at(-1)!.id;
  }
  return sealed;
}

const buildHiddenFilter = (records: Records, hidden: readonly string[]): Expression<SqlBool> =>
  hidden.length > 0 ? sql<SqlBool>`apis.api_id not in ${selectListed(records, hidden)}` : sql<SqlBool>`1 = 1`;

const routeRows = (records: Records) =>
  records.db.selectFrom('apis').select(['org_id', 'domain', 'listen_path']).where('listen_path', '!=', '');
type RouteQuery = ReturnType<typeof routeRows>;

interface RouteQueries {
  readonly routes: readonly RouteQuery[];
  readonly byId: RouteQuery | undefined;
}

/** Exported so that tests can assert that the queries use an index. */
export const foreignRouteQueries = (records: Records, orgId: string, search: RouteSearch): RouteQueries =>
  buildRouteQueries(() => routeRows(records).where('org_id', '!=', orgId), search);

function buildRouteQueries(rows: () => RouteQuery, search: RouteSearch): RouteQueries {
  if ('port' in search) return { routes: [rows().where(columnEndsWith('domain', `:${search.port}`))], byId: undefined };
  const { domains, above, below, id } = search;
  const byDomain = () => (domains ? rows().where('domain', 'in', domains) : rows());
  // Patterns, and hosts with a port that may be the gateway's own.
  const patternsAndPorts = () =>
    rows().where(eb => eb.or([columnContains('domain', '{'), columnContains('domain', ':')]));
  const routes = [
    byDomain().where('listen_path', 'in', above),
    byDomain().where('listen_path', '>=', below.from).where('listen_path', '<', below.to),
    byDomain().where(columnContains('listen_path', '{')),
    ...(domains ? [patternsAndPorts()] : []),
  ];
  if (id === undefined) return { routes, byId: undefined };
  return { routes, byId: id === '' ? rows() : rows().where('api_id', '=', id) };
}

const toColumns = ({ id, org_id, api_id, summary, created_at, updated_at, ...written }: StoredApi) => ({
  id,
  org_id,
  api_id,
  kind: written.kind,
  active: Number(isActive(written)),
  name: summary.name,
  name_fold: summary.name.toLowerCase(),
  domain: summary.domain,
  listen_path: summary.listen_path,
  created_at: Date.parse(created_at),
  updated_at: Date.parse(updated_at),
});

function buildFilter(records: Records, orgId: string, filter: ApiFilter) {
  const {
    name,
    categories = [],
    kind,
    exceptKind,
    hidden = [],
    only,
    isActive: active,
    authTypes = [],
    apiTypes = [],
  } = filter;
  const conditions: Expression<SqlBool>[] = [];
  if (kind) conditions.push(sql<SqlBool>`kind = ${kind}`);
  if (exceptKind) conditions.push(sql<SqlBool>`kind <> ${exceptKind}`);
  if (active !== undefined) conditions.push(sql<SqlBool>`active = ${Number(active)}`);
  if (name) conditions.push(columnContains('name_fold', name.toLowerCase()));
  if (categories.length > 0) {
    const apiIds = sql`select api from api_categories where org_id = ${orgId} and category in (${sql.join(categories)})`;
    conditions.push(sql<SqlBool>`id in (${apiIds})`);
  }
  if (authTypes.length > 0) conditions.push(hasLabel(orgId, 'auth_type', authTypes));
  if (apiTypes.length > 0) conditions.push(hasLabel(orgId, 'api_type', apiTypes));
  if (filter.withoutVersions)
    conditions.push(sql<SqlBool>`api_id not in (select version from api_versions where org_id = ${orgId})`);
  if (hidden.length > 0) conditions.push(sql<SqlBool>`api_id not in ${selectListed(records, hidden)}`);
  if (only) conditions.push(sql<SqlBool>`api_id in ${selectListed(records, only)}`);
  return (query: Query) => conditions.reduce((narrower, condition) => narrower.where(condition), query);
}

const hasLabel = (orgId: string, kind: string, labels: readonly string[]): Expression<SqlBool> =>
  sql<SqlBool>`id in (select api from api_labels where org_id = ${orgId} and kind = ${kind}
    and label in (${sql.join(labels)}))`;
