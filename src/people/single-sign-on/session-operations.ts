import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { pageQuery, statusResponse, toPageRequest, toStatus } from '#operations/shapes.ts';
import type { GroupStore } from '../groups/store.ts';
import { isOutranked } from '../permissions/rank.ts';
import { problem as peopleProblem } from '../problems.ts';
import { problem as sessionProblem } from '../sessions/problems.ts';
import { BrowserSession, toSession } from '../sessions/schema.ts';
import type { SessionStore, StoredSession } from '../sessions/store.ts';
import { rejectOutranking } from '../users/grant-check.ts';
import type { UserStore } from '../users/store.ts';
import type { TemporaryActors } from '../users/temporary-actor.ts';

export interface SignOnSessionServices {
  sessions: SessionStore;
  users: UserStore;
  groups: GroupStore;
  temporaryActors: TemporaryActors;
  clock: Clock;
  settings: Settings;
}

const declared = { surface: 'dashboard', noun: 'single sign-on' } as const;

const SignOnSession = BrowserSession.extend({
  user_id: z.string().describe('Account, or an id of the user without one: the same at each sign-on'),
  email_address: z.string().describe('Of a user without an account; empty for an account'),
  profile_id: z.string().describe('Identity profile; empty for a nonce'),
  creator_id: z.string().describe('User who created the nonce; empty for the operator and for identity profiles'),
});

const toSignOnSession = (session: StoredSession, currentId?: string): z.output<typeof SignOnSession> => ({
  ...toSession(session, currentId),
  user_id: session.userId,
  email_address: session.identity?.email ?? '',
  profile_id: session.profileId,
  creator_id: session.creatorId,
});

export const listSignOnSessions = operation({
  ...declared,
  name: 'listSignOnSessions',
  method: 'GET',
  path: '/api/sso/sessions',
  about:
    'Lists the browser sessions that single sign-on opened in the caller’s organisation, newest first: those of users without an account too, which no user record has.',
  permission: 'users:read',
  query: pageQuery,
  returns: z.object({ sessions: z.array(SignOnSession), pages: z.int() }),
  async handle({ actor, query }, { sessions, clock, settings }: SignOnSessionServices) {
    const request = toPageRequest(query.p, settings['management.page_size']);
    const { items, pages } = await sessions.pageSignOns(actor.orgId, request, clock.now());
    return { sessions: items.map(it => toSignOnSession(it, actor.sessionId)), pages };
  },
});

/** Rejects the end of a session that holds more than the actor. */
async function rejectOutrankingSession(services: SignOnSessionServices, actor: Actor, session: StoredSession) {
  const { users, groups, temporaryActors } = services;
  const { orgId, userId, identity } = session;
  if (identity) {
    const { permissions } = await temporaryActors.findPermissions(orgId, identity.groupIds);
    if (isOutranked(actor.permissions, permissions)) throw peopleProblem.user_outranks();
  } else {
    const user = await users.get(orgId, userId);
    if (user) await rejectOutranking(groups, actor, user);
  }
}

export const endSignOnSession = operation({
  ...declared,
  name: 'endSignOnSession',
  method: 'DELETE',
  path: '/api/sso/sessions/{sessionId}',
  about: 'Ends a browser session that single sign-on opened, also one of a user without an account.',
  permission: 'users:write',
  params: z.object({ sessionId: z.string() }),
  returns: statusResponse,
  problems: [sessionProblem.session_not_found, peopleProblem.user_outranks],
  async handle({ actor, params: { sessionId }, audit }, services: SignOnSessionServices) {
    audit(sessionId);
    const { sessions, clock } = services;
    const session = await sessions.findSignOn(actor.orgId, sessionId, clock.now());
    if (!session) throw sessionProblem.session_not_found();
    if (session.id !== actor.sessionId) await rejectOutrankingSession(services, actor, session);
    await sessions.remove(session.userId, session.id);
    return toStatus('Session ended');
  },
});

export const signOnSessionOperations = [listSignOnSessions, endSignOnSession];
