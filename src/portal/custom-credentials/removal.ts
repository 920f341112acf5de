import { revokeAtProvider } from '../access-requests/removal.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { StoredCustomCredential } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'controlPlane' | 'records' | 'clock'>;

/** Removes custom credentials; keys are revoked first, so that no removed credential stays valid. */
export async function removeCustomCredentials(
  credentials: readonly StoredCustomCredential[],
  services: Services,
  force = false,
): Promise<void> {
  for (const { ID, KeyID, PlaneID } of credentials) {
    if (KeyID !== '') await revokeAtProvider(KeyID, PlaneID, services, force);
    await services.portal.customCredentials.remove(ID);
  }
}
