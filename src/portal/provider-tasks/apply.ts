import type { Key } from '#access/keys/schema.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { listKept, loadBinding } from '../certificates/key-bindings.ts';
import { reconcileCertificate } from '../certificates/provider-lists.ts';
import { addCertificateTasks, listFingerprints } from '../certificates/settle.ts';
import { buildProviderKey, type KeyRequest, toCredentialSecrets } from '../credentials/issue.ts';
import { mailPlanChanged } from '../mails/access-mails.ts';
import { grantToClient } from '../oauth-clients/registration.ts';
import { toRequestUser } from '../oauth-clients/scopes.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { callProvider } from '../providers/provider-client.ts';
import { portalMessages } from '../webhooks/notify.ts';
import type { StoredProviderTask } from './schema.ts';

type ApplyServices = Pick<
  PortalServices,
  'portal' | 'controlPlane' | 'identityProvider' | 'records' | 'clock' | 'settings'
>;

/** Expiry by key, in Unix seconds. */
export type AppliedKeys = ReadonlyMap<string, number>;

/**
 * Gives the keys of a request, also one that a rotation left valid, the policies and metadata of a plan and products.
 * Their ids stay; with the same plan, their expiry and counters too, so that a further product extends neither time nor
 * quota. A key that the provider no longer has is left out. An OAuth client gets the scopes.
 */
export async function applyRights(
  requestId: number,
  rights: KeyRequest,
  keepsPlan: boolean,
  services: ApplyServices,
): Promise<AppliedKeys> {
  const { portal } = services;
  const provider = present(await portal.providers.get(rights.ProviderID), 'Provider', 'unknown');
  const applied = new Map<string, number>();
  for (const credential of await portal.credentials.ofRequests([requestId])) {
    const { ID, Credential, OauthClientID } = credential;
    if (OauthClientID) {
      await grantToClient(OauthClientID, { user: toRequestUser(requestId), rights }, services);
      applied.set(Credential, 0);
      continue;
    }
    for (const fingerprint of await listFingerprints(listKept(credential), services))
      await reconcileCertificate(provider.ID, fingerprint, services, { requestId, ProductIDs: rights.ProductIDs });
    const { Certificates } = credential;
    const bind = (await loadBinding({ ...rights, ...(Certificates && { Certificates }) }, services)) ?? (key => key);
    const built = await buildProviderKey(rights, services);
    const former = (await portal.providerTasks.ofCredential(ID)).filter(({ Kind }) => Kind === 'end');
    const renew = (key: Key): Key => bind({ ...key, ...built });
    const keepExpiry = ({ expires = 0, ...key }: Key): Key => bind({ ...key, ...built, expires });
    const options = { keepsCounters: keepsPlan };
    for (const { Key: name } of former)
      await callProvider(provider, services, plane => plane.changeKey(name, keepExpiry, options));
    const changed = await callProvider(provider, services, plane =>
      plane.changeKey(Credential, keepsPlan ? keepExpiry : renew, options),
    );
    applied.set(Credential, changed?.expires ?? 0);
  }
  return applied;
}

/** Inside a transaction: the changed request has the plan and products of the change, which is approved. */
export async function completeChange(
  { RequestID }: Pick<StoredProviderTask, 'RequestID'>,
  applied: AppliedKeys,
  services: ApplyServices,
): Promise<void> {
  const { portal, clock } = services;
  const now = clock.now();
  const found = await portal.accessRequests.get(RequestID);
  if (found?.Status !== 'pending' || !found.Changes) return;
  const before = await portal.accessRequests.get(found.Changes);
  if (!before) return;
  for (const credential of await portal.credentials.ofRequests([before.ID])) {
    const { ID, Credential } = credential;
    const expires = applied.get(Credential);
    // A rotation that was in progress gave the credential another key, with the rights of before.
    if (expires === undefined) throw problem.rotated_already();
    const { Expires } = toCredentialSecrets({ key_id: '', key_hash: '', expires });
    await portal.credentials.change(ID, it => ({ ...it, Expires }));
    await addCertificateTasks(before.ProviderID, await listFingerprints(listKept(credential), services), services);
  }
  const { PlanID, ProductIDs, CatalogueID, Names, Requested } = found;
  const rights = { PlanID, ProductIDs, CatalogueID, Names, ...(Requested && { Requested }), UpdatedAt: now };
  await portal.accessRequests.change(before.ID, ({ Requested: _former, ...it }) => ({ ...it, ...rights }));
  // The change goes: the request that it changed has its rights from now on.
  const decided: StoredAccessRequest = { ...found, Status: 'approved', ClaimedAt: 0, UpdatedAt: now, DeletedAt: now };
  await portal.accessRequests.change(found.ID, () => decided);
  await portal.notify('PlanChangeApproved', portalMessages.accessRequest(decided));
  await mailPlanChanged(decided, before, services);
}
