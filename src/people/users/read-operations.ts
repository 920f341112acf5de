import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem as refusal } from '#operations/problems.ts';
import { pageNumber, pageQuery, toPageRequest } from '#operations/shapes.ts';
import { combinePermissions } from '../groups/effective-permissions.ts';
import type { GroupStore } from '../groups/store.ts';
import { isOutranked } from '../permissions/rank.ts';
import { problem } from '../problems.ts';
import { createHiddenOwnerCheck, type GrantCheckServices } from './grant-check.ts';
import { toUserView } from './identity.ts';
import { type StoredUser, toUser, toUserWithoutKey, User } from './schema.ts';
import type { UserFilter, UserStore } from './store.ts';

interface UserReadServices extends Pick<GrantCheckServices, 'ownership'> {
  users: UserStore;
  groups: GroupStore;
  settings: Settings;
}

const params = z.object({ userId: z.string() });
const userPage = z.object({ users: z.array(User), pages: z.int() });
const declared = { surface: 'dashboard', noun: 'users' } as const;

type UserView = (user: StoredUser) => User;

/**
 * Hides access keys of other users: with one the actor could act as that user. They need a permission of their own, and
 * all permissions of the other user, who owns no API that is hidden from the actor.
 */
async function createUserView(actor: Actor, services: UserReadServices): Promise<UserView> {
  const { groups, settings } = services;
  if (settings['users.hide_access_keys'] || !hasPermission(actor, 'access_keys:read'))
    return user => (user.id === actor.id ? toUser(user) : toUserWithoutKey(user));
  const groupsById = new Map((await groups.all(actor.orgId)).map(group => [group.id, group]));
  const ownsHiddenApis = await createHiddenOwnerCheck(services, actor);
  const mayReadKey = (user: StoredUser) =>
    !isOutranked(actor.permissions, combinePermissions(user, groupsById.get(user.group_id))) && !ownsHiddenApis(user);
  return user => (user.id === actor.id || mayReadKey(user) ? toUser(user) : toUserWithoutKey(user));
}

async function listPage(services: UserReadServices, actor: Actor, p: number, emailPart = '', filter: UserFilter = {}) {
  const { users, settings } = services;
  const request = toPageRequest(p, settings['management.page_size']);
  const { items, pages } = await users.page(actor.orgId, request, emailPart, filter);
  return { users: items.map(await createUserView(actor, services)), pages };
}

export const listUsers = operation({
  ...declared,
  name: 'listUsers',
  method: 'GET',
  path: '/api/users',
  about: 'Lists the users of the caller’s organisation, newest first.',
  permission: 'users:read',
  query: pageQuery.extend({
    search: z.string().trim().max(254).optional().describe('Part of the e-mail address or name, case-insensitive'),
    state: z.enum(['active', 'inactive']).optional(),
  }),
  returns: userPage,
  handle: ({ actor, query: { p, search, state } }, services: UserReadServices) =>
    listPage(services, actor, p, '', { text: search, isActive: state && state === 'active' }),
});

export const listUsersOfGroup = operation({
  ...declared,
  name: 'listUsersOfGroup',
  method: 'GET',
  path: '/api/usergroups/{groupId}/users',
  about: 'Lists the users of a user group, newest first.',
  permission: 'users:read',
  params: z.object({ groupId: z.string() }),
  query: pageQuery,
  returns: userPage,
  problems: [problem.group_not_found],
  async handle({ actor, params: { groupId }, query }, services: UserReadServices) {
    const { users, groups, settings } = services;
    if (!(await groups.get(actor.orgId, groupId))) throw problem.group_not_found();
    const request = toPageRequest(query.p, settings['management.page_size']);
    const { items, pages } = await users.pageOfGroup(actor.orgId, groupId, request);
    return { users: items.map(await createUserView(actor, services)), pages };
  },
});

export const searchUsers = operation({
  ...declared,
  name: 'searchUsers',
  method: 'GET',
  path: '/api/users/search',
  about: 'Finds users whose e-mail address contains a text.',
  permission: 'users:read',
  query: z.object({
    q: z.string().max(254).optional().describe('Part of the e-mail address'),
    email: z.string().max(254).optional().describe('The same as q'),
    email_address: z.string().max(254).optional().describe('The same as q'),
    p: pageNumber,
  }),
  returns: userPage,
  handle: ({ actor, query: { p, q, email, email_address } }, services: UserReadServices) =>
    listPage(services, actor, p, q ?? email ?? email_address ?? ''),
});

export const searchUsersPrivately = operation({
  ...declared,
  name: 'searchUsersPrivately',
  changesNothing: true,
  method: 'POST',
  path: '/api/users/search',
  about: 'Finds users like the other search, with the text in the body: no e-mail address is in the URL.',
  permission: 'users:read',
  query: pageQuery,
  body: z.object({ filters: z.object({ query: z.string().min(1).max(254) }) }),
  returns: userPage,
  handle: ({ actor, query, body }, services: UserReadServices) =>
    listPage(services, actor, query.p, body.filters.query),
});

export const getMe = operation({
  ...declared,
  name: 'getMe',
  method: 'GET',
  path: '/api/users/me',
  about: 'Returns the caller’s own user.',
  permission: 'any user',
  returns: User,
  async handle({ actor }, { users }: UserReadServices) {
    if (actor.temporaryUser) return toUserView(actor, actor.temporaryUser);
    const user = await users.get(actor.orgId, actor.id);
    if (!user) throw problem.user_not_found();
    return toUser(user);
  },
});

export const getUser = operation({
  ...declared,
  name: 'getUser',
  versioned: 'users',
  method: 'GET',
  path: '/api/users/{userId}',
  about: 'Returns a user: the caller, or with users:read any user of the organisation.',
  permission: 'any user',
  params,
  returns: User,
  problems: [problem.user_not_found, refusal.not_permitted],
  async handle({ actor, params: { userId } }, services: UserReadServices) {
    requirePermissionForOthers(actor, userId, 'users:read');
    const user = await services.users.get(actor.orgId, userId);
    if (!user) throw problem.user_not_found();
    return (await createUserView(actor, services))(user);
  },
});

/** Operations on one's own record need no permission; on another user's they do. */
export function requirePermissionForOthers(actor: Actor, userId: string, permission: string): void {
  if (userId !== actor.id && !hasPermission(actor, permission)) throw refusal.not_permitted({ detail: { permission } });
}

export const userReadOperations = [listUsers, listUsersOfGroup, searchUsers, searchUsersPrivately, getMe, getUser];
