import { createInvalidProblem } from '#operations/validation-error.ts';
import { createUser, deleteUser, updateUser } from '#people/users/operations.ts';
import { type StoredUser, UserWrite } from '#people/users/schema.ts';
import {
  type CheckInput,
  callOperation,
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

function checkUser(context: RunContext, { id, given }: CheckInput) {
  const { initial_password: _password, ...spec } = checkSpec(context, UserSpec, { id, given });
  const errors = [
    ...(id === id.toLowerCase() ? [] : [{ path: 'id', message: 'of a user is its e-mail address in lower case' }]),
    ...(operatorPermission in spec.user_permissions
      ? [{ path: `user_permissions.${operatorPermission}`, message: 'only the operator grants it: leave it out' }]
      : []),
  ];
  if (errors.length > 0) throw createInvalidProblem(errors);
  const { active = false, group_id = '', password_max_days = 0 } = spec;
  return { id, given, spec: { ...spec, active, group_id, password_max_days } };
}

/** Users, by e-mail address. Passwords and access keys are no part of the configuration. */
export const userKind: Kind = {
  name: 'user',
  permission: 'users',
  list: async context => sortById((await context.readUsers()).map(toStoredObject)),
  check: checkUser,
  mask: withoutMask,
  create(context, { id, spec, given }) {
    const { initial_password: password } = given;
    const body = { ...spec, email_address: id, ...(password !== undefined && { password }) };
    return callOperation(context, createUser, { body });
  },
  update(context, { id, spec }, { source }) {
    const params = { userId: (source as StoredUser).id };
    return callOperation(context, updateUser, { params, body: { ...spec, email_address: id } });
  },
  isKept: ({ actor }, { source }) => (source as StoredUser).id === actor.id,
  remove: (context, { source }) =>
    callOperation(context, deleteUser, { params: { userId: (source as StoredUser).id } }),
};
