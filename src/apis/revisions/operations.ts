import { type Actor, isAdmin } from '#operations/actor.ts';
import { declareRevisionOperations, type RestoreCall, type RevisionServices } from '#operations/revision-operations.ts';
import { type ApiServices, addApi, changeApi, checkDefinition } from '../api/changes.ts';
import { toApiView } from '../api/rules.ts';
import type { StoredApi } from '../api/schema.ts';
import { maskSecretsFor } from '../api/secrets.ts';
import { creationProblems, ownershipProblems, problem } from '../problems.ts';

type ApiRevisionServices = ApiServices & RevisionServices;

/** True where a state has owners, and the actor is none of them. */
function hasOtherOwners({ settings }: ApiRevisionServices, actor: Actor, { wrapper }: StoredApi): boolean {
  if (!settings['apis.owners_only'] || isAdmin(actor)) return false;
  const { user_owners: users, user_group_owners: groups } = wrapper;
  if (users.length + groups.length === 0) return false;
  const isOwner = !actor.temporaryUser && users.includes(actor.id);
  return !isOwner && !groups.some(id => actor.groupIds?.includes(id));
}

const updates = { classic: 'updateApi', oas: 'updateDocument', streams: 'updateStreams', mcp: 'updateMcp' } as const;
const creates = { classic: 'createApi', oas: 'createDocument', streams: 'createStreams', mcp: 'createMcp' } as const;
const paths = { classic: '/api/apis', oas: '/api/apis/oas', streams: '/api/apis/streams', mcp: '/api/mcps' } as const;

/** Restores a definition and the members around it. A removed API gets its ids again. */
async function restoreApi({ actor, state, objectId, isExisting }: RestoreCall<StoredApi>, services: ApiServices) {
  const { orgId } = actor;
  const { wrapper } = state;
  const written = checkDefinition(state.kind, state.definition, services);
  if (isExisting) await changeApi(services, { actor, orgId, ref: objectId }, () => ({ ...written, wrapper }));
  else await addApi(services, { actor, orgId, written, wrapper, id: objectId });
}

export const apiRevisionOperations = declareRevisionOperations<StoredApi, ApiRevisionServices, 'apis', 'apiId'>({
  singular: 'Api',
  plural: 'apis',
  param: 'apiId',
  noun: 'apis',
  article: 'an API',
  permissionName: 'apis',
  changesTraffic: true,
  notFound: problem.api_not_found,
  problems: [...creationProblems, ...ownershipProblems],
  history: ({ apis }) => apis.history,
  toView: state => ({ ...toApiView(state), updated_at: undefined }),
  async toViewFor(actor, services) {
    const hidden = new Set((await services.ownership.hiddenApis(actor)).map(({ id }) => id));
    return state =>
      hidden.has(state.id) || hasOtherOwners(services, actor, state)
        ? undefined
        : toApiView(maskSecretsFor(actor, state));
  },
  toName: state => state.summary.name,
  isExisting: async (orgId, objectId, { apis }) => (await apis.get(orgId, objectId))?.id === objectId,
  toPlainWrite: ({ state, isExisting }) => ({
    operation: (isExisting ? updates : creates)[state.kind],
    method: isExisting ? 'PUT' : 'POST',
    path: isExisting ? `${paths[state.kind]}/${state.api_id}` : paths[state.kind],
    body: state.kind === 'classic' ? toApiView(state) : state.definition,
  }),
  restore: restoreApi,
});
