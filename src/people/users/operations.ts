import { z } from 'zod';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import { findPasswordFaults, hashPassword, verifyPassword } from '#base/passwords.ts';
import type { Settings } from '#base/settings.ts';
import { type Actor, hasPermission, isAdmin } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem as refusal } from '#operations/problems.ts';
import { pageNumber, pageQuery, statusResponse, toPageRequest, toStatus } from '#operations/shapes.ts';
import { problem } from '../problems.ts';
import { readPasswordPolicy } from './password-policy.ts';
import { buildUser, type StoredUser, toUser, User, UserChange, UserWrite } from './schema.ts';
import type { UserStore } from './store.ts';

export interface UserServices {
  users: UserStore;
  clock: Clock;
  settings: Settings;
}

const params = z.object({ userId: z.string() });
const userPage = z.object({ users: z.array(User), pages: z.int() });
const declared = { surface: 'dashboard', noun: 'users' } as const;

/** Hides access keys of other users from non-administrators: with one they could act as that user. */
const createUserView = (actor: Actor, settings: Settings) => (user: StoredUser) =>
  toUser(user, user.id !== actor.id && (settings['users.hide_access_keys'] || !isAdmin(actor)));

async function listPage({ users, settings }: UserServices, actor: Actor, p: number, emailPart = '') {
  const { items, pages } = await users.page(actor.orgId, toPageRequest(p, settings['management.page_size']), emailPart);
  return { users: items.map(createUserView(actor, settings)), pages };
}

export const listUsers = operation({
  ...declared,
  name: 'listUsers',
  method: 'GET',
  path: '/api/users',
  about: 'Lists the users of the caller’s organisation, newest first.',
  permission: 'users:read',
  query: pageQuery,
  returns: userPage,
  handle: ({ actor, query }, services: UserServices) => listPage(services, actor, query.p),
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
  handle: ({ actor, query: { p, q, email, email_address } }, services: UserServices) =>
    listPage(services, actor, p, q ?? email ?? email_address ?? ''),
});

export const searchUsersPrivately = operation({
  ...declared,
  name: 'searchUsersPrivately',
  method: 'POST',
  path: '/api/users/search',
  about: 'Finds users like the other search, with the text in the body: no e-mail address is in the URL.',
  permission: 'users:read',
  query: pageQuery,
  body: z.object({ filters: z.object({ query: z.string().min(1).max(254) }) }),
  returns: userPage,
  handle: ({ actor, query, body }, services: UserServices) => listPage(services, actor, query.p, body.filters.query),
});

export const getMe = operation({
  ...declared,
  name: 'getMe',
  method: 'GET',
  path: '/api/users/me',
  about: 'Returns the caller’s own user.',
  permission: 'any user',
  returns: User,
  async handle({ actor }, { users }: UserServices) {
    const user = await users.get(actor.orgId, actor.id);
    if (!user) throw problem.user_not_found();
    return toUser(user);
  },
});

export const getUser = operation({
  ...declared,
  name: 'getUser',
  method: 'GET',
  path: '/api/users/{userId}',
  about: 'Returns a user: the caller, or with users:read any user of the organisation.',
  permission: 'any user',
  params,
  returns: User,
  problems: [problem.user_not_found, refusal.not_permitted],
  async handle({ actor, params: { userId } }, { users, settings }: UserServices) {
    requirePermissionForOthers(actor, userId, 'users:read');
    const user = await users.get(actor.orgId, userId);
    if (!user) throw problem.user_not_found();
    return createUserView(actor, settings)(user);
  },
});

/** Operations on one's own record need no permission; on another user's they do. */
function requirePermissionForOthers(actor: Actor, userId: string, permission: string): void {
  if (userId !== actor.id && !hasPermission(actor, permission)) throw refusal.not_permitted({ detail: { permission } });
}

const adminOnlyPermissions = ['IsAdmin', 'ResetPassword'];

