import { revokeAtProvider } from '../access-requests/removal.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { PortalTools } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import { issueProviderKey, toCredentialSecrets } from './issue.ts';
import type { StoredCredential } from './schema.ts';

type Tools = Pick<PortalTools, 'portal' | 'controlPlane' | 'records' | 'clock'>;
type CredentialSecrets = ReturnType<typeof toCredentialSecrets>;

/**
 * Rotates the key of a credential; the old one stops working at once. Of two concurrent rotations one fails and its key
 * is revoked. When the old key cannot be revoked, the new one is, and the credential keeps the old key.
 */
export async function rotateKey(
  credential: StoredCredential,
  request: StoredAccessRequest,
  tools: Tools,
): Promise<void> {
  const { Credential, CredentialHash, Expires } = credential;
  const old: CredentialSecrets = { Credential, CredentialHash, Expires };
  const fresh = toCredentialSecrets(await issueProviderKey(request, tools));
  const revokeFresh = () => revokeAtProvider(fresh.Credential, request.ProviderID, tools);
  if (!(await replaceKey(credential.ID, old, fresh, tools))) {
    await revokeFresh();
    throw problem.rotated_already();
  }
  try {
    await revokeAtProvider(Credential, request.ProviderID, tools);
  } catch (error) {
    await replaceKey(credential.ID, fresh, old, tools);
    await revokeFresh();
    throw error;
  }
}

/** Compare-and-set of the key; false when the stored key is another. */
async function replaceKey(
  id: number,
  from: CredentialSecrets,
  to: CredentialSecrets,
  { portal }: Tools,
): Promise<boolean> {
  let done = false;
  await portal.credentials.change(id, it => {
    done = it.Credential === from.Credential;
    return done ? { ...it, ...to } : it;
  });
  return done;
}
