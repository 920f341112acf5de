import { createSortableId } from '#base/ids.ts';
import { mailWelcome } from '../mails/account-mails.ts';
import { defaultOrganisationId } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { insertUser } from '../users/creation.ts';
import { resolveTeams } from '../users/membership.ts';
import { isPortalAdmin, type StoredPortalUser } from '../users/schema.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { isInvitationExpired, type StoredInvitation } from './schema.ts';

export type AcceptServices = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

/** Effect of the link of an invitation. */
export type FoundInvitation =
  | { readonly kind: 'new'; readonly invitation: StoredInvitation }
  /** Account of an administrator or developer that has no password yet. */
  | { readonly kind: 'pending'; readonly invitation: StoredInvitation; readonly user: StoredPortalUser }
  /** Account of a developer without an organisation, who joins with it. */
  | { readonly kind: 'join'; readonly invitation: StoredInvitation; readonly user: StoredPortalUser }
  /** Account that cannot join: an administrator's, an inactive one, or one of an organisation. */
  | { readonly kind: 'taken'; readonly invitation: StoredInvitation };

/** Finds the invitation of a link without using it; undefined for one that ended. */
export async function findInvitation(token: string, services: AcceptServices): Promise<FoundInvitation | undefined> {
  const invitation = await services.portal.invitations.findByToken(token);
  return invitation && classifyInvitation(invitation, services);
}

async function classifyInvitation(
  invitation: StoredInvitation,
  services: AcceptServices,
): Promise<FoundInvitation | undefined> {
  const { portal, clock } = services;
  if (isInvitationExpired(invitation, clock.now()) || !(await isStillGranted(invitation, services))) return undefined;
  const user = await portal.users.findByEmail(invitation.Email);
  if (invitation.UserID !== 0)
    return user?.ID === invitation.UserID && user.Password === '' && user.Provider === 'password'
      ? { kind: 'pending', invitation, user }
      : undefined;
  if (!user) return { kind: 'new', invitation };
  const canJoin =
    user.Active &&
    !isPortalAdmin(user.Role) &&
    !isPortalAdmin(invitation.Role) &&
    user.OrganisationID === defaultOrganisationId &&
    invitation.OrganisationID !== defaultOrganisationId;
  return canJoin ? { kind: 'join', invitation, user } : { kind: 'taken', invitation };
}

/** An invitation ends with the right to invite: who lost it must not come back by an earlier one. */
async function isStillGranted(
  { InviterID, OrganisationID, Role }: StoredInvitation,
  { portal }: AcceptServices,
): Promise<boolean> {
  if (!isPortalAdmin(Role) && !(await portal.organisations.get(OrganisationID))) return false;
  if (InviterID === 0) return true;
  const inviter = await portal.users.get(InviterID);
  return inviter?.Active === true && inviter.Role === 'consumer-admin' && inviter.OrganisationID === OrganisationID;
}

export interface AcceptedNames {
  readonly first: string;
  readonly last: string;
  /** Hash; empty where an account joins. */
  readonly password: string;
}

/** Uses the link, once: creates the account or changes the existing one. Undefined where the invitation has ended. */
export function acceptInvitation(
  found: FoundInvitation,
  names: AcceptedNames,
  services: AcceptServices,
): Promise<StoredPortalUser | undefined> {
  const { portal, records } = services;
  return records.write(async () => {
    if ('user' in found) await portal.users.lock(found.user.ID);
    const invitation = await portal.invitations.lock(found.invitation.ID);
    if (invitation?.Digest !== found.invitation.Digest) return undefined;
    const current = await classifyInvitation(invitation, services);
    if (current?.kind !== found.kind || current.kind === 'taken') return undefined;
    await portal.invitations.remove(invitation.ID);
    if (current.kind === 'pending') return activateUser(current.user, names, services);
    return current.kind === 'join'
      ? joinOrganisation(current.user, invitation, services)
      : createInvited(invitation, names, services);
  });
}

/** Teams of an invitation that still exist. */
async function findTeams({ Teams, OrganisationID }: StoredInvitation, services: AcceptServices) {
  const own = new Set((await services.portal.teams.ofOrganisation(OrganisationID)).map(({ ID }) => ID));
  return Teams.filter(id => own.has(id));
}

async function createInvited(
  invitation: StoredInvitation,
  { first, last, password }: AcceptedNames,
  services: AcceptServices,
): Promise<StoredPortalUser> {
  const now = services.clock.now();
  const user = {
    CID: createSortableId(now),
    Email: invitation.Email,
    First: first,
    Last: last,
    Active: true,
    Role: invitation.Role,
    Provider: 'password',
    Password: password,
    ResetPassword: false,
    CreatedAt: now,
    UpdatedAt: now,
  };
  const place = { organisationId: invitation.OrganisationID, teams: await findTeams(invitation, services) };
  const created = await insertUser(user, place, services);
  await services.portal.notify('UserVerified', portalMessages.user(created));
  await mailWelcome(created, services);
  return created;
}

async function activateUser(
  user: StoredPortalUser,
  { first, last, password }: AcceptedNames,
  { portal, clock }: AcceptServices,
): Promise<StoredPortalUser> {
  const names = { First: first, Last: last };
  const active = { ...user, ...names, Password: password, ResetPassword: false, Active: true, UpdatedAt: clock.now() };
  await portal.users.change(user.ID, () => active);
  const message = portalMessages.user(active, await portal.attributes.listValues(user.ID));
  await portal.notify('UserVerified', message);
  if (!user.Active) await portal.notify('UserAccountActivated', message);
  return active;
}

async function joinOrganisation(
  user: StoredPortalUser,
  invitation: StoredInvitation,
  services: AcceptServices,
): Promise<StoredPortalUser> {
  const { portal, clock } = services;
  const { OrganisationID, Role } = invitation;
  const joined = { ...user, OrganisationID, Role, UpdatedAt: clock.now() };
  await portal.organisations.lock(OrganisationID);
  await portal.users.change(user.ID, () => joined);
  const teams = await resolveTeams(await findTeams(invitation, services), OrganisationID, services);
  await portal.teams.members.setLeftOf(user.ID, teams);
  return joined;
}
