import { z } from 'zod';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { type Actor, isAdmin } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem as refusal } from '#operations/problems.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { problem } from '../problems.ts';
import { problem as signInProblem } from '../sessions/problems.ts';
import { type FactorServices, reauthenticate } from '../sessions/second-factor.ts';
import {
  checkUserGrant,
  createHiddenOwnerCheck,
  type GrantCheckServices,
  rejectDemotion,
  rejectOutranking,
} from './grant-check.ts';
import { createPasswordChange, hashNewPassword } from './new-password.ts';
import { requirePermissionForOthers, userReadOperations } from './read-operations.ts';
import { buildUser, callerConfirmation, type StoredUser, UserChange, UserWrite } from './schema.ts';
import type { UserStore } from './store.ts';

export interface UserServices extends GrantCheckServices, FactorServices {
  users: UserStore;
  clock: Clock;
  settings: Settings;
}

const params = z.object({ userId: z.string() });
const declared = { surface: 'dashboard', noun: 'users' } as const;
/** Problems of a re-authentication of the caller. */
const confirmationProblems = [
  signInProblem.reauthentication_failed,
  signInProblem.reauthentication_code_required,
  signInProblem.limited,
];
/** Problems of permissions and of the group of a user; those of a stored one have their levels. */
export const storedUserGrantProblems = [
  problem.only_admin_grants,
  problem.grant_not_held,
  problem.permission_unknown,
  problem.group_unknown,
  problem.group_owns_hidden_apis,
];
const userGrantProblems = [...storedUserGrantProblems, problem.permission_level_invalid];

export const createUser = operation({
  ...declared,
  name: 'createUser',
  isRepeatable: 'without password',
  method: 'POST',
  path: '/api/users',
  about: 'Creates a user in the caller’s organisation.',
  permission: 'users:write',
  body: UserWrite,
  returns: statusResponse,
  problems: [problem.email_exists, problem.bad_password, ...userGrantProblems],
  async handle({ actor, body, audit }, services: UserServices) {
    const hash = body.password === undefined ? undefined : await hashNewPassword(body.password, services.settings);
    const { id } = await addUser(services, actor, body, hash);
    audit(id);
    return toStatus('User and session have been created', id);
  },
});

/** Adds a user to the organisation of the actor. The password comes hashed: hashing is slow, and precedes any lock. */
export async function addUser(
  services: UserServices,
  actor: Actor,
  write: Parameters<typeof buildUser>[0]['write'],
  passwordHash: string | undefined,
): Promise<StoredUser> {
  const { users, clock } = services;
  const createdAt = formatIsoTime(clock.now());
  const ids = { id: createDatabaseId(), accessKey: createPublicId() };
  const user = buildUser({ ...ids, orgId: actor.orgId, createdAt, write });
  if (passwordHash !== undefined) {
    user.password = passwordHash;
    user.password_updated = createdAt;
  }
  await users.runExclusive(async () => {
    await checkUserGrant(services, actor, user);
    await users.insert(user);
  });
  return user;
}

/** Only the operator grants `ResetPassword`: an update preserves it. */
const preserveResetPassword = (previous: StoredUser, next: Record<string, string>) => {
  const { ResetPassword: _ignored, ...rest } = next;
  const held = previous.user_permissions.ResetPassword;
  return held === undefined ? rest : { ...rest, ResetPassword: held };
};

export const updateUser = operation({
  ...declared,
  name: 'updateUser',
  versioned: 'users',
  method: 'PUT',
  path: '/api/users/{userId}',
  about:
    'Updates a user. The password has an operation of its own. A new e-mail address of the caller requires current_password, and otp where the account has a second factor.',
  permission: 'users:write',
  params,
  body: UserChange,
  returns: statusResponse,
  problems: [
    problem.user_not_found,
    problem.email_exists,
    problem.email_owner_only,
    problem.user_outranks,
    problem.last_administrator,
    ...confirmationProblems,
    ...userGrantProblems,
  ],
  async handle({ actor, params: { userId }, body: sent, address, audit }, services: UserServices) {
    audit(userId);
    const { current_password: password, otp, ...body } = sent;
    const confirmed = { password, otp, address, email: body.email_address };
    const isConfirmed = await confirmEmailChange(services, actor, userId, confirmed);
    await changeUser(services, actor, userId, body, isConfirmed);
    return toStatus('User updated');
  },
});