/** Rejects granting permissions that the actor does not hold: with users:write alone an actor could promote itself. */
function refusePromotion(actor: Actor, requested: Record<string, string>, before: Record<string, string> = {}): void {
  if (isAdmin(actor)) return;
  for (const [permission, level] of Object.entries(requested)) {
    if (level === 'deny' || (Object.hasOwn(before, permission) && before[permission] === level)) continue;
    if (adminOnlyPermissions.includes(permission)) throw problem.only_admin_grants({ detail: { permission } });
    if (!hasPermission(actor, `${permission}:${level === 'read' ? 'read' : 'write'}`))
      throw problem.grant_not_held({ detail: { permission, level } });
  }
}

export async function hashNewPassword(password: string, settings: Settings): Promise<string> {
  const faults = findPasswordFaults(password, readPasswordPolicy(settings));
  if (faults.length > 0)
    throw problem.bad_password({ detail: { faults: faults.map(fault => `password: ${fault}`).join('; ') } });
  return hashPassword(password);
}

export const createUser = operation({
  ...declared,
  name: 'createUser',
  method: 'POST',
  path: '/api/users',
  about: 'Creates a user in the caller’s organisation.',
  permission: 'users:write',
  body: UserWrite,
  returns: statusResponse,
  problems: [problem.email_exists, problem.bad_password, problem.only_admin_grants, problem.grant_not_held],
  async handle({ actor, body, audit }, { users, clock, settings }: UserServices) {
    refusePromotion(actor, body.user_permissions);
    const createdAt = formatIsoTime(clock.now());
    const user = buildUser({
      id: createDatabaseId(),
      accessKey: createPublicId(),
      orgId: actor.orgId,
      createdAt,
      write: body,
    });
    if (body.password !== undefined) {
      user.password = await hashNewPassword(body.password, settings);
      user.password_updated = createdAt;
    }
    await users.insert(user);
    audit(user.id);
    return toStatus('User and session have been created', user.id);
  },
});

/** Only the operator grants `ResetPassword`: an update preserves it. */
const preserveResetPassword = (previous: StoredUser, next: Record<string, string>) => {
  const { ResetPassword: _ignored, ...rest } = next;
  const held = previous.user_permissions.ResetPassword;
  return held === undefined ? rest : { ...rest, ResetPassword: held };
};

export const updateUser = operation({
  ...declared,
  name: 'updateUser',
  method: 'PUT',
  path: '/api/users/{userId}',
  about: 'Updates a user. The password has an operation of its own.',
  permission: 'users:write',
  params,
  body: UserChange,
  returns: statusResponse,
  problems: [
    problem.user_not_found,
    problem.email_exists,
    problem.only_admin_grants,
    problem.grant_not_held,
    problem.last_administrator,
  ],
  async handle({ actor, params: { userId }, body, audit }, { users }: UserServices) {
    audit(userId);
    const staysAdministrator = body.active !== false && body.user_permissions.IsAdmin === 'admin';
    await users.runExclusive(async () => {
      const target = staysAdministrator
        ? await users.get(actor.orgId, userId)
        : await findRemovableUser(users, actor, userId);
      if (!target) throw problem.user_not_found();
      requireAdminToChangeAdmin(actor, target);
      refusePromotion(actor, preserveResetPassword(target, body.user_permissions), target.user_permissions);
      await users.change({ id: userId, org_id: actor.orgId }, user => ({
        ...user,
        ...body,
        active: body.active ?? user.active,
        group_id: body.group_id ?? user.group_id,
        password_max_days: body.password_max_days ?? user.password_max_days,
        user_permissions: preserveResetPassword(user, body.user_permissions),
      }));
    });
    return toStatus('User updated');
  },
});

export const deleteUser = operation({
  ...declared,
  name: 'deleteUser',
  method: 'DELETE',
  path: '/api/users/{userId}',
  about: 'Deletes a user; its access key is refused at once.',
  permission: 'users:write',
  params,
  returns: statusResponse,
  problems: [problem.user_not_found, problem.last_administrator],
  async handle({ actor, params: { userId }, audit }, { users }: UserServices) {
    audit(userId);
    await users.runExclusive(async () => {
      await findRemovableUser(users, actor, userId);
      await users.remove(actor.orgId, userId);
    });
    return toStatus('User deleted');
  },
});

