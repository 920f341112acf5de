import { z } from 'zod';
import { zeroTime } from '#base/clock.ts';
import { readOnlyMembers } from '#base/members.ts';

/** Dashboard user: a person who signs in, or a script with an access key. */
const email = z
  .email()
  .max(254)
  .transform(text => text.toLowerCase());
const name = z.string().min(1).max(100);
export const permissionMap = z.record(z.string().min(1).max(64), z.enum(['read', 'write', 'deny', 'admin']));

export const User = z.object({
  access_key: z.string(),
  active: z.boolean(),
  api_model: z.object({}),
  created_at: z.string(),
  email_address: z.string(),
  first_name: z.string(),
  group_id: z.string(),
  id: z.string(),
  last_login_date: z.string(),
  last_name: z.string(),
  org_id: z.string(),
  password_max_days: z.int(),
  password_updated: z.string(),
  user_permissions: z.record(z.string(), z.string()),
});
export type User = z.output<typeof User>;

/** Members of reads; a write ignores those it does not declare. */
const readMembers = Object.keys(User.shape);

/** Writable members of both surfaces. */
const writable = {
  active: z.boolean().optional(),
  group_id: z.string().max(64).optional(),
  password: z.string().max(1024).optional(),
  password_max_days: z.int().min(0).max(36_500).optional(),
};

/** Write of an organisation's administrator. */
const colleagueWrite = z.object({
  ...writable,
  email_address: email,
  first_name: name,
  last_name: name,
  user_permissions: permissionMap.refine(map => Object.keys(map).length > 0, 'needs at least one permission'),
});
export const UserWrite = readOnlyMembers(colleagueWrite, readMembers);
export type UserWrite = z.output<typeof UserWrite>;
/** Re-authentication of the caller, where a change requires it. */
export const callerConfirmation = {
  current_password: z.string().max(1024).optional().describe('Password of the caller, to confirm the change'),
  otp: z.string().max(64).optional().describe('Code of the authenticator app of the caller, or a recovery code'),
};

/** The password has an operation of its own. */
export const UserChange = readOnlyMembers(
  colleagueWrite.omit({ password: true }).extend(callerConfirmation),
  readMembers,
);

/** Write of the operator: three members are required. */
const anyUserWrite = z.object({
  ...writable,
  email_address: email,
  first_name: name,
  last_name: name,
  org_id: z.string().max(64).optional(),
  user_permissions: permissionMap.optional(),
  access_key: z.string().min(8).max(256).optional(),
});
export const AdminUserWrite = readOnlyMembers(anyUserWrite, readMembers);
export const AdminUserChange = readOnlyMembers(anyUserWrite.partial(), readMembers);
export type AdminUserWrite = z.output<typeof AdminUserWrite>;

export interface StoredUser {
  id: string;
  org_id: string;
  email_address: string;
  first_name: string;
  last_name: string;
  active: boolean;
  group_id: string;
  user_permissions: Record<string, string>;
  access_key: string;
  /** Hash; empty while none is set. */
  password: string;
  /** Hashes of earlier passwords, newest first; absent where none is stored. */
  password_history?: readonly string[];
  /** The user set the password by a link; absent where another user or the operator set it. */
  has_chosen_password?: boolean;
  password_max_days: number;
  password_updated: string;
  created_at: string;
  last_login_date: string;
}

/** Wire form, without passwords. */
export function toUser(stored: StoredUser): User {
  const { password: _hash, password_history: _hashes, has_chosen_password: _chosen, ...user } = stored;
  return { ...user, api_model: {} };
}

/** User as revisions store it: without credentials, and without what a sign-in changes. */
export type RevisedUser = Pick<
  StoredUser,
  | 'id'
  | 'org_id'
  | 'email_address'
  | 'first_name'
  | 'last_name'
  | 'active'
  | 'group_id'
  | 'user_permissions'
  | 'password_max_days'
  | 'created_at'
>;

export const toRevisedUser = (user: RevisedUser): RevisedUser => ({
  id: user.id,
  org_id: user.org_id,
  email_address: user.email_address,
  first_name: user.first_name,
  last_name: user.last_name,
  active: user.active,
  group_id: user.group_id,
  user_permissions: user.user_permissions,
  password_max_days: user.password_max_days,
  created_at: user.created_at,
});

export const toUserWithoutKey = (stored: StoredUser): User => ({ ...toUser(stored), access_key: '' });

export const fullAdministrator = { IsAdmin: 'admin', ResetPassword: 'admin' };

/** New user, before the first sign-in. */
export const buildUser = (fields: {
  id: string;
  accessKey: string;
  orgId: string;
  createdAt: string;
  write: Pick<UserWrite, 'email_address' | 'first_name' | 'last_name'> & Partial<UserWrite>;
}): StoredUser => ({
  id: fields.id,
  org_id: fields.orgId,
  email_address: fields.write.email_address,
  first_name: fields.write.first_name,
  last_name: fields.write.last_name,
  active: fields.write.active ?? false,
  group_id: fields.write.group_id ?? '',
  user_permissions: fields.write.user_permissions ?? fullAdministrator,
  access_key: fields.accessKey,
  password: '',
  password_max_days: fields.write.password_max_days ?? 0,
  password_updated: zeroTime,
  created_at: fields.createdAt,
  last_login_date: zeroTime,
});
