import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';
import { readOnlyMembers } from '#base/members.ts';
import { registrationPath } from '../portal-url.ts';
import { intBetween, lenientBool, lenientInt, optionalMember, portalTime } from '../shapes.ts';

/** Code with which sign-ups join a team and its organisation. */
export interface StoredInviteCode {
  ID: number;
  /** Sealed in the row: administrators read it to share its link. */
  Code: string;
  Digest: string;
  TeamID: number;
  /** Number of accounts that can be created with it. */
  Quota: number;
  Used: number;
  /** 0 for a code that does not expire. */
  ExpiresAt: number;
  Active: boolean;
  CreatedAt: number;
  UpdatedAt: number;
}

export const maxQuota = 100_000;
export const defaultQuota = 1;

const writable = z.object({
  TeamID: lenientInt.describe('Team that accounts join, with its organisation'),
  Quota: optionalMember(intBetween(1, maxQuota)).describe('Number of accounts that can be created with the code'),
  Expires: optionalMember(portalTime).describe(
    'Time from which it is refused, such as `2030-01-31 12:00`; empty: never',
  ),
  Active: optionalMember(lenientBool),
});
const readOnly = ['ID', 'Code', 'URL', 'Team', 'OrganisationID', 'Used', 'CreatedAt', 'UpdatedAt'];
export const InviteCodeWrite = readOnlyMembers(writable, readOnly);
export const InviteCodeChange = readOnlyMembers(writable.partial({ TeamID: true }), readOnly);

export const InviteCode = z.object({
  ID: z.int(),
  Code: z.string(),
  URL: z.string().describe('Link to the sign-up with the code'),
  TeamID: z.int(),
  Team: z.string(),
  OrganisationID: z.int(),
  Quota: z.int(),
  Used: z.int(),
  Expires: z.string(),
  Active: z.boolean(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const toInviteCodeView = (
  it: StoredInviteCode,
  team: { readonly Name: string; readonly OrganisationID: number } | undefined,
  baseUrl: string,
): z.output<typeof InviteCode> => ({
  ID: it.ID,
  Code: it.Code,
  URL: `${baseUrl}${registrationPath}?invite=${it.Code}`,
  TeamID: it.TeamID,
  Team: team?.Name ?? '',
  OrganisationID: team?.OrganisationID ?? 0,
  Quota: it.Quota,
  Used: it.Used,
  Expires: it.ExpiresAt === 0 ? '' : formatPortalTime(it.ExpiresAt),
  Active: it.Active,
  CreatedAt: formatPortalTime(it.CreatedAt),
  UpdatedAt: formatPortalTime(it.UpdatedAt),
});
