import type { SiteRequest, SiteServices } from '../page.ts';
import { readObjectId } from './own-apps.ts';

/**
 * Result of a rotation: the form redirects to the page of the app, which shows the new key for a token that is used
 * once. A reload of that page repeats no rotation.
 */
export interface ShownKey {
  readonly credentialId: number;
  readonly key: string;
  /** A rotation has created it just now. */
  readonly isRotated?: boolean;
}

/** Seconds between the form and the page it redirects to. */
const tokenTtlSeconds = 60;
const purpose = 'portal-key';

/** Query that shows the present key of a credential once, in the session of the visitor. */
export async function createResultQuery(
  credentialId: number,
  { visitor }: SiteRequest,
  { portal, signInTokens, clock }: SiteServices,
): Promise<string> {
  const hash = (await portal.credentials.get(credentialId))?.CredentialHash ?? '';
  const token = await signInTokens.insert(
    {
      purpose,
      orgId: '',
      ownerId: visitor.sessionId,
      expiresAtMs: clock.now() + tokenTtlSeconds * 1000,
      body: `${credentialId} ${hash}`,
    },
    clock.now(),
  );
  return `?rotated=${encodeURIComponent(token)}`;
}

/** Uses up the token of a redirect: the key of a credential of the app, unless it was replaced meanwhile. */
export async function findRotatedKey(
  appId: number,
  { query, visitor }: SiteRequest,
  { portal, signInTokens, clock }: SiteServices,
): Promise<ShownKey | undefined> {
  const sent = query('rotated');
  const token = sent === '' ? undefined : await signInTokens.find(purpose, sent, clock.now());
  if (token?.ownerId !== visitor.sessionId || !(await signInTokens.use(token))) return undefined;
  const [id = '', hash] = token.body.split(' ');
  const credential = await portal.credentials.get(readObjectId(id));
  const owning = credential && (await portal.accessRequests.get(credential.AccessRequestID));
  if (!credential || owning?.AppID !== appId || credential.CredentialHash !== hash) return undefined;
  return { credentialId: credential.ID, key: credential.Credential, isRotated: true };
}
