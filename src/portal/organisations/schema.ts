import { z } from 'zod';
import { meaningfulNull, readOnlyMembers } from '#base/members.ts';
import { chosenCid, formatOptionalTime, lenientInt, optionalMember } from '../shapes.ts';
import { UserRow } from '../users/schema.ts';

/** Organisation of app developers. Its default team has all its users. */
export const defaultOrganisationId = 1;
/** Administrators (0) and users of the default organisation share no apps: its users are strangers. */
export const hasPersonalApps = (organisationId: number) =>
  organisationId === 0 || organisationId === defaultOrganisationId;
export const defaultOrganisationName = 'Default Organisation';

/** Names are shown on pages and in mails: markup is stripped, line breaks are spaces. */
export const plainName = z
  .string()
  .max(255)
  .transform(text =>
    text
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim(),
  )
  .refine(text => text !== '', 'must not be empty');

export const PortalOrganisationWrite = readOnlyMembers(z.object({ Name: plainName, CID: chosenCid.optional() }), [
  'ID',
  'Teams',
  'Users',
  'CreatedAt',
  'UpdatedAt',
]);

export const PortalOrganisationChange = readOnlyMembers(z.object({ Name: plainName.optional() }), [
  'ID',
  'CID',
  'Teams',
  'Users',
  'CreatedAt',
  'UpdatedAt',
]);

const maxTeamUsers = 10_000;
/** A user by number, also as responses have it: `User#2`. */
const userNumber = z.union(
  [
    lenientInt,
    z
      .string()
      .regex(/^User#\d{1,15}$/)
      .transform(text => Number(text.slice('User#'.length))),
  ],
  { error: 'must be the number of a user' },
);
/** A list replaces the members, null empties it, absence leaves them. */
const teamUsers = meaningfulNull(z.array(userNumber).max(maxTeamUsers).nullable().optional());
const teamReadOnly = ['ID', 'Default', 'CreatedAt', 'UpdatedAt'];
export const TeamWrite = readOnlyMembers(
  z.object({ Name: plainName, CID: optionalMember(chosenCid), Users: teamUsers }),
  teamReadOnly,
);
export const TeamChange = readOnlyMembers(z.object({ Name: plainName.optional(), Users: teamUsers }), [
  ...teamReadOnly,
  'CID',
]);

interface NumberedRecord {
  ID: number;
  CID: string;
  Name: string;
  CreatedAt: number;
  UpdatedAt: number;
}
export type StoredPortalOrganisation = NumberedRecord;
export interface StoredTeam extends NumberedRecord {
  Default: boolean;
  OrganisationID: number;
}

export const TeamRow = z.object({ ID: z.int(), Name: z.string(), Default: z.boolean() });
export const Team = z.object({
  ID: z.int(),
  CID: z.string(),
  Name: z.string(),
  Users: z.array(z.string()),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const PortalOrganisationRow = z.object({ ID: z.int(), Name: z.string() });
export const PortalOrganisationItem = PortalOrganisationRow.extend({
  TeamCount: z.int(),
  UserCount: z.int(),
  AppCount: z.int().describe('Number of apps of its users'),
});
export const PortalOrganisation = PortalOrganisationRow.extend({
  CID: z.string(),
  Teams: z.array(TeamRow),
  Users: z.array(UserRow),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const toTeamRow = ({ ID, Name, Default }: StoredTeam) => ({ ID, Name, Default });

export const toTeamView = ({ ID, CID, Name, CreatedAt, UpdatedAt }: StoredTeam, members: readonly number[]) => ({
  ID,
  CID,
  Name,
  Users: members.map(id => `User#${id}`),
  CreatedAt: formatOptionalTime(CreatedAt),
  UpdatedAt: formatOptionalTime(UpdatedAt),
});
