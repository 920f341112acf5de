import type { Key } from '#access/keys/schema.ts';
import { Problem } from '#base/problems.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { buildProviderKey } from '../credentials/issue.ts';
import type { StoredCredential } from '../credentials/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import type { StoredProduct } from '../products/schema.ts';
import type { StoredProviderTask } from '../provider-tasks/schema.ts';
import { callProvider } from '../providers/provider-client.ts';
import type { StoredProvider } from '../providers/schema.ts';
import { listKept, loadBinding } from './key-bindings.ts';
import { isEnding, reconcileCertificate } from './provider-lists.ts';
import type { BoundCertificate } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'controlPlane' | 'records' | 'clock'>;

/** Fingerprints of certificates, without those that were deleted. */
export async function listFingerprints(
  bound: readonly Pick<BoundCertificate, 'ID'>[],
  { portal }: Pick<Services, 'portal'>,
): Promise<string[]> {
  const found = await portal.certificates.byIds(bound.map(({ ID }) => ID));
  return [...found.values()].map(({ Fingerprint }) => Fingerprint);
}

/** Inside a transaction: tasks that bring certificates at a provider to what the records say, due at once. */
export async function addCertificateTasks(
  ProviderID: number,
  fingerprints: readonly string[],
  { portal, clock }: Pick<Services, 'portal' | 'clock'>,
): Promise<void> {
  for (const Key of fingerprints) {
    const { ID } = await portal.providerTasks.add({ Kind: 'certificate', ProviderID, Key }, clock.now());
    await portal.providerTasks.postpone(ID, clock.now());
  }
}

/** As `addCertificateTasks`, for the certificate of a request whose approval ended without a credential. */
export async function releaseCertificate(
  { ProviderID, CertificateID = 0 }: Pick<StoredAccessRequest, 'ProviderID' | 'CertificateID'>,
  services: Pick<Services, 'portal' | 'clock'>,
): Promise<void> {
  if (CertificateID === 0) return;
  await addCertificateTasks(ProviderID, await listFingerprints([{ ID: CertificateID }], services), services);
}

const listCertificateApis = ({ APIDetails }: Pick<StoredProduct, 'APIDetails'>) =>
  String(APIDetails.flatMap(({ APIID, CertificateUse }) => (CertificateUse ? [APIID] : [])).sort());

/**
 * Inside a transaction: after a change of the APIs of a product, a task brings all certificates of its provider to what
 * the records say. An API that the product left does not accept certificates of its credentials any more.
 */
export async function followApiChange(
  before: Pick<StoredProduct, 'ProviderID' | 'APIDetails'>,
  after: Pick<StoredProduct, 'APIDetails'>,
  services: Pick<Services, 'portal' | 'clock'>,
): Promise<void> {
  if (listCertificateApis(before) === listCertificateApis(after)) return;
  await addCertificateTasks(before.ProviderID, [''], services);
}

/** Performs a `certificate` task. One that the provider refuses does not stop the others. */
export async function settleCertificate(task: StoredProviderTask, services: Services): Promise<void> {
  const { portal } = services;
  const stored = task.Key === '' ? await portal.providerCertificates.ofProvider(task.ProviderID) : [];
  let refusal: Problem | undefined;
  for (const fingerprint of task.Key === '' ? stored.map(({ Fingerprint }) => Fingerprint) : [task.Key])
    try {
      await reconcileCertificate(task.ProviderID, fingerprint, services);
    } catch (error) {
      if (!(error instanceof Problem && error.code === problem.provider_refused.code)) throw error;
      refusal ??= error;
    }
  if (refusal) throw refusal;
  await portal.providerTasks.remove(task.ID);
}

/** Repetitions of a `bind` task whose credential changes during its calls; then it is due again. */
const maxPasses = 10;

/**
 * Performs a `bind` task: new certificates are listed before the keys of the credential are bound to them, and detached
 * ones are removed from the lists after. Where the credential changed during the calls it is repeated; where it is being
 * revoked the task waits for the outcome.
 */
export async function settleBindings(task: StoredProviderTask, services: Services): Promise<void> {
  const { portal, clock } = services;
  for (let pass = 0; pass < maxPasses; pass++) {
    const credential = await portal.credentials.get(task.CredentialID);
    const provider = await portal.providers.get(task.ProviderID);
    if (!credential || !provider) return void (await portal.providerTasks.remove(task.ID));
    if (await isEnding(credential.ID, portal))
      return void (await portal.providerTasks.defer(task, 'The credential is being revoked', clock.now()));
    const kept = listKept(credential);
    await reconcileAll(provider.ID, kept, services);
    await bindKeys(provider, credential, services);
    await reconcileAll(
      provider.ID,
      (credential.Certificates ?? []).filter(it => !kept.includes(it)),
      services,
    );
    if (await completeBindings(task, credential, services)) return;
  }
  await portal.providerTasks.postpone(task.ID, clock.now());
}

async function bindKeys(provider: StoredProvider, credential: StoredCredential, services: Services): Promise<void> {
  const request = await services.portal.accessRequests.get(credential.AccessRequestID);
  const { Certificates } = credential;
  const bind = request && Certificates && (await loadBinding({ ...request, Certificates }, services));
  if (!bind) return;
  const { apply_policies } = await buildProviderKey(request, services);
  const change = (key: Key) => bind({ ...key, ...(apply_policies && { apply_policies }) });
  for (const key of await listKeys(credential, services))
    await callProvider(provider, services, plane => plane.changeKey(key, change, { keepsCounters: true }));
}

async function reconcileAll(providerId: number, bound: readonly BoundCertificate[], services: Services): Promise<void> {
  for (const fingerprint of await listFingerprints(bound, services))
    await reconcileCertificate(providerId, fingerprint, services);
}

/** The current key of a credential, and those that a rotation left valid. */
async function listKeys({ ID, Credential }: StoredCredential, { portal }: Services): Promise<string[]> {
  const former = (await portal.providerTasks.ofCredential(ID)).filter(({ Kind }) => Kind === 'end');
  return [...former.map(({ Key }) => Key), Credential];
}

/** Removes the task together with its effect on the credential; false where another request changed it meanwhile. */
const completeBindings = (task: StoredProviderTask, before: StoredCredential, { portal, records }: Services) =>
  records.write(async () => {
    let isCurrent = true;
    await portal.credentials.change(before.ID, it => {
      isCurrent = it.Credential === before.Credential && isSameBinding(it, before);
      if (!isCurrent) return it;
      return { ...it, Certificates: listKept(it).map(({ ID }) => ({ ID, State: 'attached' })) };
    });
    if (isCurrent) await portal.providerTasks.remove(task.ID);
    return isCurrent;
  });

export const isSameBinding = (
  a: Pick<StoredCredential, 'Certificates'>,
  b: Pick<StoredCredential, 'Certificates'>,
): boolean => JSON.stringify(a.Certificates ?? []) === JSON.stringify(b.Certificates ?? []);
