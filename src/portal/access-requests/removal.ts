import type { PortalTools } from '../portal-stores.ts';
import { callProvider, isProviderFailure } from '../providers/provider-client.ts';
import type { StoredAccessRequest } from './schema.ts';

type Tools = Pick<PortalTools, 'portal' | 'controlPlane' | 'records' | 'clock'>;

/** Revokes the key of a credential at its provider. With `force`, failures of the provider are ignored. */
export async function revokeAtProvider(keyId: string, providerId: number, tools: Tools, force = false): Promise<void> {
  const provider = await tools.portal.providers.get(providerId);
  if (!provider) return;
  try {
    await callProvider(provider, tools, plane => plane.deleteKey(keyId));
  } catch (error) {
    if (!force || !isProviderFailure(error)) throw error;
  }
}

/** Removes requests with their credentials; keys are revoked first, so that no removed credential stays valid. */
export async function removeRequests(
  requests: readonly StoredAccessRequest[],
  tools: Tools,
  force = false,
): Promise<void> {
  for (const request of requests) {
    do await revokeAll(request, tools, force);
    while (!(await tryRemove(request, tools)));
  }
}

async function revokeAll({ ID, ProviderID }: StoredAccessRequest, tools: Tools, force: boolean): Promise<void> {
  const credentials = await tools.portal.credentials.ofRequests([ID]);
  for (const credential of credentials) await removeCredential(credential.ID, ProviderID, tools, force);
}

/** Revokes and removes a credential; after a concurrent rotation the new key is revoked too. */
export async function removeCredential(id: number, providerId: number, tools: Tools, force = false): Promise<void> {
  const { credentials } = tools.portal;
  for (let it = await credentials.get(id); it; it = await credentials.get(id)) {
    await revokeAtProvider(it.Credential, providerId, tools, force);
    if (await credentials.remove(it)) return;
  }
}

/** Marks the request deleted; false when a concurrent approval has added a credential. */
function tryRemove({ ID }: StoredAccessRequest, { portal, records, clock }: Tools): Promise<boolean> {
  return records.write(async () => {
    await portal.accessRequests.change(ID, it => it);
    if ((await portal.credentials.ofRequests([ID])).length > 0) return false;
    await portal.accessRequests.change(ID, it => ({ ...it, DeletedAt: clock.now() }));
    return true;
  });
}
