import type { Flow } from '#base/fair-queue.ts';
import { defaultPasswordCost, findPasswordFaults, hashPassword } from '#base/passwords.ts';
import type { Settings } from '#base/settings.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import type { Reference } from '../shapes.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { resolveTeams, resolveUserOrganisation } from './membership.ts';
import type { StoredPortalUser } from './schema.ts';

/** Policy for passwords of portal users. */
export const readPortalPasswordPolicy = (settings: Settings) => ({ minLength: settings['users.password_min_length'] });

/** Hashes a password that fits the policy; an absent one is the empty hash, which no password matches. */
export async function hashCheckedPassword(
  password: string | undefined,
  settings: Settings,
  flow?: Flow,
): Promise<string> {
  if (!password) return '';
  const faults = findPasswordFaults(password, readPortalPasswordPolicy(settings));
  if (faults.length > 0)
    throw problem.bad_password({ detail: { faults: faults.map(fault => `Password: ${fault}`).join('; ') } });
  return hashPassword(password, defaultPasswordCost, flow);
}

type NewUser = Omit<StoredPortalUser, 'ID' | 'OrganisationID'>;

interface NewMembership {
  /** The default one without it; none for administrators. */
  readonly organisationId?: number | undefined;
  /** The default team of the organisation where empty. */
  readonly teams: readonly Reference[];
}

/** Inside a transaction: inserts a user with its teams, and reports it. */
export async function insertUser(
  user: NewUser,
  { organisationId, teams }: NewMembership,
  services: Pick<PortalServices, 'portal'>,
): Promise<StoredPortalUser> {
  const { portal } = services;
  const OrganisationID = await resolveUserOrganisation(user.Role, organisationId, services);
  const teamIds = await resolveTeams(teams, OrganisationID, services);
  const inserted = await portal.users.insert({ ...user, OrganisationID });
  await portal.teams.members.setLeftOf(inserted.ID, teamIds);
  await portal.notify('UserRegistered', portalMessages.user(inserted));
  return inserted;
}
