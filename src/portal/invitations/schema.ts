import { z } from 'zod';
import { formatOptionalTime, lenientInt, optionalMember, references } from '../shapes.ts';
import type { UserRole } from '../users/schema.ts';

/** Invitation of an address: its link creates the account, or lets an existing one join. */
export interface StoredInvitation {
  ID: number;
  Email: string;
  First: string;
  Last: string;
  Role: InvitedRole;
  /** 0 for administrators. */
  OrganisationID: number;
  Teams: number[];
  /** Account without a password that the link is for; 0 for an address. */
  UserID: number;
  /** Administrator of the organisation who invites; 0 for one of the portal. */
  InviterID: number;
  /** Keyed hash of the token in the link. */
  Digest: string;
  ExpiresAt: number;
  CreatedAt: number;
  UpdatedAt: number;
}

/** Roles that can be given by an invitation. */
export const invitedRoles = ['provider-admin', 'consumer-admin', 'consumer-team-member'] as const;
export type InvitedRole = (typeof invitedRoles)[number];
export const isInvitedRole = (role: UserRole): role is InvitedRole => role !== 'super-admin';

/** Names as sign-up takes them: they are part of mails, where line breaks could add paragraphs. */
const personName = z
  .string()
  .trim()
  .max(100)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must have no line breaks or control characters');

export const InvitationWrite = z.object({
  Email: z
    .string()
    .trim()
    .toLowerCase()
    .max(254)
    .pipe(z.email({ error: 'must be an e-mail address' })),
  First: optionalMember(personName),
  Last: optionalMember(personName),
  Role: optionalMember(z.enum(invitedRoles)).describe('`consumer-team-member` if omitted'),
  OrganisationID: optionalMember(lenientInt).describe('The default organisation if omitted; none for administrators'),
  Teams: optionalMember(references).describe('The default team of the organisation if omitted'),
});

export const Invitation = z.object({
  ID: z.int(),
  Email: z.string(),
  First: z.string(),
  Last: z.string(),
  Role: z.enum(invitedRoles),
  OrganisationID: z.int(),
  Teams: z.array(z.int()),
  UserID: z.int(),
  InviterID: z.int(),
  Status: z.enum(['pending', 'expired']),
  ExpiresAt: z.string(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});
export const SentInvitation = Invitation.extend({
  InviteURL: z.string().describe('Link of the mail; it is returned once'),
});

export const isInvitationExpired = ({ ExpiresAt }: Pick<StoredInvitation, 'ExpiresAt'>, nowMs: number): boolean =>
  ExpiresAt <= nowMs;

export function toInvitationView(stored: StoredInvitation, nowMs: number): z.output<typeof Invitation> {
  const { Digest: _digest, ...shown } = stored;
  return {
    ...shown,
    Status: isInvitationExpired(stored, nowMs) ? 'expired' : 'pending',
    ExpiresAt: formatOptionalTime(stored.ExpiresAt),
    CreatedAt: formatOptionalTime(stored.CreatedAt),
    UpdatedAt: formatOptionalTime(stored.UpdatedAt),
  };
}
