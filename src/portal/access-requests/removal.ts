import { addCertificateTasks, listFingerprints, releaseCertificate } from '../certificates/settle.ts';
import { claimClient } from '../provider-tasks/client-guard.ts';
import { completeTask, performTask, type TaskServices } from '../provider-tasks/perform.ts';
import type { NewProviderTask, StoredProviderTask } from '../provider-tasks/schema.ts';
import { callProvider, isProviderFailure, type ProviderClientServices } from '../providers/provider-client.ts';
import type { StoredAccessRequest } from './schema.ts';

/** Revokes the key of a credential at its provider. With `force`, failures of the provider are ignored. */
export async function revokeAtProvider(
  keyId: string,
  providerId: number,
  services: ProviderClientServices,
  force = false,
): Promise<void> {
  const provider = await services.portal.providers.get(providerId);
  if (!provider) return;
  try {
    await callProvider(provider, services, plane => plane.deleteKey(keyId));
  } catch (error) {
    if (!force || !isProviderFailure(error)) throw error;
  }
}

/** Removes requests with their credentials; keys are revoked first, so that no removed credential stays valid. */
export async function removeRequests(
  requests: readonly StoredAccessRequest[],
  services: TaskServices,
  force = false,
): Promise<void> {
  for (const request of requests) {
    do await revokeAll(request, services, force);
    while (!(await tryRemove(request, services)));
  }
}

async function revokeAll(
  { ID, ProviderID }: StoredAccessRequest,
  services: TaskServices,
  force: boolean,
): Promise<void> {
  const credentials = await services.portal.credentials.ofRequests([ID]);
  for (const credential of credentials) await removeCredential(credential.ID, ProviderID, services, force);
}

/**
 * Revokes and removes a credential with its former keys; after a concurrent rotation the new key is revoked too. The
 * removal is recorded first, so that it is finished even if the process ends. Where the provider fails, the credential
 * stays; with `force` it goes, and its key is removed as soon as the provider is available.
 */
export async function removeCredential(
  id: number,
  providerId: number,
  services: TaskServices,
  force = false,
): Promise<void> {
  for (let tasks = await recordRemoval(id, providerId, services, force); tasks.length > 0; ) {
    for (const task of tasks) await revokeRecorded(task, services, force);
    tasks = await recordRemoval(id, providerId, services, force);
  }
}

/** Tasks that end every key of a credential; none where it does not exist. */
function recordRemoval(
  CredentialID: number,
  ProviderID: number,
  services: TaskServices,
  force: boolean,
): Promise<StoredProviderTask[]> {
  const { portal, records, clock } = services;
  return records.write(async () => {
    const credential = await portal.credentials.change(CredentialID, it => it);
    if (!credential) return [];
    const { Credential: Key, CredentialHash: KeyHash, OauthClientID = 0 } = credential;
    if (OauthClientID > 0 && !force) await claimClient(OauthClientID, services);
    const former: StoredProviderTask[] = [];
    for (const { ID, Kind } of await portal.providerTasks.ofCredential(CredentialID)) {
      const claimed = Kind === 'end' ? await portal.providerTasks.endNow(ID, clock.now()) : undefined;
      if (claimed) former.push(claimed);
    }
    const task = { Kind: 'revoke' as const, ProviderID, Key, KeyHash, CredentialID, OauthClientID };
    return [...former, await portal.providerTasks.add(task, clock.now())];
  });
}

/** Task after the forced removal of a credential: it removes the key, or gives the OAuth client the rights left. */
const toLeftover = ({ ProviderID, Key, KeyHash, OauthClientID = 0 }: StoredProviderTask): NewProviderTask =>
  OauthClientID > 0
    ? { Kind: 'client', ProviderID, Key: '', OauthClientID }
    : { Kind: 'abandon', ProviderID, Key, KeyHash };

/** After a failed revocation the credential stays: calls for others may have taken its certificates from the lists. */
const keepCredential = ({ ID, CredentialID, ProviderID }: StoredProviderTask, services: TaskServices): Promise<void> =>
  services.records.write(async () => {
    const { portal } = services;
    await portal.providerTasks.remove(ID);
    const credential = await portal.credentials.get(CredentialID);
    const fingerprints = await listFingerprints(credential?.Certificates ?? [], services);
    await addCertificateTasks(ProviderID, fingerprints, services);
  });

export async function revokeRecorded(task: StoredProviderTask, services: TaskServices, force: boolean): Promise<void> {
  const { portal, records, clock } = services;
  try {
    await performTask(task, services);
  } catch (error) {
    if (!isProviderFailure(error)) throw error;
    if (!force) {
      if (task.Kind === 'revoke') await keepCredential(task, services);
      else await portal.providerTasks.defer(task, error.message, clock.now());
      throw error;
    }
    await records.write(async () => {
      await completeTask(task, services);
      const { ID } = await portal.providerTasks.add(toLeftover(task), clock.now());
      await portal.providerTasks.defer({ ...task, ID }, error.message, clock.now());
    });
  }
}

/** Marks the request deleted; false when a concurrent approval has added a credential. */
function tryRemove(request: StoredAccessRequest, services: TaskServices): Promise<boolean> {
  const { ID, AppID } = request;
  const { portal, records, clock } = services;
  return records.write(async () => {
    await portal.accessRequests.change(ID, it => it);
    if ((await portal.credentials.ofRequests([ID])).length > 0) return false;
    const pending = await portal.accessRequests.listLive({ app_id: AppID, status: 'pending' });
    const changes = pending.filter(({ Changes }) => Changes === ID).map(it => it.ID);
    for (const id of [ID, ...changes])
      await portal.accessRequests.change(id, it => ({ ...it, DeletedAt: clock.now() }));
    await releaseCertificate(request, services);
    return true;
  });
}
