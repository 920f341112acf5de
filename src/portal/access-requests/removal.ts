import type { PortalServices } from '../portal-stores.ts';
import { callProvider, isProviderFailure } from '../providers/provider-client.ts';
import type { StoredAccessRequest } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'controlPlane' | 'records' | 'clock'>;

/** Revokes the key of a credential at its provider. With `force`, failures of the provider are ignored. */
export async function revokeAtProvider(
  keyId: string,
  providerId: number,
  services: Services,
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
  services: Services,
  force = false,
): Promise<void> {
  for (const request of requests) {
    do await revokeAll(request, services, force);
    while (!(await tryRemove(request, services)));
  }
}

async function revokeAll({ ID, ProviderID }: StoredAccessRequest, services: Services, force: boolean): Promise<void> {
  const credentials = await services.portal.credentials.ofRequests([ID]);
  for (const credential of credentials) await removeCredential(credential.ID, ProviderID, services, force);
}

/** Revokes and removes a credential; after a concurrent rotation the new key is revoked too. */
export async function removeCredential(
  id: number,
  providerId: number,
  services: Services,
  force = false,
): Promise<void> {
  const { credentials } = services.portal;
  for (let it = await credentials.get(id); it; it = await credentials.get(id)) {
    await revokeAtProvider(it.Credential, providerId, services, force);
    if (await credentials.remove(it)) return;
  }
}

/** Marks the request deleted; false when a concurrent approval has added a credential. */
function tryRemove({ ID }: StoredAccessRequest, { portal, records, clock }: Services): Promise<boolean> {
  return records.write(async () => {
    await portal.accessRequests.change(ID, it => it);
    if ((await portal.credentials.ofRequests([ID])).length > 0) return false;
    await portal.accessRequests.change(ID, it => ({ ...it, DeletedAt: clock.now() }));
    return true;
  });
}
