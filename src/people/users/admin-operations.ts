import { z } from 'zod';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { toStatus } from '#operations/shapes.ts';
import { problem } from '../problems.ts';
import { checkPermissionsExist, type PermissionServices } from './grant-check.ts';
import { createPasswordChange } from './new-password.ts';
import { AdminUserChange, AdminUserWrite, buildUser, type StoredUser, toUser, User } from './schema.ts';
import type { UserStore } from './store.ts';

export interface AdminUserServices extends PermissionServices {
  users: UserStore;
  /** Organisation of a user for which the operator names none. */
  defaultOrgId: () => Promise<string>;
  clock: Clock;
  settings: Settings;
}

const params = z.object({ userId: z.string() });
const userAnswer = z.object({ Status: z.string(), Message: z.string(), Meta: User });
const declared = { surface: 'admin', noun: 'users', permission: 'secret' } as const;
const permissionProblems = [problem.permission_unknown, problem.permission_level_invalid, problem.group_unknown];

export const adminCreateUser = operation({
  ...declared,
  name: 'adminCreateUser',
  isRepeatable: true,
  method: 'POST',
  path: '/admin/users',
  about: 'Creates a dashboard user, inactive by default; the message of the response is the access key.',
  body: AdminUserWrite,
  returns: userAnswer,
  problems: [problem.email_exists, problem.organisation_unknown, ...permissionProblems],
  async handle({ body, audit }, services: AdminUserServices) {
    const { users, organisations, defaultOrgId, clock } = services;
    const orgId = body.org_id || (await defaultOrgId());
    if (!(await organisations.get(orgId))) throw problem.organisation_unknown({ detail: { id: orgId } });
    const createdAt = formatIsoTime(clock.now());
    const user = buildUser({ id: createDatabaseId(), accessKey: createPublicId(), orgId, createdAt, write: body });
    await users.runExclusive(async () => {
      await checkPermissionsExist(services, user);
      await users.insert(user);
    });
    audit(user.id, orgId);
    return toStatus(user.access_key, toUser(user)) as z.output<typeof userAnswer>;
  },
});

export const adminGetUser = operation({
  ...declared,
  name: 'adminGetUser',
  versioned: 'users',
  method: 'GET',
  path: '/admin/users/{userId}',
  about: 'Returns any user.',
  params,
  returns: User,
  problems: [problem.user_not_found],
  async handle({ params: { userId } }, { users }: AdminUserServices) {
    const user = await users.getInAnyOrganisation(userId);
    if (!user) throw problem.user_not_found();
    return toUser(user);
  },
});

export const adminUpdateUser = operation({
  ...declared,
  name: 'adminUpdateUser',
  versioned: 'users',
  method: 'PUT',
  path: '/admin/users/{userId}',
  about: 'Updates any user, including the password. Omitted members do not change.',
  params,
  body: AdminUserChange,
  returns: userAnswer,
  problems: [
    problem.user_not_found,
    problem.email_exists,
    problem.organisation_unknown,
    problem.bad_password,
    ...permissionProblems,
  ],
  async handle({ params: { userId }, body, audit }, services: AdminUserServices) {
    const { users, organisations, clock, settings } = services;
    audit(userId);
    if (body.org_id && !(await organisations.get(body.org_id)))
      throw problem.organisation_unknown({ detail: { id: body.org_id } });
    const { password: plain, ...rest } = body;
    const stored = await users.getInAnyOrganisation(userId);
    if (!stored) throw problem.user_not_found();
    const passwordChange = plain === undefined ? {} : await createPasswordChange({ settings, clock }, stored, plain);
    const isSet = ([name, value]: [string, unknown]) => value !== undefined && (value !== '' || name === 'group_id');
    const changes = Object.fromEntries(Object.entries(rest).filter(isSet)) as Partial<StoredUser>;
    const user = await users.runExclusive(async () => {
      const before = await users.getInAnyOrganisation(userId);
      if (!before) throw problem.user_not_found();
      const next: StoredUser = { ...before, ...changes, ...passwordChange };
      await checkPermissionsExist(services, next, before);
      await users.change({ id: userId }, () => next);
      return next;
    });
    audit(userId, user.org_id);
    return toStatus(user.access_key, toUser(user)) as z.output<typeof userAnswer>;
  },
});

const declareResetPermission = (name: string, action: string, about: string, isAllowed: boolean) =>
  operation({
    ...declared,
    name,
    versioned: 'users',
    method: 'PUT',
    path: `/admin/users/{userId}/actions/${action}`,
    about,
    params,
    returns: userAnswer,
    problems: [problem.user_not_found],
    async handle({ params: { userId }, audit }, { users }: AdminUserServices) {
      audit(userId);
      const user = await users.change({ id: userId }, it => {
        const { ResetPassword: _removed, ...rest } = it.user_permissions;
        return { ...it, user_permissions: isAllowed ? { ...rest, ResetPassword: 'admin' } : rest };
      });
      if (!user) throw problem.user_not_found();
      audit(userId, user.org_id);
      return toStatus('User updated', toUser(user)) as z.output<typeof userAnswer>;
    },
  });

export const allowResetPasswords = declareResetPermission(
  'allowResetPasswords',
  'allow_reset_passwords',
  'Grants a user the permission to set the passwords of other users.',
  true,
);
export const disallowResetPasswords = declareResetPermission(
  'disallowResetPasswords',
  'disallow_reset_passwords',
  'Withdraws that permission.',
  false,
);

export const adminUserOperations = [
  adminCreateUser,
  adminGetUser,
  adminUpdateUser,
  allowResetPasswords,
  disallowResetPasswords,
];
