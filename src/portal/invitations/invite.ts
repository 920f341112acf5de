import { mailInvitation } from '../mails/invitation-mails.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl, registrationPath } from '../portal-url.ts';
import { present, problem } from '../problems.ts';
import type { Reference } from '../shapes.ts';
import { resolveTeams, resolveUserOrganisation } from '../users/membership.ts';
import { isPortalAdmin, type StoredPortalUser } from '../users/schema.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { type InvitedRole, isInvitedRole, type StoredInvitation } from './schema.ts';

export type InviteServices = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

/** Invitations of one organisation at a time, and of administrators. */
const maxInvitations = 500;

export interface NewInvitation {
  readonly Email: string;
  readonly First?: string | undefined;
  readonly Last?: string | undefined;
  readonly Role: InvitedRole;
  readonly organisationId?: number | undefined;
  readonly teams: readonly Reference[];
  /** Administrator of the organisation who invites; 0 for one of the portal. */
  readonly inviterId: number;
}

export interface InvitationLink {
  readonly invitation: StoredInvitation;
  readonly url: string;
}

const toInviteUrl = (token: string, { settings }: InviteServices) =>
  `${readPortalUrl(settings)}${registrationPath}?token=${token}`;

/**
 * Invites an address and mails the link. An address that has an account gets the same mail, so that an administrator of
 * an organisation learns nothing about accounts of others; only an administrator's role needs a free address.
 */
export function inviteAddress(given: NewInvitation, services: InviteServices): Promise<InvitationLink> {
  const { portal, records } = services;
  return records.write(async () => {
    const OrganisationID = await resolveUserOrganisation(given.Role, given.organisationId, services);
    const Teams = await resolveTeams(given.teams, OrganisationID, services);
    if (isPortalAdmin(given.Role) && (await portal.users.findByEmail(given.Email))) throw problem.user_exists();
    const { Email, First = '', Last = '', Role, inviterId: InviterID } = given;
    return insertInvitation({ Email, First, Last, Role, OrganisationID, Teams, UserID: 0, InviterID }, services);
  });
}

/** Mails a link to a user without a password: it sets one and activates the account. A further one replaces it. */
export function inviteUser(userId: number, services: InviteServices): Promise<InvitationLink> {
  const { portal, records } = services;
  return records.write(async () => {
    const user = present(await portal.users.lock(userId), 'User', 'unknown');
    const { Email, First, Last, OrganisationID } = user;
    const Role = requireInvitable(user);
    await portal.invitations.removeOfUser(user);
    const place = { OrganisationID, Teams: [], UserID: user.ID, InviterID: 0 };
    return insertInvitation({ Email, First, Last, Role, ...place }, services);
  });
}

function requireInvitable({ Role, Password, Provider }: StoredPortalUser): InvitedRole {
  const reason = Password !== '' ? 'has a password' : Provider === 'password' ? '' : `signs on with ${Provider}`;
  if (reason) throw problem.invitation_unneeded({ detail: { reason } });
  if (!isInvitedRole(Role)) throw problem.invitation_unneeded({ detail: { reason: 'is the first administrator' } });
  return Role;
}

type Invited = Omit<StoredInvitation, 'ID' | 'Digest' | 'ExpiresAt' | 'CreatedAt' | 'UpdatedAt'>;

/** Inside a transaction. */
async function insertInvitation(invited: Invited, services: InviteServices): Promise<InvitationLink> {
  const { portal, clock, settings } = services;
  const now = clock.now();
  await portal.invitations.prune(now);
  if ((await portal.invitations.countOfOrganisation(invited.OrganisationID)) >= maxInvitations)
    throw problem.too_many_invitations({ detail: { max: maxInvitations } });
  const { token, Digest } = portal.invitations.createToken();
  const ExpiresAt = now + settings['portal.invitation_ttl_seconds'] * 1000;
  const invitation = await portal.invitations.insert({ ...invited, Digest, ExpiresAt, CreatedAt: now, UpdatedAt: now });
  const url = toInviteUrl(token, services);
  await portal.notify('RegisterInvite', portalMessages.invitation(invitation));
  await mailInvitation(invitation, url, services);
  return { invitation, url };
}

/** Mails a new link; the former one ends. */
export function resendInvitation(id: number, services: InviteServices): Promise<InvitationLink> {
  const { portal, records, clock, settings } = services;
  return records.write(async () => {
    const now = clock.now();
    const { token, Digest } = portal.invitations.createToken();
    const ExpiresAt = now + settings['portal.invitation_ttl_seconds'] * 1000;
    const changed = await portal.invitations.change(id, it => ({ ...it, Digest, ExpiresAt, UpdatedAt: now }));
    const invitation = present(changed, 'Invitation', 'unknown');
    const url = toInviteUrl(token, services);
    await portal.notify('RegisterInvite', portalMessages.invitation(invitation));
    await mailInvitation(invitation, url, services);
    return { invitation, url };
  });
}
