import { type Clock, formatIsoTime } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { StoredUser } from '../users/schema.ts';
import { readDashboardUrl } from './dashboard-url.ts';
import type { SignInTokenStore } from './token-store.ts';

export interface ResetLinkServices {
  signInTokens: SignInTokenStore;
  settings: Settings;
  clock: Clock;
}

/** Token with which a user sets a password, once and for a limited time. */
export async function createResetToken(
  { signInTokens, clock }: ResetLinkServices,
  user: Pick<StoredUser, 'id' | 'org_id'>,
  ttlSeconds: number,
) {
  const expiresAtMs = clock.now() + ttlSeconds * 1000;
  const owner = { purpose: 'reset', orgId: user.org_id, ownerId: user.id } as const;
  const token = await signInTokens.insert({ ...owner, expiresAtMs }, clock.now());
  return { token, expires_at: formatIsoTime(expiresAtMs) };
}

/** Path of the page to set a password. */
export const resetPath = '/login/reset';

export async function createResetLink(
  services: ResetLinkServices,
  user: Pick<StoredUser, 'id' | 'org_id'>,
  ttlSeconds: number,
) {
  const { token, expires_at } = await createResetToken(services, user, ttlSeconds);
  return { link: `${readDashboardUrl(services.settings)}${resetPath}?token=${token}`, token, expires_at };
}
