import { createInvalidProblem } from '#operations/validation-error.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { StoredCredential } from '../credentials/schema.ts';
import { present, problem } from '../problems.ts';
import { performOrRecord, type TaskServices } from '../provider-tasks/perform.ts';
import { refuseForeignListing } from './provider-lists.ts';
import type { BoundCertificate, ChosenCertificate, NewCertificate, StoredPortalCertificate } from './schema.ts';

/** Certificates of a credential at a time: the one in use, and those that follow it. */
export const maxBoundCertificates = 5;
export const maxAppCertificates = 50;

/** Inside a transaction: the certificate of an app, added where the app does not have it. */
export async function ensureCertificate(
  AppID: number,
  { AssignedBy, ...certificate }: ChosenCertificate,
  { portal, clock }: Pick<TaskServices, 'portal' | 'clock'>,
): Promise<StoredPortalCertificate> {
  present(await portal.apps.change(AppID, it => it), 'App', 'unknown');
  const existing = await portal.certificates.ofApp(AppID);
  const same = existing.find(({ Fingerprint }) => Fingerprint === certificate.Fingerprint);
  if (same) return AssignedBy ? addAssigners(same, AssignedBy, portal) : same;
  if (existing.length >= maxAppCertificates)
    throw createInvalidProblem([{ path: 'Certificate', message: `the app has ${maxAppCertificates}, the maximum` }]);
  return portal.certificates.insert({
    ...certificate,
    ...(AssignedBy && { AssignedBy }),
    AppID,
    CreatedAt: clock.now(),
  });
}

async function addAssigners(
  certificate: StoredPortalCertificate,
  added: readonly number[],
  portal: TaskServices['portal'],
): Promise<StoredPortalCertificate> {
  const AssignedBy = [...new Set([...(certificate.AssignedBy ?? []), ...added])];
  return present(await portal.certificates.change(certificate.ID, it => ({ ...it, AssignedBy })), 'Certificate');
}

/**
 * Attaches a certificate to a credential, whose keys accept it beside those that they have. It is recorded first: where
 * the provider fails it is `attaching`, and the task repeats the calls.
 */
export async function attachCertificate(
  credential: StoredCredential,
  request: StoredAccessRequest,
  certificate: NewCertificate,
  services: TaskServices,
): Promise<StoredPortalCertificate> {
  const { records } = services;
  if (!credential.Certificates) throw problem.certificate_unused();
  await refuseForeignListing(request, certificate.Fingerprint, services);
  const { stored, task } = await records.write(async () => {
    const added = await ensureCertificate(request.AppID, certificate, services);
    await changeBound(credential.ID, services, bound => {
      const others = bound.filter(({ ID }) => ID !== added.ID);
      const before = bound.find(({ ID }) => ID === added.ID);
      if (before && before.State !== 'detaching') throw problem.certificate_attached();
      if (others.length >= maxBoundCertificates)
        throw problem.too_many_bound({ detail: { max: maxBoundCertificates } });
      return [...others, { ID: added.ID, State: 'attaching' }];
    });
    return { stored: added, task: await addBindTask(credential.ID, request, services) };
  });
  await performOrRecord(task, services);
  return stored;
}

/** Detaches a certificate: it is refused from then on. Where the provider fails it is `detaching` until it is. */
export async function detachCertificate(
  credential: StoredCredential,
  request: StoredAccessRequest,
  certificateId: number,
  services: TaskServices,
): Promise<void> {
  const task = await services.records.write(async () => {
    await changeBound(credential.ID, services, bound => {
      present(
        bound.find(({ ID }) => ID === certificateId),
        'Certificate',
      );
      return bound.map(it => (it.ID === certificateId ? { ...it, State: 'detaching' } : it));
    });
    return addBindTask(credential.ID, request, services);
  });
  await performOrRecord(task, services);
}

async function changeBound(
  credentialId: number,
  { portal }: TaskServices,
  change: (bound: readonly BoundCertificate[]) => readonly BoundCertificate[],
): Promise<void> {
  const changed = await portal.credentials.change(credentialId, it => ({
    ...it,
    Certificates: change(it.Certificates ?? []),
  }));
  present(changed, 'Credential');
}

const addBindTask = (CredentialID: number, { ProviderID }: StoredAccessRequest, { portal, clock }: TaskServices) =>
  portal.providerTasks.add({ Kind: 'bind', ProviderID, Key: '', CredentialID }, clock.now());
