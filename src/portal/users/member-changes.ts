import { partnersOf } from '../join-table-store.ts';
import { defaultOrganisationId, hasPersonalApps, type StoredTeam } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import { resolveTeams } from './membership.ts';
import type { StoredPortalUser } from './schema.ts';

/** Changes that the administrator of an organisation makes to its members. */

export type MemberServices = Pick<PortalServices, 'portal' | 'records' | 'clock'>;
/** Roles that the administrator of an organisation can give. */
export const memberRoles = ['consumer-team-member', 'consumer-admin'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Administrators of the default organisation manage no members: its users have nothing in common. */
export const isOrganisationAdmin = ({ Active, Role, OrganisationID }: StoredPortalUser): boolean =>
  Active && Role === 'consumer-admin' && !hasPersonalApps(OrganisationID);

/** Teams that an administrator of an organisation can add members to: the own ones, and that of the organisation. */
export async function listGrantableTeams(
  { ID, OrganisationID }: StoredPortalUser,
  { portal }: Pick<PortalServices, 'portal'>,
): Promise<StoredTeam[]> {
  const own = new Set(partnersOf(await portal.teams.members.leftOf([ID]), ID));
  return (await portal.teams.ofOrganisation(OrganisationID)).filter(team => team.Default || own.has(team.ID));
}

/** Inside a transaction: administrator and member of one organisation, locked in the order of their numbers. */
async function lockMember(actorId: number, memberId: number, { portal }: MemberServices) {
  const locked = new Map<number, StoredPortalUser | undefined>();
  for (const id of [actorId, memberId].sort((a, b) => a - b)) locked.set(id, await portal.users.lock(id));
  const [actor, member] = [locked.get(actorId), locked.get(memberId)];
  if (!actor || !isOrganisationAdmin(actor) || member?.OrganisationID !== actor.OrganisationID)
    throw problem.unknown({ detail: { what: 'Member' } });
  return { actor, member };
}

/** Teams after a change: those chosen of the administrator's, and those that the administrator cannot change. */
async function mergeTeams(
  actor: StoredPortalUser,
  memberId: number,
  chosen: readonly number[],
  services: MemberServices,
): Promise<number[]> {
  const { portal } = services;
  const grantable = new Set((await listGrantableTeams(actor, services)).map(({ ID }) => ID));
  const before = partnersOf(await portal.teams.members.leftOf([memberId]), memberId);
  const foreign = chosen.filter(id => !grantable.has(id) && !before.includes(id));
  if (foreign.length > 0) throw problem.unknown({ detail: { what: 'Team' } });
  const kept = before.filter(id => !grantable.has(id));
  return resolveTeams([...new Set([...chosen, ...kept])], actor.OrganisationID, services);
}

/** Sets role and teams of a member. Administrators do not change their own role: an organisation keeps one. */
export function changeMember(
  actorId: number,
  memberId: number,
  { role, teams }: { readonly role: MemberRole; readonly teams: readonly number[] },
  services: MemberServices,
): Promise<void> {
  const { portal, records, clock } = services;
  return records.write(async () => {
    const { actor, member } = await lockMember(actorId, memberId, services);
    if (actorId === memberId && role !== member.Role) throw problem.own_membership();
    const teamIds = await mergeTeams(actor, memberId, teams, services);
    await portal.users.change(memberId, it => ({ ...it, Role: role, UpdatedAt: clock.now() }));
    await portal.teams.members.setLeftOf(memberId, teamIds);
  });
}

/** Moves a member to the default organisation; the apps go to another member. Returns their number. */
export function removeMember(
  actorId: number,
  memberId: number,
  newOwnerId: number,
  services: MemberServices,
): Promise<number> {
  const { portal, records, clock } = services;
  return records.write(async () => {
    const { actor, member } = await lockMember(actorId, memberId, services);
    const newOwner = newOwnerId === actorId ? actor : await portal.users.lock(newOwnerId);
    if (memberId === actorId || newOwnerId === memberId) throw problem.own_membership();
    if (!newOwner?.Active || newOwner.OrganisationID !== actor.OrganisationID)
      throw problem.unknown({ detail: { what: 'New owner of the apps' } });
    const apps = await portal.apps.ofUser(memberId);
    for (const { ID } of apps)
      await portal.apps.change(ID, it => ({ ...it, UserID: newOwnerId, UpdatedAt: clock.now() }));
    await portal.users.change(memberId, () => ({
      ...member,
      OrganisationID: defaultOrganisationId,
      Role: 'consumer-team-member',
      UpdatedAt: clock.now(),
    }));
    await portal.teams.members.setLeftOf(memberId, await resolveTeams([], defaultOrganisationId, services));
    const organisation = await portal.organisations.get(actor.OrganisationID);
    const title = `You were removed from ${organisation?.Name ?? 'your organisation'}; your apps went to another member`;
    await portal.notifications.add(memberId, 'team', title, '/portal/private/users');
    return apps.length;
  });
}
