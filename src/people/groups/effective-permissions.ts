import type { PermissionMap } from '../permissions/table.ts';
import type { StoredUser } from '../users/schema.ts';
import type { StoredGroup } from './schema.ts';
import type { GroupStore } from './store.ts';

type Member = Pick<StoredUser, 'org_id' | 'group_id' | 'user_permissions'>;

/** Permissions that a group gives: none while it is inactive, or where it does not exist. */
export const toGroupPermissions = (group: Pick<StoredGroup, 'active' | 'user_permissions'> | undefined) =>
  group?.active ? group.user_permissions : {};

/**
 * Permissions in effect. Those of a user with a group are the group's, and what is denied to the user itself stays
 * denied. An administrator is not narrowed by a group.
 */
export function combinePermissions(user: Member, group: StoredGroup | undefined): PermissionMap {
  const { group_id, user_permissions: own } = user;
  if (group_id === '' || own.IsAdmin === 'admin') return own;
  const kept = Object.entries(own).filter(([name, level]) => level === 'deny' || name === 'ResetPassword');
  return { ...toGroupPermissions(group), ...Object.fromEntries(kept) };
}

/** The group of a user, read from its own organisation: the id of another organisation's group gives nothing. */
export const findGroupOf = (groups: GroupStore, { org_id, group_id }: Member): Promise<StoredGroup | undefined> =>
  group_id === '' ? Promise.resolve(undefined) : groups.get(org_id, group_id);

export const findEffectivePermissions = async (groups: GroupStore, user: Member): Promise<PermissionMap> =>
  combinePermissions(user, await findGroupOf(groups, user));
