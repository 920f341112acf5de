import type { SiteRequest, SiteServices } from '../page.ts';

/** Finds what a mailed link stands for. A wrong token counts as a failed sign-in of the client: links are not guessed. */
export async function findByLink<Found>(
  { address }: SiteRequest,
  { portalSignInLimit }: SiteServices,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const attempt = portalSignInLimit.beginFromAddress(address);
  const found = await find();
  if (found !== undefined) attempt.succeed();
  return found;
}
