import type { Clock } from '#base/clock.ts';
import type { PortalStores } from '../portal-stores.ts';
import { toSessionOwner } from './session-owner.ts';

interface NewUserSession {
  readonly address: string;
  readonly userAgent: string;
  /** Profile of a single sign-on. */
  readonly profileId?: string | undefined;
  /** ID token of that sign-on, for the logout request. */
  readonly idToken?: string | undefined;
}

/** Inserts a session of the site, and records it as the last sign-in of the user. */
export async function insertUserSession(
  userId: number,
  session: NewUserSession,
  { portal, clock }: { portal: Pick<PortalStores, 'sessions' | 'users'>; clock: Clock },
) {
  const now = clock.now();
  await portal.users.change(userId, it => ({ ...it, LastSignInAt: now }));
  return portal.sessions.insert({ orgId: '', userId: toSessionOwner(userId), ...session }, now);
}
