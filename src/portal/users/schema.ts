import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { chosenCid, lenientBool, lenientInt, line, orNothing, references } from '../shapes.ts';

/** Somebody who signs in to the portal: an app developer, or an administrator who stands above organisations. */
export const userRoles = ['super-admin', 'provider-admin', 'consumer-admin', 'consumer-team-member'] as const;
export type UserRole = (typeof userRoles)[number];
export const isPortalAdmin = (role: UserRole) => role === 'super-admin' || role === 'provider-admin';

const writable = z.object({
  CID: orNothing(chosenCid),
  Email: z
    .string()
    .trim()
    .toLowerCase()
    .max(254)
    .pipe(z.email({ error: 'must be an e-mail address' })),
  First: orNothing(line(100)),
  Last: orNothing(line(100)),
  Active: orNothing(lenientBool),
  OrganisationID: orNothing(lenientInt),
  Role: orNothing(z.enum(userRoles)),
  Provider: orNothing(z.enum(['password'])),
  Password: orNothing(z.string().max(1024)),
  ResetPassword: orNothing(lenientBool),
  Teams: orNothing(references),
});
export const UserWrite = readOnlyMembers(writable, ['ID']);
export type UserWrite = z.output<typeof UserWrite>;

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
  CreatedAt: number;
  UpdatedAt: number;
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
});

/** As everybody sees a user: never the password. */
export const userRow = (user: StoredPortalUser): z.output<typeof UserRow> => ({
  ID: user.ID,
  Active: user.Active,
  Email: user.Email,
  First: user.First,
  Last: user.Last,
  OrganisationID: user.OrganisationID,
  Role: user.Role,
  Provider: user.Provider,
});
