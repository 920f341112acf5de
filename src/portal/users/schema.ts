import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import {
  chosenCid,
  formatOptionalTime,
  lenientBool,
  lenientInt,
  optionalMember,
  references,
  textUpTo,
} from '../shapes.ts';

/** Portal user: an app developer, or an administrator of all organisations. */
export const userRoles = ['super-admin', 'provider-admin', 'consumer-admin', 'consumer-team-member'] as const;
export type UserRole = (typeof userRoles)[number];
export const isPortalAdmin = (role: UserRole) => role === 'super-admin' || role === 'provider-admin';

const writable = z.object({
  CID: optionalMember(chosenCid),
  Email: z
    .string()
    .trim()
    .toLowerCase()
    .max(254)
    .pipe(z.email({ error: 'must be an e-mail address' })),
  First: optionalMember(textUpTo(100)),
  Last: optionalMember(textUpTo(100)),
  Active: optionalMember(lenientBool),
  OrganisationID: optionalMember(lenientInt),
  Role: optionalMember(z.enum(userRoles)),
  Provider: optionalMember(textUpTo(100)).describe(
    '`password`, or the ID of a single sign-on profile: the user signs on with it, and has no password',
  ),
  Password: optionalMember(z.string().max(1024)),
  ResetPassword: optionalMember(lenientBool).describe('The user sets a new password at the next sign-in to the portal'),
  Teams: optionalMember(references),
});
const readOnly = [
  ...['ID', 'State', 'LastSignInAt', 'SecondFactor', 'JWTToken', 'APITokenCreatedAt', 'Organisation'],
  ...['CreatedAt', 'UpdatedAt'],
];
export const PortalUserWrite = readOnlyMembers(writable, readOnly);
export const PortalUserChange = readOnlyMembers(writable.omit({ CID: true }).partial({ Email: true }), [
  ...readOnly,
  'CID',
]);
export type PortalUserChange = z.output<typeof PortalUserChange>;

export interface StoredPortalUser {
  ID: number;
  CID: string;
  Email: string;
  First: string;
  Last: string;
  Active: boolean;
  /** 0 for administrators. */
  OrganisationID: number;
  Role: UserRole;
  Provider: string;
  /** Hash, or empty while none was set. */
  Password: string;
  ResetPassword: boolean;
  /** The account of a sign-up, before its first activation. */
  AwaitsApproval?: boolean;
  /** Absent before the first sign-in. */
  LastSignInAt?: number;
  /** Of the last notice of an administrator about credentials; absent without one. */
  CredentialNoticeAt?: number;
  CreatedAt: number;
  UpdatedAt: number;
}

/**
 * State of an account, each excluding those before it: not activated yet, deactivated, without a password (an invitation
 * sets it), with one that has to be replaced, ready for use. An address is verified before it has an account.
 */
export const userStates = ['waiting', 'deactivated', 'invited', 'reset due', 'active'] as const;
export type UserState = (typeof userStates)[number];

export function findUserState({
  Active,
  AwaitsApproval,
  Provider,
  Password,
  ResetPassword,
}: StoredPortalUser): UserState {
  if (!Active) return AwaitsApproval ? 'waiting' : 'deactivated';
  if (Provider === 'password' && Password === '') return 'invited';
  return ResetPassword ? 'reset due' : 'active';
}

export const UserRow = z.object({
  ID: z.int(),
  Active: z.boolean(),
  Email: z.string(),
  First: z.string(),
  Last: z.string(),
  OrganisationID: z.int(),
  Role: z.string(),
  Provider: z.string(),
  State: z.enum(userStates).describe('`invited` is an account without a password'),
  LastSignInAt: z.string().describe('Empty before the first sign-in to the site'),
});

/** User without the password. */
export const toUserRow = (user: StoredPortalUser): z.output<typeof UserRow> => ({
  ID: user.ID,
  Active: user.Active,
  Email: user.Email,
  First: user.First,
  Last: user.Last,
  OrganisationID: user.OrganisationID,
  Role: user.Role,
  Provider: user.Provider,
  State: findUserState(user),
  LastSignInAt: formatOptionalTime(user.LastSignInAt),
});
