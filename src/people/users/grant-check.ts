import { type Actor, isAdmin } from '#operations/actor.ts';
import {
  combinePermissions,
  findEffectivePermissions,
  findGroupOf,
  toGroupPermissions,
} from '../groups/effective-permissions.ts';
import type { StoredGroup } from '../groups/schema.ts';
import type { GroupStore } from '../groups/store.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import { checkPermissionNames } from '../permissions/names.ts';
import { type ExcessPermission, findExcess, isOutranked } from '../permissions/rank.ts';
import { administratorPermissions } from '../permissions/table.ts';
import { problem } from '../problems.ts';
import type { StoredUser } from './schema.ts';
import type { UserStore } from './store.ts';

export interface PermissionServices {
  groups: GroupStore;
  organisations: OrganisationStore;
}

interface HiddenOwners {
  hasUser(userId: string): boolean;
  hasGroup(groupId: string): boolean;
}

export interface GrantCheckServices extends PermissionServices {
  ownership: {
    /** Users and groups that own an API which the actor must not see. */
    findHiddenOwners(actor: Actor): Promise<HiddenOwners>;
  };
}

type Grantee = Pick<StoredUser, 'org_id' | 'group_id' | 'user_permissions' | 'active'>;

/** Rejects a grant above what the actor holds. */
export function rejectExcess(actor: Actor, excess: ExcessPermission | undefined): void {
  if (!excess) return;
  const { permission } = excess;
  if (administratorPermissions.includes(permission) && !isAdmin(actor))
    throw problem.only_admin_grants({ detail: { permission } });
  throw problem.grant_not_held({ detail: { ...excess } });
}

/** Rejects names of permissions that do not exist, and a new group that its organisation does not have. */
export async function checkPermissionsExist(
  { groups, organisations }: PermissionServices,
  next: Grantee,
  before?: Grantee,
): Promise<void> {
  const custom = (await organisations.get(next.org_id))?.additional_permissions ?? {};
  checkPermissionNames(next.user_permissions, { custom, before: before?.user_permissions });
  const isKept = next.group_id === before?.group_id && next.org_id === before.org_id;
  if (next.group_id !== '' && !isKept && !(await findGroupOf(groups, next)))
    throw problem.group_unknown({ detail: { id: next.group_id } });
}

/**
 * Privilege escalation check of a created or changed user: neither its own permissions, nor those that a group gives
 * it, nor the APIs which that group owns may exceed what the actor holds. Activation counts as giving them.
 */
export async function checkUserGrant(
  services: GrantCheckServices,
  actor: Actor,
  next: Grantee,
  before?: Grantee,
): Promise<void> {
  const { groups, ownership } = services;
  const held = actor.permissions;
  rejectExcess(actor, findExcess(held, next.user_permissions, before?.user_permissions));
  const inEffect = async (user: Grantee | undefined) => (user?.active ? findEffectivePermissions(groups, user) : {});
  rejectExcess(actor, findExcess(held, await inEffect(next), await inEffect(before)));
  await checkPermissionsExist(services, next, before);
  if (next.group_id === '' || next.group_id === before?.group_id) return;
  const group = await findGroupOf(groups, next);
  rejectExcess(actor, findExcess(held, group?.user_permissions ?? {}));
  if ((await ownership.findHiddenOwners(actor)).hasGroup(next.group_id)) throw problem.group_owns_hidden_apis();
}

/** The same for a group: its permissions, and those that it gives its users by becoming active. */
export function checkGroupGrant(actor: Actor, next: Permissions, before?: Permissions): void {
  const inEffect = (group: Permissions | undefined) => (group?.active ? group.user_permissions : {});
  rejectExcess(actor, findExcess(actor.permissions, next.user_permissions, before?.user_permissions));
  rejectExcess(actor, findExcess(actor.permissions, inEffect(next), inEffect(before)));
}
type Permissions = Pick<StoredGroup, 'active' | 'user_permissions'>;

/** Finds out who owns an API that the actor must not see, by itself or by its group. */
export async function createHiddenOwnerCheck({ ownership }: Pick<GrantCheckServices, 'ownership'>, actor: Actor) {
  const owners = await ownership.findHiddenOwners(actor);
  return ({ id, group_id }: StoredUser): boolean => owners.hasUser(id) || owners.hasGroup(group_id);
}

/**
 * Rejects what would let the actor act as a user who holds more, such as a new password, access key or e-mail address,
 * or shut that user out.
 */
export async function rejectOutranking(groups: GroupStore, actor: Actor, target: StoredUser): Promise<void> {
  if (target.id === actor.id) return;
  if (isOutranked(actor.permissions, await findEffectivePermissions(groups, target))) throw problem.user_outranks();
}

/** Users of a group that one read compares. */
const usersPerRead = 500;

/**
 * Rejects a change of a group that takes permissions from a user who holds more than the actor; a deactivation takes
 * all. Inside `runExclusive`.
 */
export async function rejectGroupDemotion(
  users: UserStore,
  actor: Actor,
  before: StoredGroup,
  next: Pick<StoredGroup, 'active' | 'user_permissions'>,
): Promise<void> {
  const held = actor.permissions;
  const isLowered = isOutranked(toGroupPermissions(next), toGroupPermissions(before));
  if (!isLowered || !isOutranked(held, toGroupPermissions(before))) return;
  for (let page = 1, pages = 1; page <= pages; page++) {
    const found = await users.pageOfGroup(before.org_id, before.id, { page, size: usersPerRead });
    const outranks = (user: StoredUser) =>
      user.id !== actor.id && user.active && isOutranked(held, combinePermissions(user, before));
    if (found.items.some(outranks)) throw problem.group_outranks();
    pages = found.pages;
  }
}

/** Rejects a change that takes permissions from a user who holds more than the actor; a deactivation takes all. */
export async function rejectDemotion(
  groups: GroupStore,
  actor: Actor,
  before: StoredUser,
  next: StoredUser,
): Promise<void> {
  const inEffect = async (user: StoredUser) => (user.active ? findEffectivePermissions(groups, user) : {});
  if (isOutranked(await inEffect(next), await inEffect(before))) await rejectOutranking(groups, actor, before);
}