type WrittenUser = Omit<z.output<typeof UserChange>, 'user_permissions'> & Pick<StoredUser, 'user_permissions'>;

/** Changes a user, by what the actor may give and take. `isConfirmed`: the caller has re-authenticated. */
export function changeUser(
  services: UserServices,
  actor: Actor,
  userId: string,
  written: WrittenUser,
  isConfirmed = false,
): Promise<void> {
  const { users } = services;
  const staysAdministrator = written.active !== false && written.user_permissions.IsAdmin === 'admin';
  return users.runExclusive(async () => {
    const target = staysAdministrator
      ? await users.get(actor.orgId, userId)
      : await findRemovableUser(users, actor, userId);
    if (!target) throw problem.user_not_found();
    requireAdminToChangeAdmin(actor, target);
    const changed: StoredUser = {
      ...target,
      ...written,
      active: written.active ?? target.active,
      group_id: written.group_id ?? target.group_id,
      password_max_days: written.password_max_days ?? target.password_max_days,
      user_permissions: preserveResetPassword(target, written.user_permissions),
    };
    await checkUserGrant(services, actor, changed, target);
    await rejectDemotion(services.groups, actor, target, changed);
    if (changed.email_address !== target.email_address) await checkEmailChange(services, actor, target, isConfirmed);
    await users.change({ id: userId, org_id: actor.orgId }, () => changed);
  });
}

/**
 * Re-authentication before the caller changes its own e-mail address: a session or access key alone would become a
 * password, which is reset by e-mail. False where the address is another user's, or stays.
 */
async function confirmEmailChange(
  services: UserServices,
  actor: Actor,
  userId: string,
  { password = '', otp, address, email }: EmailConfirmation,
): Promise<boolean> {
  const user = userId === actor.id ? await services.users.get(actor.orgId, userId) : undefined;
  if (!user || user.email_address === email) return false;
  if (user.password !== '') await reauthenticate(services, user, { password, otp }, address);
  return true;
}

interface EmailConfirmation {
  readonly password: string | undefined;
  readonly otp: string | undefined;
  readonly address: string;
  readonly email: string;
}

/** A password is reset by e-mail: a new address of another user gives access to that user. */
async function checkEmailChange(
  { groups }: UserServices,
  actor: Actor,
  target: StoredUser,
  isConfirmed: boolean,
): Promise<void> {
  if (target.id === actor.id && !isConfirmed) throw signInProblem.reauthentication_failed();
  if (target.id !== actor.id && !isAdmin(actor)) throw problem.email_owner_only();
  await rejectOutranking(groups, actor, target);
}

