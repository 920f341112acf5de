import type { StoredPortalUser, UserRole } from '../../users/schema.ts';
import { type SiteRequest, teamPath } from '../page.ts';

/** Members of an organisation as pages show them. */

export const roleNames: Readonly<Record<UserRole, string>> = {
  'super-admin': 'Administrator',
  'provider-admin': 'Administrator',
  'consumer-admin': 'Organisation admin',
  'consumer-team-member': 'Developer',
};

export const nameMember = ({ First, Last, Email }: Pick<StoredPortalUser, 'First' | 'Last' | 'Email'>): string =>
  `${First} ${Last}`.trim() || Email;

export const invitePath = `${teamPath}/invite`;
export const toMemberUrl = (id: number): string => `${teamPath}/${id}`;

/** Numbers of the teams that are ticked in a form. */
export const readTeamFields = (teams: readonly { ID: number }[], { form }: Pick<SiteRequest, 'form'>): number[] =>
  teams.filter(({ ID }) => form(`team_${ID}`) !== '').map(({ ID }) => ID);
