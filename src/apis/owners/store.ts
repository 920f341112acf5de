import type { Settings } from '#base/settings.ts';
import { type Actor, hasPermission, isAdmin } from '#operations/actor.ts';
import { selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import { problem } from '../problems.ts';

/** APIs hidden from a user. */
export interface HiddenApis {
  /** Public ids, as access rights, policies and analytics use them. */
  readonly apiIds: readonly string[];
  has(apiId: string): boolean;
}

/** An API that a user does not own: what it is found by, and its route as the columns hold it. */
export interface HiddenApi {
  readonly id: string;
  readonly api_id: string;
  readonly name: string;
  readonly org_id: string;
  readonly domain: string;
  readonly listen_path: string;
}

/** Owners of hidden APIs. */
export interface HiddenOwners {
  hasUser(userId: string): boolean;
  hasGroup(groupId: string): boolean;
}

const nothingHidden: HiddenApis = { apiIds: [], has: () => false };

/** Database ids of the APIs that a user owns, by name or by group. */
const selectOwn = (records: Records, actor: Actor) =>
  records.db
    .selectFrom('api_owners')
    .select('api')
    .where('org_id', '=', actor.orgId)
    .where('owner', '<>', '')
    .where(it =>
      it.or([
        it.and([it('kind', '=', 'user'), it('owner', '=', actor.temporaryUser ? '' : actor.id)]),
        it.and([it('kind', '=', 'group'), it('owner', 'in', actor.groupIds?.length ? actor.groupIds : [''])]),
      ]),
    );

/** APIs with owners, of whom the user is none. */
const selectOfOthers = (records: Records, actor: Actor): Promise<HiddenApi[]> =>
  records.db
    .selectFrom('api_owners')
    .innerJoin('apis', 'apis.id', 'api_owners.api')
    .select(['apis.id', 'apis.api_id', 'apis.name', 'apis.org_id', 'apis.domain', 'apis.listen_path'])
    .distinct()
    .where('api_owners.org_id', '=', actor.orgId)
    .where('api_owners.api', 'not in', selectOwn(records, actor))
    .execute();

const selectMcps = (records: Records, { orgId }: Actor): Promise<HiddenApi[]> =>
  records.db
    .selectFrom('apis')
    .select(['id', 'api_id', 'name', 'org_id', 'domain', 'listen_path'])
    .where('org_id', '=', orgId)
    .where('kind', '=', 'mcp')
    .execute();

export type Ownership = ReturnType<typeof createOwnership>;

/**
 * Ownership: an API with owners is visible to them and to administrators only, and so are its keys, policies and
 * analytics. An API without owners is visible to its whole organisation. MCP proxies are hidden in the same way from
 * users without their permission.
 */
export function createOwnership(records: Records, settings: Settings) {
  async function selectHidden(actor: Actor): Promise<HiddenApi[]> {
    if (actor.surface !== 'dashboard') return [];
    const ofOthers = isAdmin(actor) || !settings['apis.owners_only'] ? [] : await selectOfOthers(records, actor);
    return hasPermission(actor, 'mcp:read') ? ofOthers : [...ofOthers, ...(await selectMcps(records, actor))];
  }

  return {
    /** Everything a write of this user must stay clear of; empty for administrators and the operator's surfaces. */
    hiddenApis: selectHidden,
    async findHidden(actor: Actor): Promise<HiddenApis> {
      const rows = await selectHidden(actor);
      if (rows.length === 0) return nothingHidden;
      const apiIds = new Set(rows.map(row => row.api_id));
      return { apiIds: [...apiIds], has: apiId => apiIds.has(apiId) };
    },
    /** Both ids of the APIs that have one of these, and that the user may see. */
    async findVisible(actor: Actor, refs: readonly string[]): Promise<string[]> {
      const hidden = new Set((await selectHidden(actor)).map(({ id }) => id));
      const listed = selectListed(records, refs);
      const rows = await records.db
        .selectFrom('apis')
        .select(['id', 'api_id'])
        .where('org_id', '=', actor.orgId)
        .where(it => it.or([it('id', 'in', listed), it('api_id', 'in', listed)]))
        .execute();
      return rows.filter(({ id }) => !hidden.has(id)).flatMap(({ id, api_id }) => [id, api_id]);
    },
    /** Public ids of the APIs that a user owns, whether or not ownership hides the others. */
    async findOwned(actor: Actor): Promise<string[]> {
      const rows = await records.db
        .selectFrom('apis')
        .select('api_id')
        .where('org_id', '=', actor.orgId)
        .where('id', 'in', selectOwn(records, actor))
        .execute();
      return rows.map(({ api_id }) => api_id);
    },
    /** Owners of APIs that the actor must not see: to act as such a user, or to join such a group, would show them. */
    async findHiddenOwners(actor: Actor): Promise<HiddenOwners> {
      const hidden = new Set((await selectHidden(actor)).map(({ id }) => id));
      if (hidden.size === 0) return { hasUser: () => false, hasGroup: () => false };
      const rows = await records.db
        .selectFrom('api_owners')
        .select(['api', 'kind', 'owner'])
        .where('org_id', '=', actor.orgId)
        .execute();
      const owners = new Set(rows.filter(({ api }) => hidden.has(api)).map(({ kind, owner }) => `${kind} ${owner}`));
      return { hasUser: id => owners.has(`user ${id}`), hasGroup: id => owners.has(`group ${id}`) };
    },
    /** Rejects a request that names, by either id, an API its user does not own. */
    async rejectHidden(actor: Actor, refs: readonly string[]): Promise<void> {
      if (refs.length === 0) return;
      const rows = await selectHidden(actor);
      if (rows.some(({ id, api_id }) => refs.includes(id) || refs.includes(api_id))) throw problem.api_not_owned();
    },
  };
}
