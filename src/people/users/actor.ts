import type { Actor } from '#operations/actor.ts';
import type { StoredUser } from './schema.ts';

/** Actor of a dashboard user, for access keys and sessions alike. */
export type ResolveActor = (user: StoredUser) => Promise<Actor>;

export const toDashboardActor = (user: StoredUser): Actor => ({
  surface: 'dashboard',
  id: user.id,
  name: user.email_address,
  orgId: user.org_id,
  groupId: user.group_id,
  permissions: user.user_permissions,
});
