import { revokeAtProvider } from '../access-requests/removal.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import { issueProviderKey, toCredentialSecrets } from './issue.ts';
import type { StoredCredential } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'controlPlane' | 'records' | 'clock'>;
type CredentialSecrets = ReturnType<typeof toCredentialSecrets>;

/**
 * Rotates the key of a credential; the old one stops working at once. Of two concurrent rotations one fails and its key
 * is revoked. When the old key cannot be revoked, the new one is, and the credential keeps the old key.
 */
export async function rotateKey(
  credential: StoredCredential,
  request: StoredAccessRequest,
  services: Services,
): Promise<void> {
  const { Credential, CredentialHash, Expires } = credential;
  const old: CredentialSecrets = { Credential, CredentialHash, Expires };
  const fresh = toCredentialSecrets(await issueProviderKey(request, services));
  const revokeFresh = () => revokeAtProvider(fresh.Credential, request.ProviderID, services);
  if (!(await replaceKey(credential.ID, old, fresh, services))) {
    await revokeFresh();
    throw problem.rotated_already();
  }
  try {
    await revokeAtProvider(Credential, request.ProviderID, services);
  } catch (error) {
    await replaceKey(credential.ID, fresh, old, services);
    await revokeFresh();
    throw error;
  }
}

/** Compare-and-set of the key; false when the stored key is another. */
async function replaceKey(
  id: number,
  from: CredentialSecrets,
  to: CredentialSecrets,
  { portal }: Services,
): Promise<boolean> {
  let done = false;
  await portal.credentials.change(id, it => {
    done = it.Credential === from.Credential;
    return done ? { ...it, ...to } : it;
  });
  return done;
}
