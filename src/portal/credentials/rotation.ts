import { revokeAtProvider } from '../access-requests/removal.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { PortalTools } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import { issueFor, secretsOf } from './issue.ts';
import type { StoredCredential } from './schema.ts';

type Tools = Pick<PortalTools, 'portal' | 'controlPlane' | 'records' | 'clock'>;
type Secrets = ReturnType<typeof secretsOf>;

/**
 * Gives a credential a new key like the old one, which stops working at once. Of two who rotate together one loses and
 * its key is taken back; so it is when the old key cannot be revoked, and the credential keeps the key it had.
 */
export async function rotate(credential: StoredCredential, request: StoredAccessRequest, tools: Tools): Promise<void> {
  const { Credential, CredentialHash, Expires } = credential;
  const old: Secrets = { Credential, CredentialHash, Expires };
  const fresh = secretsOf(await issueFor(request, tools));
  const takeBack = () => revokeAtProvider(fresh.Credential, request.ProviderID, tools);
  if (!(await exchanged(credential.ID, old, fresh, tools))) {
    await takeBack();
    throw problem.rotated_already();
  }
  try {
    await revokeAtProvider(Credential, request.ProviderID, tools);
  } catch (error) {
    await exchanged(credential.ID, fresh, old, tools);
    await takeBack();
    throw error;
  }
}

/** Puts one key in the place of another; false when that one is no longer there. */
async function exchanged(id: number, from: Secrets, to: Secrets, { portal }: Tools): Promise<boolean> {
  let done = false;
  await portal.credentials.change(id, it => {
    done = it.Credential === from.Credential;
    return done ? { ...it, ...to } : it;
  });
  return done;
}
