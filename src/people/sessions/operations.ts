import { z } from 'zod';
import type { Actor } from '#operations/actor.ts';
import { hasPermission } from '#operations/actor.ts';
import { type OperationCall, operation } from '#operations/operation.ts';
import { problem as refusal } from '#operations/problems.ts';
import { formatExpiredCookie, formatSessionCookie } from '#operations/session-cookie.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { problem as peopleProblem } from '../problems.ts';
import type { ResolveActor } from '../users/actor.ts';
import { rejectOutranking } from '../users/grant-check.ts';
import { toUserView } from '../users/identity.ts';
import { type StoredUser, toUserWithoutKey, type User } from '../users/schema.ts';
import { usesTls } from './dashboard-url.ts';
import { problem } from './problems.ts';
import { BrowserSession, CurrentSession, SignIn, toSession } from './schema.ts';
import { openSession, rejectExpiredPassword, type SignInServices, verifyCredentials } from './sign-in.ts';
import type { StoredSession } from './store.ts';

export interface SessionServices extends SignInServices {
  resolveActor: ResolveActor;
  /** URL that continues the sign-out at the identity provider of a session; undefined where it has no single logout. */
  beginProviderLogout: (session: StoredSession) => Promise<string | undefined>;
  findPortalUrl: () => string | undefined;
}

const declared = { surface: 'dashboard', noun: 'session' } as const;
/** Cross-site request forgery: a form of another site cannot send this media type without a preflight. */
const jsonOnly = { only: ['application/json'] } as const;

async function describeSession(
  { organisations, sessions, factors, passkeys, findPortalUrl }: SessionServices,
  actor: Actor,
  user: User,
  session: StoredSession | undefined,
): Promise<z.output<typeof CurrentSession>> {
  const organisation = await organisations.get(user.org_id);
  return {
    user,
    organisation: { id: user.org_id, owner_name: organisation?.owner_name ?? '', ui: organisation?.ui ?? {} },
    permissions: { ...actor.permissions },
    second_factors: (await factors.findTotpSecret(user.id, 'totp')) === undefined ? [] : ['totp'],
    recovery_codes_left: await factors.countRecoveryCodes(user.id),
    passkeys: (await passkeys.list(user.id)).length,
    portal_url: findPortalUrl() ?? '',
    csrf_token: session ? sessions.csrfToken(session.id) : '',
    session: session ? toSession(session, session.id) : null,
  };
}

type SessionCall = Pick<
  OperationCall<unknown, unknown, unknown>,
  'address' | 'isSecure' | 'audit' | 'header' | 'requestHeader'
>;

/** Opens a session, with what `alsoWrite` writes in the same transaction, and sets its cookie. */
export async function startSession(
  services: SessionServices,
  { address, isSecure, audit, header, requestHeader }: SessionCall,
  verified: StoredUser,
  alsoWrite?: () => Promise<void>,
): Promise<z.output<typeof CurrentSession>> {
  const client = { address, userAgent: requestHeader('user-agent') ?? '' };
  const { token, session, user } = await openSession(services, verified, client, alsoWrite);
  audit(session.id);
  const maxAgeSeconds = services.settings['sessions.max_age_seconds'];
  header('set-cookie', formatSessionCookie(token, maxAgeSeconds, usesTls(services.settings, isSecure)));
  return describeSession(services, await services.resolveActor(user), toUserWithoutKey(user), session);
}

export const signIn = operation({
  ...declared,
  name: 'signIn',
  method: 'POST',
  path: '/api/session',
  about: 'Signs a user in and sets the session cookie. The same answer for an unknown address and a wrong password.',
  permission: 'public',
  accepts: jsonOnly,
  headers: { 'user-agent': 'Shown in the list of sessions' },
  body: SignIn,
  returns: CurrentSession,
  problems: [
    problem.refused,
    problem.limited,
    problem.account_inactive,
    problem.organisation_required,
    problem.second_factor_required,
    problem.password_expired,
  ],
  async handle(call, services: SessionServices) {
    const { username, password, org_id: orgId, otp } = call.body;
    const { address, identify } = call;
    const verified = await verifyCredentials(services, { username, password, orgId, otp, address, identify });
    await rejectExpiredPassword(services, verified);
    return startSession(services, call, verified);
  },
});

