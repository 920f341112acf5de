import type { PortalServices } from '../portal-stores.ts';

/**
 * Key of a credential, or secret of its OAuth client: undefined where it was shown before and may be shown once, or the
 * credential was deleted meanwhile.
 */
export async function revealKey(
  id: number,
  { portal, clock }: Pick<PortalServices, 'portal' | 'clock'>,
  isRepeatable = false,
): Promise<string | undefined> {
  let key: string | undefined;
  const secret = (await portal.credentials.get(id))?.Client?.ClientSecret;
  // A public client has no secret.
  if (secret === '') return undefined;
  await portal.credentials.change(id, it => {
    key = it.RevealedAt && !isRepeatable ? undefined : (secret ?? it.Credential);
    return key === undefined ? it : { ...it, RevealedAt: clock.now() };
  });
  return key;
}
