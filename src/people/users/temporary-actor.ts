import type { Settings } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import { toGroupPermissions } from '../groups/effective-permissions.ts';
import type { GroupStore } from '../groups/store.ts';
import { mergePermissions } from '../permissions/rank.ts';
import type { PermissionMap } from '../permissions/table.ts';
import { problem } from '../problems.ts';
import type { SessionIdentity } from './identity.ts';
import { permissionMap } from './schema.ts';

export interface TemporaryPermissions {
  readonly groupIds: readonly string[];
  readonly permissions: PermissionMap;
}

export type TemporaryActors = ReturnType<typeof createTemporaryActors>;

/** Actors of users who signed on without an account. */
export function createTemporaryActors(groups: GroupStore, settings: Settings) {
  const defaults = readPermissionDefaults(settings);
  const defaultGroupId = settings['sso.default_group_id'];

  /**
   * Permissions of an identity: the defaults of the installation and those of its active groups, of each name the
   * higher level. A group that does not exist in the organisation gives nothing; neither does no group at all.
   */
  async function findPermissions(orgId: string, groupIds: readonly string[]): Promise<TemporaryPermissions> {
    const named = groupIds.length > 0 ? groupIds : [defaultGroupId].filter(Boolean);
    const found = await Promise.all([...new Set(named)].map(id => groups.get(orgId, id)));
    const active = found.filter(group => group?.active);
    return {
      groupIds: active.map(group => group!.id),
      permissions: mergePermissions([defaults, ...active.map(toGroupPermissions)]),
    };
  }

  return {
    /** Permissions of every user, `sso.permission_defaults`. */
    defaults,
    /** User group where an identity has none, `sso.default_group_id`. */
    defaultGroupId,
    findPermissions,
    async resolve(orgId: string, id: string, identity: SessionIdentity): Promise<Actor> {
      const { email, displayName, groupIds, createdBy } = identity;
      const temporaryUser = { email, displayName };
      // The creator of a nonce chooses the address: audit records name both.
      const name = createdBy ? `${email} (single sign-on by ${createdBy})` : `${email} (single sign-on)`;
      return { surface: 'dashboard', id, name, orgId, temporaryUser, ...(await findPermissions(orgId, groupIds)) };
    },
  };
}

/** Parses `sso.permission_defaults`; invalid ones fail the start. */
function readPermissionDefaults(settings: Settings): PermissionMap {
  const parsed = permissionMap.safeParse(settings['sso.permission_defaults']);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw problem.sso_defaults_unusable({ detail: { faults } });
}
