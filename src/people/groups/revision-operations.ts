import { declareRevisionOperations, type RestoreCall, type RevisionServices } from '#operations/revision-operations.ts';
import { problem } from '../problems.ts';
import { checkGroup, type GroupServices, storedGroupGrantProblems } from './operations.ts';
import { type StoredGroup, toUserGroup } from './schema.ts';

/** Restores a user group by the rules of an update: it can carry permissions that the caller holds. */
const restoreGroup = ({ actor, state }: RestoreCall<StoredGroup>, services: GroupServices): Promise<void> =>
  services.users.runExclusive(async () => {
    const before = await services.groups.get(actor.orgId, state.id);
    await checkGroup(services, actor, state, before);
    if (before) await services.groups.replace({ ...state, created_at_ms: before.created_at_ms });
    else await services.groups.insert({ ...state, org_id: actor.orgId });
  });

export const groupRevisionOperations = declareRevisionOperations<
  StoredGroup,
  GroupServices & RevisionServices,
  'usergroups',
  'groupId'
>({
  singular: 'UserGroup',
  plural: 'usergroups',
  param: 'groupId',
  noun: 'user groups',
  article: 'a user group',
  permissionName: 'user_groups',
  notFound: problem.group_not_found,
  problems: [...storedGroupGrantProblems, problem.group_outranks, problem.limit_reached],
  history: ({ groups }) => groups.history,
  toView: toUserGroup,
  toViewFor: async () => toUserGroup,
  toName: state => state.name,
  isExisting: async (orgId, objectId, { groups }) => (await groups.get(orgId, objectId)) !== undefined,
  toPlainWrite: ({ state, isExisting }) => ({
    operation: isExisting ? 'updateUserGroup' : 'createUserGroup',
    method: isExisting ? 'PUT' : 'POST',
    path: isExisting ? `/api/usergroups/${state.id}` : '/api/usergroups',
    body: toUserGroup(state),
  }),
  restore: restoreGroup,
});
