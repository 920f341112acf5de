import type { Clock } from '#base/clock.ts';
import type { AuthenticateSession } from '#operations/actor.ts';
import type { ResolveActor } from '../users/actor.ts';
import type { UserStore } from '../users/store.ts';
import type { SessionStore } from './store.ts';

export interface SessionAuthentication {
  readonly sessions: SessionStore;
  readonly users: UserStore;
  readonly resolveActor: ResolveActor;
  readonly clock: Clock;
}

/** Authenticates a session cookie. The user is read on each request: a changed permission applies at once. */
export const createSessionAuthenticator =
  ({ sessions, users, resolveActor, clock }: SessionAuthentication): AuthenticateSession =>
  async token => {
    const session = await sessions.find(token, clock.now());
    if (!session) return undefined;
    const user = await users.get(session.orgId, session.userId);
    if (!user?.active) return undefined;
    await sessions.markSeen(session, clock.now());
    const actor = { ...(await resolveActor(user)), sessionId: session.id };
    return { actor, csrfToken: sessions.csrfToken(session.id) };
  };
