import { Problem } from '#base/problems.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { callProvider, isProviderFailure } from '../providers/provider-client.ts';
import type { StoredProvider } from '../providers/schema.ts';
import type { StoredProviderCertificate } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'controlPlane' | 'records'>;

/** Access request whose certificates have other rights than those stored: its products change, or its credential ends. */
export interface ChangedUse {
  readonly requestId: number;
  /** Empty where the credential ends. */
  readonly ProductIDs: readonly number[];
}

/** Attempts to find the records unchanged after the calls; a task repeats it later. */
const maxPasses = 10;

/**
 * Brings a certificate at a provider to what the records say, for which `changed` may say otherwise: stored and in the
 * allow list of each API whose credentials it is attached to, and of no other; deleted after its last use. Idempotent.
 * One process makes the calls of a certificate one after the other: a task that withdraws it from a failed approval does
 * not undo the next one. The records are read again after the calls, so that changes by other processes converge.
 */
export const reconcileCertificate = (
  providerId: number,
  fingerprint: string,
  services: Services,
  changed?: ChangedUse,
): Promise<void> =>
  services.portal.providerCertificates.runExclusive(providerId, fingerprint, () =>
    reconcileAlone(providerId, fingerprint, services, changed),
  );

async function reconcileAlone(
  providerId: number,
  fingerprint: string,
  services: Services,
  changed: ChangedUse | undefined,
): Promise<void> {
  const { portal } = services;
  const provider = await portal.providers.get(providerId);
  for (let pass = 0; pass < maxPasses; pass++) {
    const wanted = await listWantedApis(providerId, fingerprint, services, changed);
    const stored = await portal.providerCertificates.find(providerId, fingerprint);
    if (!provider) return void (stored && (await portal.providerCertificates.remove(stored.ID)));
    if (isSettled(stored, wanted)) return;
    if (wanted) await listCertificate(provider, fingerprint, wanted, services);
    else if (stored) await withdrawCertificate(provider, stored, services);
  }
}

const isSettled = (stored: StoredProviderCertificate | undefined, wanted: readonly string[] | undefined) =>
  wanted ? stored?.IsComplete === true && String(stored.ListedIn) === String(wanted) : stored === undefined;

/** APIs of all credentials with a certificate, sorted; undefined where it has no use. */
async function listWantedApis(
  providerId: number,
  fingerprint: string,
  { portal }: Services,
  changed?: ChangedUse,
): Promise<readonly string[] | undefined> {
  const certificates = await portal.certificates.withFingerprint(fingerprint);
  const ids = new Set(certificates.map(({ ID }) => ID));
  const requests = (await portal.accessRequests.listOfApps(certificates.map(({ AppID }) => AppID))).filter(
    it => it.ProviderID === providerId && !it.Changes,
  );
  const credentials = await portal.credentials.ofRequests(requests.map(({ ID }) => ID));
  const holders = credentials.filter(({ Certificates = [] }) =>
    Certificates.some(it => ids.has(it.ID) && it.State !== 'detaching'),
  );
  const inUse = new Set<number>();
  for (const { ID, AccessRequestID } of holders) if (!(await isEnding(ID, portal))) inUse.add(AccessRequestID);
  const isApproving = (it: (typeof requests)[number]) =>
    it.Status === 'pending' && it.ClaimedAt > 0 && ids.has(it.CertificateID ?? 0);
  const productIds = requests
    .filter(it => inUse.has(it.ID) || isApproving(it))
    .map(it => (changed?.requestId === it.ID ? changed.ProductIDs : it.ProductIDs))
    .filter(it => it.length > 0);
  if (productIds.length === 0) return undefined;
  return listSecuredApis(productIds.flat(), portal);
}

/** True while a revocation of the credential is queued: its certificates leave the allow lists. */
export const isEnding = async (credentialId: number, portal: Services['portal']): Promise<boolean> =>
  (await portal.providerTasks.ofCredential(credentialId)).some(({ Kind }) => Kind === 'revoke');

/** APIs of products that require client certificates, sorted. */
async function listSecuredApis(productIds: readonly number[], portal: Services['portal']): Promise<readonly string[]> {
  const products = await portal.products.byIds(productIds);
  const details = [...products.values()].flatMap(({ APIDetails }) => APIDetails);
  return [...new Set(details.filter(it => it.CertificateUse).map(({ APIID }) => APIID))].sort();
}

/**
 * Refuses a certificate that an administrator of the provider has put into the allow list of an API: the end of the
 * credential would remove it there, and with it the access of its owner.
 */
export async function refuseForeignListing(
  { ProviderID, ProductIDs }: Pick<StoredAccessRequest, 'ProviderID' | 'ProductIDs'>,
  fingerprint: string,
  services: Services,
): Promise<void> {
  const name = await findForeignListing(ProviderID, ProductIDs, fingerprint, services);
  if (name === undefined) return;
  const message = `is in the allow list of the API ${name} already, without the portal: send another one`;
  throw createInvalidProblem([{ path: 'Certificate', message }]);
}

