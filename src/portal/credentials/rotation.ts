import { revokeAtProvider } from '../access-requests/removal.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { PortalTools } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import { issueProviderKey, toCredentialSecrets } from './issue.ts';
import type { StoredCredential } from './schema.ts';

type Tools = Pick<PortalTools, 'portal' | 'controlPlane' | 'records' | 'clock'>;
type CredentialSecrets = ReturnType<typeof toCredentialSecrets>;

/**
 * Gives a credential a new key like the old one, which stops working at once. Of two who rotate together one loses and
 * its key is taken back; so it is when the old key cannot be revoked, and the credential keeps the key it had.
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

/** Puts one key in the place of another; false when that one is no longer there. */
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
