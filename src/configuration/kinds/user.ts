import { findPasswordFaults } from '#base/passwords.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { hashNewPassword } from '#people/users/new-password.ts';
import { addUser, createUser, deleteUser, updateUser } from '#people/users/operations.ts';
import { readPasswordPolicy } from '#people/users/password-policy.ts';
import { type StoredUser, UserWrite } from '#people/users/schema.ts';
import {
  authorize,
  type CheckedObject,
  type CheckInput,
  callOperation,
  checkOperationBody,
  checkSpec,
  type Kind,
  type RunContext,
  type StoredObject,
  withoutMask,
} from '../kind.ts';
import { sortById } from '../sort-by-id.ts';

const UserSpec = UserWrite.pick({
  first_name: true,
  last_name: true,
  active: true,
  group_id: true,
  password_max_days: true,
  user_permissions: true,
}).extend({ initial_password: UserWrite.shape.password });

/** `ResetPassword` is the operator's to grant, and no part of a spec. */
const operatorPermission = 'ResetPassword';

function toStoredObject(user: StoredUser): StoredObject {
  const { first_name, last_name, active, group_id, password_max_days } = user;
  const { [operatorPermission]: _granted, ...user_permissions } = user.user_permissions;
  return {
    id: user.email_address,
    spec: { first_name, last_name, active, group_id, password_max_days, user_permissions },
    source: user,
  };
}

/** New users with a password that one run creates: each hash takes a fraction of a second. */
const maxNewPasswords = 100;

function checkUser(context: RunContext, { id, given, before }: CheckInput): CheckedObject {
  const { initial_password: password, ...spec } = checkSpec(context, UserSpec, { id, given });
  const passwordFaults =
    before || password === undefined ? [] : findPasswordFaults(password, readPasswordPolicy(context.services.settings));
  const errors = [
    ...passwordFaults.map(message => ({ path: 'initial_password', message })),
    ...(id === id.toLowerCase() ? [] : [{ path: 'id', message: 'of a user is its e-mail address in lower case' }]),
    ...(operatorPermission in spec.user_permissions
      ? [{ path: `user_permissions.${operatorPermission}`, message: 'only the operator grants it: leave it out' }]
      : []),
  ];
  if (errors.length > 0) throw createInvalidProblem(errors);
  const { active = false, group_id = '', password_max_days = 0 } = spec;
  return { id, given, spec: { ...spec, active, group_id, password_max_days }, checked: password };
}

/** Hashes the passwords of new users: the transaction would hold its locks meanwhile, and a plan needs none. */
async function hashPasswords(
  { services, passwordHashes, commits, pace }: RunContext,
  created: readonly CheckedObject[],
): Promise<void> {
  const withPassword = created.filter(({ checked }) => checked !== undefined);
  if (withPassword.length > maxNewPasswords) {
    const message = `of at most ${maxNewPasswords} new users in one run: leave it out, and send links, or send fewer`;
    throw createInvalidProblem([{ path: 'initial_password', message }]);
  }
  if (!commits) return;
  for (const { id, checked } of withPassword) {
    await pace();
    passwordHashes.set(id, await hashNewPassword(checked as string, services.settings));
  }
}

async function create(context: RunContext, { id, spec, checked: password }: CheckedObject): Promise<void> {
  const sent = { ...spec, email_address: id, ...(password !== undefined && { password }) };
  await authorize(context, createUser, { body: sent });
  const write = checkOperationBody(context, createUser, sent)!.body as UserWrite;
  const hash = context.passwordHashes.get(id);
  if (context.commits && password !== undefined && hash === undefined)
    throw createInvalidProblem([{ path: 'initial_password', message: 'the user was deleted meanwhile: apply again' }]);
  await addUser(context.services, context.actor, write, hash);
}

/** Users, by e-mail address. Passwords and access keys are no part of the configuration. */
export const userKind: Kind = {
  name: 'user',
  permission: 'users',
  list: async context => sortById((await context.readUsers()).map(toStoredObject)),
  check: checkUser,
  prepare: hashPasswords,
  mask: withoutMask,
  create,
  update(context, { id, spec }, { source }) {
    const params = { userId: (source as StoredUser).id };
    return callOperation(context, updateUser, { params, body: { ...spec, email_address: id } });
  },
  isKept: ({ actor }, { source }) => (source as StoredUser).id === actor.id,
  remove: (context, { source }) =>
    callOperation(context, deleteUser, { params: { userId: (source as StoredUser).id } }),
};
