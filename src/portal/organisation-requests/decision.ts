import { createInvalidProblem } from '#operations/validation-error.ts';
import { mailOrganisationDecision, mailOrganisationRequest } from '../mails/organisation-mails.ts';
import { defaultOrganisationId, type StoredPortalOrganisation } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { resolveTeams } from '../users/membership.ts';
import { isPortalAdmin, type StoredPortalUser } from '../users/schema.ts';
import { portalMessages } from '../webhooks/notify.ts';
import type { StoredOrganisationRequest } from './schema.ts';

export type OrganisationRequestServices = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

/** Inside a transaction: the developer, locked; one with an organisation, and an administrator, has no request. */
async function lockRequester(id: number, { portal }: OrganisationRequestServices): Promise<StoredPortalUser> {
  const user = await portal.users.lock(id);
  if (!user || isPortalAdmin(user.Role))
    throw createInvalidProblem([{ path: 'AdminID', message: `there is no developer ${id}` }]);
  if (user.OrganisationID !== defaultOrganisationId) throw problem.organisation_assigned();
  return user;
}

/** Inside a transaction with the default organisation locked, so that no concurrent request takes the name. */
async function refuseTakenName(name: string, { portal }: OrganisationRequestServices, maxPending: number) {
  await portal.organisations.lock(defaultOrganisationId);
  if ((await portal.organisationRequests.countOrganisations(name)) > 0) throw problem.organisation_taken();
  if ((await portal.organisationRequests.countPendingNamed(name)) > maxPending) throw problem.organisation_taken();
}

/** Requests of a developer on the site in 24 hours: each may send a mail to every administrator. */
export const maxDailyOrganisationRequests = 5;
const dailyWindowMs = 86_400_000;

export const countRecentRequests = async (userId: number, { portal, clock }: OrganisationRequestServices) =>
  (await portal.organisationRequests.ofUser(userId)).filter(it => it.CreatedAt > clock.now() - dailyWindowMs).length;

/**
 * Asks for an organisation of a developer's own. One request of a developer is pending at a time. Administrators get no
 * mail about one that is approved in the same transaction.
 */
export function requestOrganisation(
  name: string,
  userId: number,
  services: OrganisationRequestServices,
  { isDecided = false } = {},
): Promise<StoredOrganisationRequest> {
  const { portal, records, clock } = services;
  return records.write(async () => {
    const user = await lockRequester(userId, services);
    if ((await portal.organisationRequests.countOfUser(userId)) > 0) throw problem.organisation_requested();
    await refuseTakenName(name, services, 0);
    const now = clock.now();
    const created = await portal.organisationRequests.insert({
      Name: name,
      AdminID: userId,
      AdminEmail: user.Email,
      Status: 'pending',
      Reason: '',
      OrganisationID: 0,
      CreatedAt: now,
      UpdatedAt: now,
    });
    await portal.notify('OrganisationRequestCreated', portalMessages.organisationRequest(created));
    if (!isDecided) await mailOrganisationRequest(created, user, services);
    return created;
  });
}

async function lockPending(id: number, { portal }: OrganisationRequestServices): Promise<StoredOrganisationRequest> {
  const found = present(await portal.organisationRequests.change(id, it => it), 'Organisation request', 'unknown');
  if (found.Status !== 'pending') throw problem.organisation_decided({ detail: { status: found.Status } });
  return found;
}

/** Creates the organisation with its default team; the developer is its administrator, in it alone. */
export function approveOrganisation(
  id: number,
  name: string | undefined,
  services: OrganisationRequestServices,
): Promise<StoredPortalOrganisation> {
  const { portal, records, clock } = services;
  return records.write(async () => {
    const request = await lockPending(id, services);
    const user = await lockRequester(request.AdminID, services);
    const Name = name ?? request.Name;
    await refuseTakenName(Name, services, Name.toLowerCase() === request.Name.toLowerCase() ? 1 : 0);
    const organisation = await portal.organisations.create(Name);
    const administrator = { ...user, OrganisationID: organisation.ID, Role: 'consumer-admin' as const };
    await portal.users.change(user.ID, () => ({ ...administrator, UpdatedAt: clock.now() }));
    await portal.teams.members.setLeftOf(user.ID, await resolveTeams([], organisation.ID, services));
    const decided = { Name, Status: 'approved' as const, OrganisationID: organisation.ID, UpdatedAt: clock.now() };
    await portal.organisationRequests.change(id, it => ({ ...it, ...decided }));
    await portal.notify('OrganisationRequestApproved', portalMessages.user(administrator));
    await portal.notify('OrganisationRegistered', portalMessages.organisation(organisation));
    await mailOrganisationDecision({ ...request, ...decided }, user, services);
    return organisation;
  });
}

export function rejectOrganisation(id: number, reason: string, services: OrganisationRequestServices): Promise<void> {
  const { portal, records, clock } = services;
  return records.write(async () => {
    const request = await lockPending(id, services);
    const decided = { Status: 'rejected' as const, Reason: reason, UpdatedAt: clock.now() };
    await portal.organisationRequests.change(id, it => ({ ...it, ...decided }));
    await portal.notify('OrganisationRequestRejected', portalMessages.organisationRequest({ ...request, ...decided }));
    const user = await portal.users.get(request.AdminID);
    if (user) await mailOrganisationDecision({ ...request, ...decided }, user, services);
  });
}
