import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { createDatabaseId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import { dependentsProblem, forceQuery, type RefuseDependents } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import { pageQuery, statusResponse, toPageRequest, toStatus } from '#operations/shapes.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import { checkPermissionNames } from '../permissions/names.ts';
import { administratorPermissions, type PermissionMap } from '../permissions/table.ts';
import { problem } from '../problems.ts';
import { checkGroupGrant, rejectGroupDemotion } from '../users/grant-check.ts';
import type { UserStore } from '../users/store.ts';
import { ListedUserGroup, type StoredGroup, toUserGroup, UserGroup, UserGroupWrite } from './schema.ts';
import type { GroupStore } from './store.ts';

export interface GroupServices {
  groups: GroupStore;
  users: UserStore;
  organisations: OrganisationStore;
  clock: Clock;
  settings: Settings;
}

const params = z.object({ groupId: z.string() });
const declared = { surface: 'dashboard', noun: 'user groups' } as const;
/** Problems of permissions of a group; a stored one has none that only administrators have. */
export const storedGroupGrantProblems = [problem.grant_not_held, problem.permission_unknown];
const groupGrantProblems = [...storedGroupGrantProblems, problem.group_permission_invalid];

type Permissions = Pick<StoredGroup, 'active' | 'user_permissions'>;

/** Rejects permissions that a group cannot have, or that the actor cannot give. */
export async function checkGroup(
  { organisations, users }: GroupServices,
  actor: Actor,
  next: Permissions,
  before?: StoredGroup,
): Promise<void> {
  rejectAdministratorPermissions(next.user_permissions);
  checkGroupGrant(actor, next, before);
  if (before) await rejectGroupDemotion(users, actor, before, next);
  const custom = (await organisations.get(actor.orgId))?.additional_permissions ?? {};
  checkPermissionNames(next.user_permissions, { custom, before: before?.user_permissions });
}

function rejectAdministratorPermissions(map: PermissionMap): void {
  const name = administratorPermissions.find(it => Object.hasOwn(map, it));
  if (name !== undefined) throw problem.group_permission_invalid({ detail: { name } });
}

/** Stores a new group after its checks, in one transaction. */
export const addGroup = (
  services: GroupServices,
  actor: Actor,
  group: z.output<typeof UserGroupWrite> & Pick<StoredGroup, 'id'>,
): Promise<void> =>
  services.users.runExclusive(async () => {
    await checkGroup(services, actor, group);
    await services.groups.insert({ ...group, org_id: actor.orgId, created_at_ms: services.clock.now() });
  });

export const listUserGroups = operation({
  ...declared,
  name: 'listUserGroups',
  method: 'GET',
  path: '/api/usergroups',
  about: 'Lists the user groups of the caller’s organisation, newest first.',
  permission: 'user_groups:read',
  query: pageQuery.extend({ q: z.string().trim().max(200).optional().describe('Part of the name, case-insensitive') }),
  returns: z.object({ groups: z.array(ListedUserGroup), pages: z.int() }),
  async handle({ actor, query: { p, q } }, { groups, users, settings }: GroupServices) {
    const request = toPageRequest(p, settings['management.page_size']);
    const { items, pages } = await groups.page(actor.orgId, request, q);
    const usersCounts = await users.countByGroup(actor.orgId);
    return { groups: items.map(it => ({ ...toUserGroup(it), users_count: usersCounts.get(it.id) ?? 0 })), pages };
  },
});

export const createUserGroup = operation({
  ...declared,
  name: 'createUserGroup',
  isRepeatable: true,
  method: 'POST',
  path: '/api/usergroups',
  about: 'Creates a user group; its id is the Meta of the response. It can carry permissions that the caller holds.',
  permission: 'user_groups:write',
  body: UserGroupWrite,
  returns: statusResponse,
  problems: [...groupGrantProblems, problem.limit_reached],
  async handle({ actor, body, audit }, services: GroupServices) {
    const id = createDatabaseId();
    audit(id);
    await addGroup(services, actor, { ...body, id });
    return toStatus('User group created', id);
  },
});

export const getUserGroup = operation({
  ...declared,
  name: 'getUserGroup',
  versioned: 'user_groups',
  method: 'GET',
  path: '/api/usergroups/{groupId}',
  about: 'Returns a user group.',
  permission: 'user_groups:read',
  params,
  returns: UserGroup,
  problems: [problem.group_not_found],
  async handle({ actor, params: { groupId } }, { groups }: GroupServices) {
    const group = await groups.get(actor.orgId, groupId);
    if (!group) throw problem.group_not_found();
    return toUserGroup(group);
  },
});

export const updateUserGroup = operation({
  ...declared,
  name: 'updateUserGroup',
  versioned: 'user_groups',
  method: 'PUT',
  path: '/api/usergroups/{groupId}',
  about: 'Replaces a user group. Its users have the new permissions at once.',
  permission: 'user_groups:write',
  params,
  body: UserGroupWrite,
  returns: statusResponse,
  problems: [problem.group_not_found, problem.group_outranks, ...groupGrantProblems],
  async handle({ actor, params: { groupId }, body, audit }, services: GroupServices) {
    audit(groupId);
    await services.users.runExclusive(async () => {
      const before = await services.groups.get(actor.orgId, groupId);
      if (!before) throw problem.group_not_found();
      await checkGroup(services, actor, body, before);
      await services.groups.replace({ ...before, ...body });
    });
    return toStatus('User group updated');
  },
});

export const deleteUserGroup = operation({
  ...declared,
  name: 'deleteUserGroup',
  versioned: 'user_groups',
  method: 'DELETE',
  path: '/api/usergroups/{groupId}',
  about: 'Deletes a user group without users.',
  permission: 'user_groups:write',
  params,
  query: forceQuery,
  returns: statusResponse,
  problems: [problem.group_not_found, problem.group_in_use, dependentsProblem],
  async handle(
    { actor, params: { groupId }, query, audit },
    { groups, users, refuseDependents }: GroupServices & { refuseDependents: RefuseDependents },
  ) {
    audit(groupId);
    await users.runExclusive(async () => {
      if (!(await groups.get(actor.orgId, groupId))) throw problem.group_not_found();
      await refuseDependents('usergroups', { actor, orgId: actor.orgId, ref: groupId }, query.force);
      const count = await users.countInGroup(actor.orgId, groupId);
      if (count > 0) throw problem.group_in_use({ detail: { count } });
      await groups.remove(actor.orgId, groupId);
    });
    return toStatus('User group deleted');
  },
});

export const groupOperations = [listUserGroups, createUserGroup, getUserGroup, updateUserGroup, deleteUserGroup];