export const deleteUser = operation({
  ...declared,
  name: 'deleteUser',
  versioned: 'users',
  method: 'DELETE',
  path: '/api/users/{userId}',
  about: 'Deletes a user; its access key is refused at once.',
  permission: 'users:write',
  params,
  returns: statusResponse,
  problems: [problem.user_not_found, problem.user_outranks, problem.last_administrator],
  async handle({ actor, params: { userId }, audit }, services: UserServices) {
    const { users } = services;
    audit(userId);
    await users.runExclusive(async () => {
      await requireRemovableUser(services, actor, userId);
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

/** Rejects the removal of a user who holds more than the actor, or is not there. Inside `runExclusive`. */
async function requireRemovableUser({ users, groups }: UserServices, actor: Actor, userId: string): Promise<void> {
  const target = await users.get(actor.orgId, userId);
  if (!target) throw problem.user_not_found();
  await rejectOutranking(groups, actor, target);
  await findRemovableUser(users, actor, userId);
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
  versioned: 'users',
  method: 'PUT',
  path: '/api/users/{userId}/actions/key/reset',
  about:
    'Renews the access key of a user; the old one is refused at once, and only this response contains the new one. One’s own needs no permission, that of another user also access_keys:write.',
  permission: 'any user',
  params,
  returns: statusResponse.extend({
    access_key: z.string().describe('The new key; empty for another user where users.hide_access_keys is set'),
  }),
  problems: [
    problem.user_not_found,
    problem.own_key_only,
    problem.user_outranks,
    problem.user_owns_hidden_apis,
    refusal.not_permitted,
  ],
  async handle({ actor, params: { userId }, audit }, services: UserServices) {
    const { users, groups, settings } = services;
    audit(userId);
    requirePermissionForOthers(actor, userId, 'users:write');
    requirePermissionForOthers(actor, userId, 'access_keys:write');
    if (userId !== actor.id && settings['users.renew_own_access_key_only']) throw problem.own_key_only();
    const target = await users.get(actor.orgId, userId);
    if (!target) throw problem.user_not_found();
    await rejectOutranking(groups, actor, target);
    if (userId !== actor.id && (await createHiddenOwnerCheck(services, actor))(target))
      throw problem.user_owns_hidden_apis();
    const accessKey = createPublicId();
    const changed = await users.change({ id: userId, org_id: actor.orgId }, user => ({
      ...user,
      access_key: accessKey,
    }));
    if (!changed) throw problem.user_not_found();
    const isHidden = userId !== actor.id && settings['users.hide_access_keys'];
    return { ...toStatus('User session renewed'), access_key: isHidden ? '' : accessKey };
  },
});

export const resetPassword = operation({
  ...declared,
  name: 'resetPassword',
  versioned: 'users',
  method: 'POST',
  path: '/api/users/{userId}/actions/reset',
  about:
    'Sets the caller’s own password, with current_password, and otp where the account has a second factor; or, for an administrator with ResetPassword, that of another user.',
  permission: 'any user',
  params,
  body: z.object({ ...callerConfirmation, new_password: z.string().max(1024) }),
  returns: statusResponse,
  problems: [problem.user_not_found, problem.user_outranks, problem.bad_password, ...confirmationProblems],
  async handle({ actor, params: { userId }, body, address, audit }, services: UserServices) {
    audit(userId);
    const { users, groups, clock, settings } = services;
    const user = await users.get(actor.orgId, userId);
    const own = userId === actor.id;
    if (!user || !(own || (isAdmin(actor) && actor.permissions.ResetPassword === 'admin')))
      throw problem.user_not_found();
    await rejectOutranking(groups, actor, user);
    if (own && user.password !== '')
      await reauthenticate(services, user, { password: body.current_password ?? '', otp: body.otp }, address);
    const change = await createPasswordChange({ settings, clock }, user, body.new_password);
    await users.change({ id: userId, org_id: actor.orgId }, it => ({ ...it, ...change }));
    return toStatus('User password updated');
  },
});

export const revokeUser = operation({
  ...declared,
  name: 'revokeUser',
  versioned: 'users',
  method: 'PUT',
  path: '/api/users/{userId}/actions/revoke',
  about: 'Deactivates a user and replaces the access key.',
  permission: 'users:write',
  params,
  returns: statusResponse,
  problems: [problem.user_not_found, problem.user_outranks, problem.last_administrator],
  async handle({ actor, params: { userId }, audit }, services: UserServices) {
    const { users } = services;
    audit(userId);
    await users.runExclusive(async () => {
      await requireRemovableUser(services, actor, userId);
      const revoked = { active: false, access_key: createPublicId() };
      await users.change({ id: userId, org_id: actor.orgId }, user => ({ ...user, ...revoked }));
    });
    return toStatus('User revoked');
  },
});

export const userOperations = [
  ...userReadOperations,
  createUser,
  updateUser,
  deleteUser,
  resetAccessKey,
  resetPassword,
  revokeUser,
];
