import { createSortableId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import type { ProviderSubject } from '#people/single-sign-on/account-link-store.ts';
import { problem as signOnProblem } from '#people/single-sign-on/problems.ts';
import type { SignOnIdentity } from '#people/users/identity.ts';
import { partnersOf } from '../join-table-store.ts';
import { mailSecurityChange, mailWelcome } from '../mails/account-mails.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem as portalProblem } from '../problems.ts';
import { problem } from '../sso-profiles/problems.ts';
import { insertUser } from '../users/creation.ts';
import { resolveTeams, resolveUserOrganisation, restrictApps } from '../users/membership.ts';
import { isPortalAdmin, type StoredPortalUser, type UserRole } from '../users/schema.ts';
import { fromSessionOwner, linkOrganisation, toSessionOwner } from '../users/session-owner.ts';
import { insertUserSession } from '../users/user-session.ts';

export type SignOnAccountServices = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

/** Where the identity of a portal user comes from. */
export interface PortalSignOnSource {
  readonly isForAdministrators: boolean;
  /** `Provider` of accounts that it creates or links. */
  readonly provider: string;
  /** Id of the profile in sessions; empty for a nonce. */
  readonly sharedProfileId: string;
  readonly defaultRole: UserRole;
  readonly resyncsTeams: boolean;
  readonly trustsEmail: boolean;
  /** User of the provider to link the account to; undefined where the source has no lasting identifier. */
  readonly subject: ProviderSubject | undefined;
  /** ID token of the sign-on, where the sign-out goes on to the provider. */
  readonly idToken?: string | undefined;
  /** Rejects a source that was changed since the sign-on began; locks it until the session is stored. */
  recheck(): Promise<void>;
}

export interface PortalSignOnClient {
  readonly address: string;
  readonly userAgent: string;
}

export interface OpenedPortalSignOn {
  readonly user: StoredPortalUser;
  readonly token: string;
  readonly sessionId: string;
  readonly isNew: boolean;
  readonly hasOtherTeams: boolean;
}

/** Opens a session for a verified identity; its account is created at the first sign-on. */
export async function openPortalSignOn(
  services: SignOnAccountServices,
  source: PortalSignOnSource,
  identity: SignOnIdentity,
  client: PortalSignOnClient,
): Promise<OpenedPortalSignOn> {
  const open = () => services.records.write(() => openInTransaction(services, source, identity, client));
  return open().catch((error: unknown) => {
    // A concurrent sign-on of the same user has created the account.
    if (error instanceof Problem && error.code === portalProblem.user_exists.code) return open();
    throw error;
  });
}

async function openInTransaction(
  services: SignOnAccountServices,
  source: PortalSignOnSource,
  identity: SignOnIdentity,
  { address, userAgent }: PortalSignOnClient,
): Promise<OpenedPortalSignOn> {
  await source.recheck();
  const known = await findAccount(services, source, identity);
  const user = known ?? (await createAccount(services, source, identity));
  if (!user.Active) throw signOnProblem.account_inactive();
  const isResynced = known && source.resyncsTeams && !isPortalAdmin(user.Role);
  const resynced = isResynced ? await resyncTeams(services, source, identity, user) : undefined;
  const { sharedProfileId: profileId, idToken } = source;
  const session = { profileId, idToken, address, userAgent };
  const { token, session: stored } = await insertUserSession(user.ID, session, services);
  const opened = { user: resynced ?? user, token, sessionId: stored.id };
  return { ...opened, isNew: known === undefined, hasOtherTeams: resynced !== undefined };
}

/**
 * Account linking: by the user of the provider, else by a verified e-mail address. Profiles for developers never open
 * accounts of administrators: their providers may give any user an address.
 */
async function findAccount(
  services: SignOnAccountServices,
  source: PortalSignOnSource,
  identity: SignOnIdentity,
): Promise<StoredPortalUser | undefined> {
  const { portal } = services;
  const { subject, isForAdministrators } = source;
  const ownerId = subject && (await portal.accountLinks.findUserId(linkOrganisation, subject));
  const linked = ownerId === undefined ? undefined : await portal.users.lock(fromSessionOwner(ownerId));
  // Enumeration: the response to an address that is not verified is the same with and without an account.
  if (!linked && !identity.isEmailVerified && !source.trustsEmail) throw problem.email_unverified();
  const found = linked ?? (await portal.users.findByEmail(identity.email));
  if (!found) return undefined;
  if (isPortalAdmin(found.Role) !== isForAdministrators)
    throw isForAdministrators ? problem.developer_account() : problem.administrator_account();
  return linked ?? linkAccount(services, source, found.ID);
}

/** Inside a transaction: stores the user of the provider. A developer has no password from then on. */
async function linkAccount(
  services: SignOnAccountServices,
  { subject, provider, isForAdministrators }: PortalSignOnSource,
  id: number,
): Promise<StoredPortalUser | undefined> {
  const { portal, clock } = services;
  const user = await portal.users.lock(id);
  if (!user?.Active) return user;
  const owner = { id: toSessionOwner(id), org_id: linkOrganisation };
  if (subject && !(await portal.accountLinks.insert(owner, subject, clock.now()))) throw problem.account_linked();
  if (isForAdministrators || user.Provider !== 'password') return user;
  const changed = { ...user, Provider: provider, Password: '', ResetPassword: false, UpdatedAt: clock.now() };
  await portal.users.change(id, () => changed);
  await portal.factors.removeAll(toSessionOwner(id));
  await portal.sessions.removeOthers(toSessionOwner(id));
  await mailSecurityChange(user, 'The account was linked to single sign-on, and has no password from now on', services);
  return changed;
}

/** Names have no control characters: they are part of mails. */
const splitName = (displayName: string): { First: string; Last: string } => {
  const [First = '', ...rest] = displayName
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .split(/\s+/);
  return { First: First.slice(0, 100), Last: rest.join(' ').slice(0, 100) };
};

/** Inside a transaction: creates the account of a first sign-on, where the source may. */
async function createAccount(
  services: SignOnAccountServices,
  source: PortalSignOnSource,
  identity: SignOnIdentity,
): Promise<StoredPortalUser> {
  const { portal, clock, settings } = services;
  const { isForAdministrators, provider, subject } = source;
  if (identity.onlyRegistered) throw problem.not_registered();
  if (!isForAdministrators && !settings['portal.sso_creates_developers']) throw problem.not_registered();
  if (isForAdministrators && !settings['portal.sso_creates_administrators']) throw problem.administrator_unknown();
  const now = clock.now();
  const user = {
    CID: createSortableId(now),
    Email: identity.email,
    ...splitName(identity.displayName),
    Active: true,
    Role: isForAdministrators ? ('provider-admin' as const) : source.defaultRole,
    Provider: provider,
    Password: '',
    ResetPassword: false,
    CreatedAt: now,
    UpdatedAt: now,
  };
  const place = isForAdministrators ? { teams: [] } : await findMappedPlace(identity.groupIds, services);
  const created = await insertUser(user, place, services);
  const owner = { id: toSessionOwner(created.ID), org_id: linkOrganisation };
  if (subject && !(await portal.accountLinks.insert(owner, subject, now))) throw problem.account_linked();
  await mailWelcome(created, services);
  return created;
}

/** Teams that the groups of an identity map to, all of one organisation; none is the default organisation. */
async function findMappedPlace(groupIds: readonly string[], { portal }: SignOnAccountServices) {
  const ids = groupIds.map(it => (/^\d{1,15}$/.test(it) ? Number(it) : 0));
  const teams = await portal.teams.byIds(ids);
  if (ids.some(id => !teams.has(id))) throw problem.team_unknown();
  const [organisationId, ...others] = new Set([...teams.values()].map(it => it.OrganisationID));
  if (others.length > 0) throw problem.teams_divided();
  return { organisationId, teams: [...teams.keys()] };
}

/** Inside a transaction: sets the teams that the groups map to; undefined where they are those of before. */
async function resyncTeams(
  services: SignOnAccountServices,
  { defaultRole }: PortalSignOnSource,
  { groupIds }: SignOnIdentity,
  user: StoredPortalUser,
): Promise<StoredPortalUser | undefined> {
  const { portal, clock } = services;
  const place = await findMappedPlace(groupIds, services);
  const OrganisationID = await resolveUserOrganisation(user.Role, place.organisationId, services);
  const teamIds = await resolveTeams(place.teams, OrganisationID, services);
  const former = new Set(partnersOf(await portal.teams.members.leftOf([user.ID]), user.ID));
  if (former.size === teamIds.length && teamIds.every(id => former.has(id))) return undefined;
  // A role is one in its organisation.
  const Role = OrganisationID === user.OrganisationID ? user.Role : defaultRole;
  const changed = { ...user, OrganisationID, Role, UpdatedAt: clock.now() };
  await portal.users.change(user.ID, () => changed);
  await portal.teams.members.setLeftOf(user.ID, teamIds);
  await restrictApps(user.ID, OrganisationID, services);
  return changed;
}
