import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { chosenCid, formatOptionalTime } from '../shapes.ts';
import { UserRow } from '../users/schema.ts';

/** Organisation of app developers. Its default team has all its users. */
export const defaultOrganisationId = 1;
export const defaultOrganisationName = 'Default Organisation';

/** Names are shown on pages: markup is stripped. */
const plainName = z
  .string()
  .max(255)
  .transform(text => text.replaceAll(/<[^>]*>/g, '').trim())
  .refine(text => text !== '', 'must not be empty');

export const PortalOrganisationWrite = readOnlyMembers(z.object({ Name: plainName, CID: chosenCid.optional() }), [
  'ID',
  'Teams',
  'Users',
  'CreatedAt',
  'UpdatedAt',
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