export const getSession = operation({
  ...declared,
  name: 'getSession',
  method: 'GET',
  path: '/api/session',
  about: 'Returns the caller’s user, organisation and permissions, and the CSRF token of the session.',
  permission: 'any user',
  returns: CurrentSession,
  async handle({ actor }, services: SessionServices) {
    const account = await services.users.get(actor.orgId, actor.id);
    const user = actor.temporaryUser ? toUserView(actor, actor.temporaryUser) : account && toUserWithoutKey(account);
    if (!user) throw refusal.not_authorised();
    const list = actor.sessionId ? await services.sessions.list(user.id, services.clock.now()) : [];
    return describeSession(
      services,
      actor,
      user,
      list.find(it => it.id === actor.sessionId),
    );
  },
});

export const signOut = operation({
  ...declared,
  name: 'signOut',
  method: 'DELETE',
  path: '/api/session',
  about:
    'Ends the session of the request and removes its cookie. For a session of an identity provider with single logout (SAML or OpenID Connect), the Meta of the response is a URL: the browser that opens it within a minute signs out of the provider too.',
  permission: 'any user',
  returns: statusResponse,
  problems: [problem.session_missing],
  async handle({ actor, isSecure, audit, header }, services: SessionServices) {
    const { sessions, settings, clock, beginProviderLogout } = services;
    if (!actor.sessionId) throw problem.session_missing();
    audit(actor.sessionId);
    const session = (await sessions.list(actor.id, clock.now())).find(({ id }) => id === actor.sessionId);
    await sessions.remove(actor.id, actor.sessionId);
    header('set-cookie', formatExpiredCookie(usesTls(settings, isSecure)));
    return toStatus('Signed out', session && (await beginProviderLogout(session)));
  },
});

const userParams = z.object({ userId: z.string() });
const sessionParams = z.object({ userId: z.string(), sessionId: z.string() });

/** Finds the caller, or with the permission another user of the organisation. */
async function findOwner({ users }: SessionServices, actor: Actor, userId: string, permission: string) {
  if (userId !== actor.id && !hasPermission(actor, permission)) throw refusal.not_permitted({ detail: { permission } });
  if (userId === actor.id) return actor;
  const user = await users.get(actor.orgId, userId);
  if (!user) throw peopleProblem.user_not_found();
  return user;
}

/** Finds a user whose sessions the caller may end: itself, or a user without permissions beyond those of the caller. */
async function findManagedUser(services: SessionServices, actor: Actor, userId: string) {
  const user = await findOwner(services, actor, userId, 'users:write');
  if ('email_address' in user) await rejectOutranking(services.groups, actor, user);
  return user;
}

export const listSessions = operation({
  ...declared,
  name: 'listSessions',
  method: 'GET',
  path: '/api/users/{userId}/sessions',
  about: 'Lists the browser sessions of a user, newest first: one’s own, or with users:read a colleague’s.',
  permission: 'any user',
  params: userParams,
  returns: z.object({ sessions: z.array(BrowserSession) }),
  problems: [peopleProblem.user_not_found, refusal.not_permitted],
  async handle({ actor, params: { userId } }, services: SessionServices) {
    const { id } = await findOwner(services, actor, userId, 'users:read');
    const found = await services.sessions.list(id, services.clock.now());
    return { sessions: found.map(it => toSession(it, actor.sessionId)) };
  },
});

export const endSession = operation({
  ...declared,
  name: 'endSession',
  method: 'DELETE',
  path: '/api/users/{userId}/sessions/{sessionId}',
  about: 'Ends one browser session of a user: one’s own, or with users:write a colleague’s.',
  permission: 'any user',
  params: sessionParams,
  returns: statusResponse,
  problems: [
    peopleProblem.user_not_found,
    peopleProblem.user_outranks,
    refusal.not_permitted,
    problem.session_not_found,
  ],
  async handle({ actor, params: { userId, sessionId }, audit }, services: SessionServices) {
    audit(userId);
    const { id } = await findManagedUser(services, actor, userId);
    if (!(await services.sessions.remove(id, sessionId))) throw problem.session_not_found();
    return toStatus('Session ended');
  },
});

export const endOtherSessions = operation({
  ...declared,
  name: 'endOtherSessions',
  method: 'DELETE',
  path: '/api/users/{userId}/sessions',
  about: 'Ends all browser sessions of a user but that of the request.',
  permission: 'any user',
  params: userParams,
  returns: statusResponse,
  problems: [peopleProblem.user_not_found, peopleProblem.user_outranks, refusal.not_permitted],
  async handle({ actor, params: { userId }, audit }, services: SessionServices) {
    audit(userId);
    const { id } = await findManagedUser(services, actor, userId);
    const ended = await services.sessions.removeOthers(id, actor.sessionId);
    return toStatus('Sessions ended', ended);
  },
});

export const sessionOperations = [signIn, getSession, signOut, listSessions, endSession, endOtherSessions];
