import { rejectRequest } from '../access-requests/decision.ts';
import { removeCredential } from '../access-requests/removal.ts';
import { removeCustomCredentials } from '../custom-credentials/removal.ts';
import type { TaskServices } from '../provider-tasks/perform.ts';

const reason = 'Its OAuth provider or client type was deleted.';

/**
 * Ends everything that uses client types: their OAuth clients are deleted, as soon as the identity provider is available,
 * and access requests are rejected.
 */
export async function endClientTypes(typeIds: readonly number[], services: TaskServices): Promise<void> {
  const { portal, clock } = services;
  const apps = new Set<number>();
  for (const id of typeIds) for (const { AppID } of await portal.registeredClients.ofType(id)) apps.add(AppID);
  const hasType = (it: { DCRTemplateID?: number }) => typeIds.includes(it.DCRTemplateID ?? 0);
  for (const request of (await portal.accessRequests.listLive({ status: 'pending' })).filter(hasType))
    await rejectRequest(request.ID, reason, services);
  for (const request of (await portal.accessRequests.listOfApps([...apps])).filter(hasType)) {
    for (const { ID } of await portal.credentials.ofRequests([request.ID]))
      await removeCredential(ID, request.ProviderID, services, true);
    const rejected = { Status: 'rejected' as const, Reason: reason, UpdatedAt: clock.now() };
    await portal.accessRequests.change(request.ID, it => ({ ...it, ...rejected }));
  }
  for (const id of apps) {
    const custom = await portal.customCredentials.ofApp(id);
    await removeCustomCredentials(
      custom.filter(it => typeIds.includes(it.ClientTypeID ?? 0)),
      services,
      true,
    );
  }
}