/** Name of the first such API. A provider that fails says so with the next call. */
async function findForeignListing(
  providerId: number,
  productIds: readonly number[],
  fingerprint: string,
  services: Services,
): Promise<string | undefined> {
  const { portal } = services;
  const provider = await portal.providers.get(providerId);
  if (!provider) return undefined;
  try {
    const reference = await callProvider(provider, services, plane => plane.findCertificate(fingerprint));
    if (reference === undefined) return undefined;
    const ids = await listSecuredApis(productIds, portal);
    const found = await callProvider(provider, services, plane => plane.apis(ids));
    // Read last: the portal records an API before it adds the certificate there.
    const own = (await portal.providerCertificates.find(providerId, fingerprint))?.ListedIn ?? [];
    return [...found.values()].find(it => it.allowedCertificates.includes(reference) && !own.includes(it.apiId))?.name;
  } catch (error) {
    if (!isProviderFailure(error)) throw error;
    return undefined;
  }
}

/** Stores the certificate where the provider does not have it, and adds it to the lists; each is recorded first. */
async function listCertificate(
  provider: StoredProvider,
  fingerprint: string,
  wanted: readonly string[],
  services: Services,
): Promise<void> {
  const { portal } = services;
  const existing = await callProvider(provider, services, plane => plane.findCertificate(fingerprint));
  const { ID, ListedIn } = await recordListing(provider.ID, fingerprint, { wanted, isOwned: !existing }, services);
  const [certificate] = await portal.certificates.withFingerprint(fingerprint);
  const { PEM } = present(certificate, 'Certificate', 'unknown');
  const reference = existing ?? (await callProvider(provider, services, plane => plane.addCertificate(PEM)));
  for (const apiId of ListedIn)
    await callProvider(provider, services, plane =>
      plane.setClientCertificate(apiId, reference, wanted.includes(apiId)),
    );
  await portal.providerCertificates.change(ID, it => ({
    ...it,
    Reference: reference,
    IsComplete: String(it.ListedIn) === String(ListedIn),
    ListedIn: String(it.ListedIn) === String(ListedIn) ? wanted : it.ListedIn,
  }));
}

/** Records the lists that the certificate may be in from now on. The lock of the provider serialises the first ones. */
const recordListing = (
  ProviderID: number,
  Fingerprint: string,
  { wanted, isOwned }: { readonly wanted: readonly string[]; readonly isOwned: boolean },
  { portal, records }: Services,
): Promise<StoredProviderCertificate> =>
  records.write(async () => {
    await portal.providers.change(ProviderID, it => it);
    const stored = await portal.providerCertificates.find(ProviderID, Fingerprint);
    const ListedIn = [...new Set([...(stored?.ListedIn ?? []), ...wanted])].sort();
    const lists = { ListedIn, IsComplete: false };
    if (!stored)
      return portal.providerCertificates.insert({ ProviderID, Fingerprint, Reference: '', IsOwned: isOwned, ...lists });
    return (await portal.providerCertificates.change(stored.ID, it => ({ ...it, ...lists }))) ?? stored;
  });

/** Removes the certificate from the lists, then from the store where the portal put it there. */
async function withdrawCertificate(
  provider: StoredProvider,
  { ID, Fingerprint, IsOwned, ListedIn }: StoredProviderCertificate,
  services: Services,
): Promise<void> {
  const reference = await callProvider(provider, services, plane => plane.findCertificate(Fingerprint));
  if (reference !== undefined) {
    for (const apiId of ListedIn)
      await callProvider(provider, services, plane => plane.setClientCertificate(apiId, reference, false));
    if (IsOwned) await deleteUnlessUsed(provider, reference, services);
  }
  await services.portal.providerCertificates.remove(ID);
}

/** A provider may refuse to delete a certificate that other objects of it name: it stays there. */
async function deleteUnlessUsed(provider: StoredProvider, reference: string, services: Services): Promise<void> {
  try {
    await callProvider(provider, services, plane => plane.deleteCertificate(reference));
  } catch (error) {
    if (!(error instanceof Problem && error.code === problem.provider_refused.code)) throw error;
  }
}

/** Ids of certificates in the store of a provider, of which every one is there. */
export async function findStoredReferences(
  providerId: number,
  certificateIds: readonly number[],
  { portal }: Pick<Services, 'portal'>,
): Promise<string[]> {
  const certificates = await portal.certificates.byIds(certificateIds);
  const references: string[] = [];
  for (const id of certificateIds) {
    const { Fingerprint } = present(certificates.get(id), 'Certificate', 'unknown');
    const stored = await portal.providerCertificates.find(providerId, Fingerprint);
    references.push(present(stored?.Reference || undefined, 'Certificate', 'unknown'));
  }
  return references;
}
