import { revokeRecorded } from '../access-requests/removal.ts';
import { claimClient } from '../provider-tasks/client-guard.ts';
import type { TaskServices } from '../provider-tasks/perform.ts';
import type { StoredProviderTask } from '../provider-tasks/schema.ts';
import type { StoredCustomCredential } from './schema.ts';

/**
 * Removes custom credentials; keys and OAuth clients are revoked first, so that no removed credential stays valid. The
 * removal is recorded before, so that it is finished even if the process ends.
 */
export async function removeCustomCredentials(
  credentials: readonly StoredCustomCredential[],
  services: TaskServices,
  force = false,
): Promise<void> {
  for (const { ID } of credentials) {
    const task = await recordRemoval(ID, services, force);
    if (task) await revokeRecorded(task, services, force);
  }
}

/** The task of a removal; undefined where nothing is at a provider, and the credential is removed now. */
function recordRemoval(
  CustomID: number,
  services: TaskServices,
  force: boolean,
): Promise<StoredProviderTask | undefined> {
  const { portal, records, clock } = services;
  return records.write(async () => {
    const credential = await portal.customCredentials.change(CustomID, it => it);
    if (!credential) return undefined;
    const { KeyID: Key, PlaneID: ProviderID, OauthClientID = 0 } = credential;
    if (Key === '' && OauthClientID === 0) return void (await portal.customCredentials.remove(CustomID));
    if (OauthClientID > 0 && !force) await claimClient(OauthClientID, services);
    return portal.providerTasks.add({ Kind: 'revoke', ProviderID, Key, CustomID, OauthClientID }, clock.now());
  });
}
