import { createPublicId } from '#base/ids.ts';
import { isAdmin } from '#operations/actor.ts';
import { problem as refusal } from '#operations/problems.ts';
import { declareRevisionOperations, type RestoreCall, type RevisionServices } from '#operations/revision-operations.ts';
import { problem } from '../problems.ts';
import { checkUserGrant } from './grant-check.ts';
import { changeUser, storedUserGrantProblems, type UserServices } from './operations.ts';
import { buildUser, type RevisedUser } from './schema.ts';

/**
 * Restores a user by the rules of an update. Credentials are no part of a revision: an existing user keeps them, a
 * removed one gets a new access key and no password. That resets the credentials and the second factor of its id, and
 * may set an earlier e-mail address: a removed user is restored only by administrators with ResetPassword.
 */
async function restoreUser({ actor, state, isExisting }: RestoreCall<RevisedUser>, services: UserServices) {
  const { id, org_id: _org, created_at: createdAt, ...write } = state;
  if (isExisting) return changeUser(services, actor, id, write);
  if (!isAdmin(actor)) throw refusal.not_permitted({ detail: { permission: 'admin' } });
  if (actor.permissions.ResetPassword !== 'admin')
    throw refusal.not_permitted({ detail: { permission: 'ResetPassword' } });
  const { users } = services;
  const { ResetPassword: _operator, ...user_permissions } = write.user_permissions;
  const created = { id, accessKey: createPublicId(), orgId: actor.orgId, createdAt };
  const user = { ...buildUser({ ...created, write: { ...write, user_permissions: {} } }), user_permissions };
  await users.runExclusive(async () => {
    await checkUserGrant(services, actor, user);
    await users.insert(user);
  });
}

export const userRevisionOperations = declareRevisionOperations<
  RevisedUser,
  UserServices & RevisionServices,
  'users',
  'userId'
>({
  singular: 'User',
  plural: 'users',
  param: 'userId',
  noun: 'users',
  article: 'a user',
  permissionName: 'users',
  notFound: problem.user_not_found,
  problems: [
    refusal.not_permitted,
    problem.email_exists,
    problem.email_owner_only,
    problem.user_outranks,
    problem.last_administrator,
    ...storedUserGrantProblems,
  ],
  history: ({ users }) => users.history,
  toView: state => state,
  toViewFor: async () => state => state,
  toName: state => state.email_address,
  isExisting: async (orgId, objectId, { users }) => (await users.get(orgId, objectId)) !== undefined,
  toPlainWrite: ({ state, isExisting }) => ({
    operation: isExisting ? 'updateUser' : 'createUser',
    method: isExisting ? 'PUT' : 'POST',
    path: isExisting ? `/api/users/${state.id}` : '/api/users',
    body: state,
  }),
  restore: restoreUser,
});
