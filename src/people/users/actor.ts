import type { Actor } from '#operations/actor.ts';
import { combinePermissions, findGroupOf } from '../groups/effective-permissions.ts';
import type { GroupStore } from '../groups/store.ts';
import type { StoredUser } from './schema.ts';

/** Actor of a dashboard user, for access keys and sessions alike. */
export type ResolveActor = (user: StoredUser) => Promise<Actor>;

/** With the permissions of the user's group. An inactive group counts for the ownership of APIs neither. */
export const createActorResolver =
  (groups: GroupStore): ResolveActor =>
  async user => {
    const group = await findGroupOf(groups, user);
    return {
      surface: 'dashboard',
      id: user.id,
      name: user.email_address,
      orgId: user.org_id,
      ...(group?.active && { groupIds: [group.id] }),
      permissions: combinePermissions(user, group),
    };
  };
