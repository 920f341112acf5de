import { createInvalidProblem } from '#operations/validation-error.ts';
import { defaultOrganisationId, hasPersonalApps } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import type { Reference } from '../shapes.ts';
import { isPortalAdmin, type StoredPortalUser, type UserRole } from './schema.ts';

type Services = Pick<PortalServices, 'portal'>;

/**
 * Organisation of a user: 0 for administrators, otherwise the given or the default one. Inside a transaction: locks
 * the organisation, so that one deleted meanwhile gets no user.
 */
export async function resolveUserOrganisation(role: UserRole, id: number | undefined, { portal }: Services) {
  if (isPortalAdmin(role)) return 0;
  const organisationId = id || defaultOrganisationId;
  if (!(await portal.organisations.lock(organisationId)))
    throw createInvalidProblem([{ path: 'OrganisationID', message: `there is no organisation ${organisationId}` }]);
  return organisationId;
}

/** Teams of a user: those given, which must be of the user's organisation, or its default team. */
export async function resolveTeams(references: readonly Reference[], organisationId: number, { portal }: Services) {
  if (organisationId === 0) return [];
  const own = await portal.teams.ofOrganisation(organisationId);
  const chosen = references.map((it, place) => {
    const team = own.find(({ ID, CID, Name }) => it === ID || it === CID || it === Name);
    if (!team)
      throw createInvalidProblem([
        { path: `Teams[${place}]`, message: `there is no team ${it} in organisation ${organisationId}` },
      ]);
    return team.ID;
  });
  return chosen.length > 0 ? chosen : own.filter(team => team.Default).map(team => team.ID);
}

/** Makes the apps of a user personal where the organisation demands it. */
export async function restrictApps(userId: number, organisationId: number, { portal }: Services): Promise<void> {
  if (!hasPersonalApps(organisationId)) return;
  for (const { ID, Visibility } of await portal.apps.ofUser(userId))
    if (Visibility !== 'personal') await portal.apps.change(ID, it => ({ ...it, Visibility: 'personal' }));
}

/** Inside a transaction: refuses to lose the last active administrator; of two concurrent changes one waits. */
export async function refuseLastAdministrator(user: StoredPortalUser, { portal }: Services): Promise<void> {
  if (!user.Active || !isPortalAdmin(user.Role)) return;
  const others: StoredPortalUser[] = [];
  for (const { ID } of await portal.users.ofOrganisation(0)) {
    const administrator = await portal.users.lock(ID);
    if (administrator?.Active && isPortalAdmin(administrator.Role) && ID !== user.ID) others.push(administrator);
  }
  if (others.length === 0) throw problem.last_administrator();
}
