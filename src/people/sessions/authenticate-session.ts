import type { Clock } from '#base/clock.ts';
import type { Actor, AuthenticateSession } from '#operations/actor.ts';
import type { ResolveActor } from '../users/actor.ts';
import type { UserStore } from '../users/store.ts';
import type { TemporaryActors } from '../users/temporary-actor.ts';
import type { SessionStore, StoredSession } from './store.ts';

export interface SessionAuthentication {
  readonly sessions: SessionStore;
  readonly users: UserStore;
  readonly resolveActor: ResolveActor;
  readonly temporaryActors: TemporaryActors;
  readonly clock: Clock;
}

/** Authenticates a session cookie. User and groups are read on each request: a changed permission applies at once. */
export const createSessionAuthenticator =
  (services: SessionAuthentication): AuthenticateSession =>
  async token => {
    const { sessions, clock } = services;
    const session = await sessions.find(token, clock.now());
    const actor = session && (await findSessionActor(services, session));
    if (!actor) return undefined;
    await sessions.markSeen(session, clock.now());
    return { actor: { ...actor, sessionId: session.id }, csrfToken: sessions.csrfToken(session.id) };
  };

async function findSessionActor(
  { users, resolveActor, temporaryActors }: SessionAuthentication,
  { orgId, userId, identity }: StoredSession,
): Promise<Actor | undefined> {
  if (identity) return temporaryActors.resolve(orgId, userId, identity);
  const user = await users.get(orgId, userId);
  return user?.active ? resolveActor(user) : undefined;
}
