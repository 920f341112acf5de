import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { AuthenticateSession } from '#operations/actor.ts';
import { createSessionAuthenticator, type SessionAuthentication } from '#people/sessions/authenticate-session.ts';
import type { PortalStores } from '../portal-stores.ts';
import { lacksRequiredFactor } from '../second-factor/required-factor.ts';
import { isPortalAdmin } from './schema.ts';
import { fromSessionOwner, toSessionOwner } from './session-owner.ts';

export interface PortalSessionServices {
  portal: Pick<PortalStores, 'sessions' | 'users' | 'factors'>;
  clock: Clock;
  settings: Settings;
}

/** The active user of a session of the site; its use renews the idle timeout. */
export async function findSessionUser(token: string, { portal, clock }: PortalSessionServices) {
  const session = await portal.sessions.find(token, clock.now());
  if (!session) return undefined;
  const user = await portal.users.get(fromSessionOwner(session.userId));
  if (!user?.Active || toSessionOwner(user.ID) !== session.userId) return undefined;
  await portal.sessions.markSeen(session, clock.now());
  return { user, session };
}

/**
 * Authenticates the session cookie of the site for `/portal-api`. Role and second factor are read on each request: a
 * change applies at once.
 */
const createPortalSessionAuthenticator =
  (services: PortalSessionServices): AuthenticateSession =>
  async token => {
    const found = await findSessionUser(token, services);
    if (!found || !isPortalAdmin(found.user.Role) || (await lacksRequiredFactor(found.user, services)))
      return undefined;
    const { user, session } = found;
    const actor = { surface: 'portal', id: session.userId, name: user.Email, orgId: '', permissions: {} } as const;
    return { actor: { ...actor, sessionId: session.id }, csrfToken: services.portal.sessions.csrfToken(session.id) };
  };

/** Authenticators of session cookies by surface. */
export const createSessionAuthenticators = (services: PortalSessionServices & SessionAuthentication) => ({
  dashboard: createSessionAuthenticator(services),
  portal: createPortalSessionAuthenticator(services),
});