const isAdministrator = ({ user_permissions }: StoredUser) => user_permissions.IsAdmin === 'admin';

/** Only administrators may change administrators. */
function requireAdminToChangeAdmin(actor: Actor, target: StoredUser): void {
  if (isAdministrator(target) && !isAdmin(actor))
    throw problem.only_admin_grants({ detail: { permission: 'IsAdmin' } });
}

/** Finds a user to remove or demote; rejects the organisation's last administrator. Inside `runExclusive`. */
async function findRemovableUser(users: UserStore, actor: Actor, userId: string): Promise<StoredUser> {
  const target = await users.get(actor.orgId, userId);
  if (!target) throw problem.user_not_found();
  requireAdminToChangeAdmin(actor, target);
  if (isAdministrator(target) && !(await users.hasOtherAdministrators(actor.orgId, userId)))
    throw problem.last_administrator();
  return target;
}

export const resetAccessKey = operation({
  ...declared,
  name: 'resetAccessKey',
  method: 'PUT',
  path: '/api/users/{userId}/actions/key/reset',
  about: 'Renews the access key of a user; the old one is refused at once. Every user may renew their own.',
  permission: 'any user',
  params,
  returns: statusResponse,
  problems: [problem.user_not_found, problem.own_key_only],
  async handle({ actor, params: { userId }, audit }, { users, settings }: UserServices) {
    audit(userId);
    requirePermissionForOthers(actor, userId, 'users:write');
    if (userId !== actor.id && settings['users.renew_own_access_key_only']) throw problem.own_key_only();
    if (userId !== actor.id && !isAdmin(actor)) throw problem.user_not_found();
    const changed = await users.change({ id: userId, org_id: actor.orgId }, user => ({
      ...user,
      access_key: createPublicId(),
    }));
    if (!changed) throw problem.user_not_found();
    return toStatus('User session renewed');
  },
});

export const resetPassword = operation({
  ...declared,
  name: 'resetPassword',
  method: 'POST',
  path: '/api/users/{userId}/actions/reset',
  about: 'Sets the caller’s own password or, for an administrator with ResetPassword, that of another user.',
  permission: 'any user',
  params,
  body: z.object({ current_password: z.string().max(1024).optional(), new_password: z.string().max(1024) }),
  returns: statusResponse,
  problems: [problem.user_not_found, problem.wrong_password, problem.bad_password],
  async handle({ actor, params: { userId }, body, audit }, { users, clock, settings }: UserServices) {
    audit(userId);
    const user = await users.get(actor.orgId, userId);
    const own = userId === actor.id;
    if (!user || !(own || (isAdmin(actor) && actor.permissions.ResetPassword === 'admin')))
      throw problem.user_not_found();
    if (own && user.password && !(await verifyPassword(body.current_password ?? '', user.password)))
      throw problem.wrong_password();
    const password = await hashNewPassword(body.new_password, settings);
    await users.change({ id: userId, org_id: actor.orgId }, it => ({
      ...it,
      password,
      password_updated: formatIsoTime(clock.now()),
    }));
    return toStatus('User password updated');
  },
});

export const revokeUser = operation({
  ...declared,
  name: 'revokeUser',
  method: 'PUT',
  path: '/api/users/{userId}/actions/revoke',
  about: 'Deactivates a user and replaces the access key.',
  permission: 'users:write',
  params,
  returns: statusResponse,
  problems: [problem.user_not_found, problem.last_administrator],
  async handle({ actor, params: { userId }, audit }, { users }: UserServices) {
    audit(userId);
    await users.runExclusive(async () => {
      await findRemovableUser(users, actor, userId);
      const revoked = { active: false, access_key: createPublicId() };
      await users.change({ id: userId, org_id: actor.orgId }, user => ({ ...user, ...revoked }));
    });
    return toStatus('User revoked');
  },
});

export const userOperations = [
  listUsers,
  searchUsers,
  searchUsersPrivately,
  getMe,
  getUser,
  createUser,
  updateUser,
  deleteUser,
  resetAccessKey,
  resetPassword,
  revokeUser,
];
