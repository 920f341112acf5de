import { createInvalidProblem } from '#operations/validation-error.ts';
import type { StoredApp } from '../apps/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { readClientCertificate } from './client-certificate.ts';
import { listUses } from './removal.ts';
import {
  type ChosenCertificate,
  findValidity,
  type NewCertificate,
  type StoredOrganisationCertificate,
} from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'clock'>;

/** Certificates of an organisation: the one in use, and those that follow it. */
export const maxAssignedCertificates = 20;

/** Managed certificates: those that administrators assigned to the organisation of a user, who brings none. */
export async function listAssignedCertificates(
  userId: number,
  { portal }: Pick<Services, 'portal'>,
): Promise<StoredOrganisationCertificate[]> {
  const user = await portal.users.get(userId);
  return user ? portal.organisationCertificates.ofOrganisation(user.OrganisationID) : [];
}

/** The assigned certificate that a new request uses: a valid one before others, the one with the latest end. */
export function chooseAssignedCertificate(
  assigned: readonly StoredOrganisationCertificate[],
  nowMs: number,
): StoredOrganisationCertificate | undefined {
  const isUsable = (it: StoredOrganisationCertificate) => ['valid', 'expiring'].includes(findValidity(it, nowMs));
  return assigned.toSorted((a, b) => Number(isUsable(b)) - Number(isUsable(a)) || b.NotAfter - a.NotAfter)[0];
}

/**
 * Inside a transaction: certificate of a request without one of its own, for apps of an organisation with assigned
 * ones. The lock of its row makes a withdrawal wait until the request is stored, and count it.
 */
export async function findAssignedCertificate(
  { UserID }: Pick<StoredApp, 'UserID'>,
  services: Services,
): Promise<ChosenCertificate | undefined> {
  const nowMs = services.clock.now();
  const chosen = chooseAssignedCertificate(await listAssignedCertificates(UserID, services), nowMs);
  if (!chosen) return undefined;
  const { lock } = services.portal.organisationCertificates;
  if (!(await lock(chosen.ID))) return findAssignedCertificate({ UserID }, services);
  return { ...readClientCertificate(chosen.PEM, chosen.Name, nowMs), AssignedBy: [chosen.OrganisationID] };
}

export const hasAssignedCertificates = async (userId: number, services: Pick<Services, 'portal'>): Promise<boolean> =>
  (await listAssignedCertificates(userId, services)).length > 0;

/** Developers of an organisation with assigned certificates only request: they neither bring nor remove one. */
export async function refuseOwnCertificate(userId: number, services: Pick<Services, 'portal'>): Promise<void> {
  if (await hasAssignedCertificates(userId, services)) throw createInvalidProblem([assignedFault]);
}

export const assignedFault = {
  path: 'Certificate',
  message: 'administrators of the portal manage the certificates of your organisation',
};

/** Assigns a certificate to an organisation, whose row lock serialises the check of duplicates and of the maximum. */
export const assignCertificate = (
  organisationId: number,
  certificate: NewCertificate,
  { portal, clock, records }: Services & Pick<PortalServices, 'records'>,
): Promise<StoredOrganisationCertificate> =>
  records.write(async () => {
    present(await portal.organisations.lock(organisationId), 'Organisation', 'unknown');
    const existing = await portal.organisationCertificates.ofOrganisation(organisationId);
    const refuse = (message: string) => createInvalidProblem([{ path: 'Certificate', message }]);
    if (existing.some(({ Fingerprint }) => Fingerprint === certificate.Fingerprint))
      throw refuse('is assigned to the organisation already');
    if (existing.length >= maxAssignedCertificates)
      throw refuse(`the organisation has ${maxAssignedCertificates}, the maximum`);
    const added = { ...certificate, OrganisationID: organisationId, CreatedAt: clock.now() };
    return portal.organisationCertificates.insert(added);
  });

/** Withdraws a certificate from an organisation; refused while credentials or pending requests use it. */
export const withdrawCertificate = (
  organisationId: number,
  certificateId: number,
  { portal, records }: Pick<PortalServices, 'portal' | 'records'>,
): Promise<void> =>
  records.write(async () => {
    present(await portal.organisations.lock(organisationId), 'Organisation');
    const found = await portal.organisationCertificates.lock(certificateId);
    const { Fingerprint } = present(found?.OrganisationID === organisationId ? found : undefined, 'Certificate');
    const uses = await listOrganisationUses(organisationId, Fingerprint, portal);
    if (uses.credentials.length + uses.requests.length > 0) throw problem.assigned_certificate_in_use();
    await portal.organisationCertificates.remove(certificateId);
  });

/**
 * Credentials and pending requests that use a certificate of an organisation: those of its apps, and of apps that got
 * it while their owner was a member.
 */
export async function listOrganisationUses(
  organisationId: number,
  fingerprint: string,
  portal: PortalServices['portal'],
): Promise<{ credentials: readonly number[]; requests: readonly number[] }> {
  const held = await portal.certificates.withFingerprint(fingerprint);
  const apps = await portal.apps.byIds(held.map(({ AppID }) => AppID));
  const users = await portal.users.byIds([...apps.values()].map(({ UserID }) => UserID));
  const isMember = (appId: number) => users.get(apps.get(appId)?.UserID ?? 0)?.OrganisationID === organisationId;
  const own = held.filter(({ AppID, AssignedBy }) => AssignedBy?.includes(organisationId) || isMember(AppID));
  const uses = await Promise.all(own.map(async ({ AppID, ID }) => (await listUses(AppID, portal))(ID)));
  return {
    credentials: uses.flatMap(({ credentials }) => credentials),
    requests: uses.flatMap(({ requests }) => requests),
  };
}
