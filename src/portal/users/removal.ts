import type { DecisionServices } from '../access-requests/decision.ts';
import { removeApp } from '../apps/removal.ts';
import { problem } from '../problems.ts';
import { isOrganisationAdmin } from './member-changes.ts';
import { refuseLastAdministrator } from './membership.ts';
import type { StoredPortalUser } from './schema.ts';
import { linkOrganisation, toSessionOwner } from './session-owner.ts';

interface RemovalChoices {
  /** Goes on where a provider is unavailable. */
  readonly force?: boolean | undefined;
  /** Inside a transaction: refuses the removal of a user as it is now. */
  readonly refuse?: (user: StoredPortalUser) => Promise<void>;
  /** Inside the transaction of the removal. */
  readonly onRemoved?: (user: StoredPortalUser) => Promise<void>;
}

/** Removes a user: the apps with their keys first, so that a failure leaves an account that can be removed again. */
export async function removePortalUser(
  user: StoredPortalUser,
  services: DecisionServices,
  choices: RemovalChoices = {},
): Promise<void> {
  const { portal, records } = services;
  await records.write(() => refuseRemoval(user, services, choices));
  do for (const { ID } of await portal.apps.ofUser(user.ID)) await removeApp(ID, services, choices.force);
  while (!(await tryRemove(user.ID, services, choices)));
}

async function refuseRemoval(user: StoredPortalUser, services: DecisionServices, { refuse }: RemovalChoices) {
  await refuseLastAdministrator(user, services);
  await refuse?.(user);
}

/** Removes the user; false when an app was created meanwhile. */
const tryRemove = (id: number, services: DecisionServices, choices: RemovalChoices): Promise<boolean> =>
  services.records.write(async () => {
    const { portal } = services;
    const user = await portal.users.lock(id);
    if ((await portal.apps.ofUser(id)).length > 0) return false;
    if (user) await refuseRemoval(user, services, choices);
    await portal.teams.members.setLeftOf(id, []);
    await portal.attributes.values.removeUser(id);
    await portal.sessions.removeOthers(toSessionOwner(id));
    await portal.organisationRequests.removeOfUser(id);
    if (user) await portal.invitations.removeOfUser(user);
    await portal.terms.removeOfUser(id);
    await portal.notifications.removeOfUser(id);
    await portal.accountLinks.removeAll(linkOrganisation, toSessionOwner(id));
    await portal.factors.removeAll(toSessionOwner(id));
    await portal.changelog.removeOfUser(id);
    await portal.users.remove(id);
    if (user) await choices.onRemoved?.(user);
    return true;
  });

/**
 * Inside a transaction: refuses to leave members of an organisation without an administrator. The lock of the
 * organisation makes one of two administrators who leave at the same time wait.
 */
export async function refuseSoleOrganisationAdmin(user: StoredPortalUser, { portal }: DecisionServices): Promise<void> {
  if (!isOrganisationAdmin(user)) return;
  await portal.organisations.lock(user.OrganisationID);
  const others = (await portal.users.ofOrganisation(user.OrganisationID)).filter(it => it.ID !== user.ID);
  if (others.length > 0 && !others.some(isOrganisationAdmin)) throw problem.sole_organisation_admin();
}
