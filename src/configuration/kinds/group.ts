import { createInvalidProblem } from '#operations/validation-error.ts';
import { addGroup, createUserGroup, deleteUserGroup, updateUserGroup } from '#people/groups/operations.ts';
import { type StoredGroup, UserGroupWrite } from '#people/groups/schema.ts';
import { authorize, callOperation, checkSpec, type Kind, type StoredObject, withoutMask } from '../kind.ts';
import { sortById } from '../sort-by-id.ts';
import { databaseId } from './database-id.ts';

const GroupSpec = UserGroupWrite.pick({
  name: true,
  description: true,
  active: true,
  password_max_days: true,
  user_permissions: true,
});

const toStoredObject = ({ id, org_id: _org, created_at_ms: _at, ...spec }: StoredGroup): StoredObject => ({
  id,
  spec,
  source: undefined,
});

/** User groups, by database id: users and owners of APIs name them by it. */
export const groupKind: Kind = {
  name: 'group',
  permission: 'user_groups',
  async list({ services, actor }) {
    return sortById((await services.groups.all(actor.orgId)).map(toStoredObject));
  },
  check(context, { id, given, before }) {
    if (!before && !databaseId.safeParse(id).success)
      throw createInvalidProblem([{ path: 'id', message: 'of a user group must be 24 hexadecimal digits' }]);
    return { id, given, spec: checkSpec(context, GroupSpec, { id, given }) };
  },
  mask: withoutMask,
  async create(context, { id, spec }) {
    await authorize(context, createUserGroup, { body: spec });
    await addGroup(context.services, context.actor, { ...GroupSpec.parse(spec), id });
  },
  update: (context, { id, spec }) => callOperation(context, updateUserGroup, { params: { groupId: id }, body: spec }),
  remove: (context, { id }) => callOperation(context, deleteUserGroup, { params: { groupId: id } }),
};
