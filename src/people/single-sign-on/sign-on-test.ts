import type { FastifyReply, FastifyRequest } from 'fastify';
import { escapeMarkup } from '#base/escape-markup.ts';
import { Problem } from '#base/problems.ts';
import type { GroupStore } from '../groups/store.ts';
import { unknownActor } from '../sessions/sign-in.ts';
import type { ResolveActor } from '../users/actor.ts';
import { type AssertedUser, mapAssertedUser } from './asserted-user.ts';
import { isProviderOutage, problem, SignOnRefusal } from './problems.ts';
import { findLoginProfile, type ProfileSignOnServices, toSignOnSource } from './profile-sign-on.ts';
import type { IdentityProfile } from './profiles/schema.ts';
import { previewAccount } from './sign-on.ts';
import {
  auditSignOn,
  replyWithFailure,
  type SignOnAttempt,
  type SignOnReplyServices,
  toFailedSignOn,
} from './sign-on-reply.ts';
import { openTestTicket, type SignOnTester } from './test-ticket.ts';

/** Sign-on test: the whole sign-on through a provider, which shows its outcome to the tester and opens no session. */

export interface SignOnTestServices extends ProfileSignOnServices, SignOnReplyServices {
  resolveActor: ResolveActor;
  groups: GroupStore;
}

const maxShownClaims = 100;
const maxShownCharacters = 1000;

export const isTestRequest = ({ query }: FastifyRequest): boolean => (query as { test?: unknown }).test !== undefined;

/** Tester of a request, by the ticket of its URL: session cookies are of `/api` alone. */
export function requireTester(
  { vault, clock }: Pick<SignOnTestServices, 'vault' | 'clock'>,
  { query }: FastifyRequest,
  profile: IdentityProfile,
): SignOnTester {
  const ticket = openTestTicket(vault, String((query as { test?: unknown }).test), clock.now());
  if (ticket?.profileId !== profile.ID) throw problem.tester_refused();
  return ticket.tester;
}

/** Runs a test and responds with its outcome as a page. */
export async function replyWithTest(
  services: SignOnTestServices,
  request: FastifyRequest,
  reply: FastifyReply,
  findTester: (profile: IdentityProfile) => SignOnTester,
  authenticate: (profile: IdentityProfile, attempt: SignOnAttempt) => Promise<AssertedUser>,
): Promise<FastifyReply> {
  const attempt: SignOnAttempt = { orgId: '', object: '', action: 'signOnTest' };
  reply.headers({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
  try {
    const profile = await findLoginProfile(services, request, attempt);
    const actor = { ...unknownActor, ...findTester(profile), orgId: profile.OrgID };
    const outcome = await findOutcome(services, profile, () => authenticate(profile, attempt));
    const status = outcome.refusal === undefined ? 200 : 403;
    if (status === 200 || services.failureSampler.record(toFailedSignOn(request, attempt)))
      await auditSignOn(services, request, actor, status, attempt);
    return reply.code(status).type('text/html; charset=utf-8').send(renderOutcome(profile, outcome));
  } catch (error) {
    return replyWithFailure(services, request, reply, error, attempt);
  }
}

interface TestOutcome {
  readonly claims: Readonly<Record<string, unknown>>;
  /** Reason, where the sign-on is refused. */
  readonly refusal?: string;
  readonly email?: string;
  readonly hasAccount?: boolean;
  readonly groups?: readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
}

/** Unlike a sign-on, a test names the reason of a refused response: the tester configures the profile. */
async function findOutcome(
  services: SignOnTestServices,
  profile: IdentityProfile,
  authenticate: () => Promise<AssertedUser>,
): Promise<TestOutcome> {
  let user: AssertedUser;
  try {
    user = await authenticate();
  } catch (error) {
    if (error instanceof SignOnRefusal || isProviderOutage(error))
      return { claims: {}, refusal: (error as Error).message };
    throw error;
  }
  const { claims = {} } = user;
  try {
    return { claims, ...(await findSignedOnUser(services, profile, user)) };
  } catch (error) {
    if (error instanceof Problem) return { claims, refusal: error.message };
    throw error;
  }
}

async function findSignedOnUser(services: SignOnTestServices, profile: IdentityProfile, user: AssertedUser) {
  const identity = mapAssertedUser(profile, user);
  const account = await previewAccount(services, toSignOnSource(services, profile, user), identity);
  const { groupIds = [], permissions } = account
    ? await services.resolveActor(account)
    : await services.temporaryActors.findPermissions(profile.OrgID, identity.groupIds);
  const found = await Promise.all(groupIds.map(id => services.groups.get(profile.OrgID, id)));
  return {
    email: identity.email,
    hasAccount: account !== undefined,
    groups: found.flatMap(group => (group ? [group.name] : [])),
    permissions: permissions as Readonly<Record<string, string>>,
  };
}

function renderOutcome({ Name }: IdentityProfile, outcome: TestOutcome): string {
  const title = `Test of ${escapeMarkup(Name)}`;
  return [
    `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>`,
    '<p>The test opens no session and stores nothing. Close this window to return to the profile.</p>',
    '<h2>Result</h2>',
    ...(outcome.refusal === undefined ? renderUser(outcome) : [`<p>Refused: ${escapeMarkup(outcome.refusal)}</p>`]),
    '<h2>Claims</h2>',
    ...renderClaims(outcome.claims),
    '</html>',
  ].join('\n');
}

function renderUser({ email = '', hasAccount, groups = [], permissions = {} }: TestOutcome): string[] {
  const held = Object.entries(permissions).map(([name, level]) => `<li>${escapeMarkup(`${name}: ${level}`)}</li>`);
  return [
    `<p>${escapeMarkup(email)} signs on ${hasAccount ? 'to the account with this address' : 'without an account'}.</p>`,
    `<p>User groups: ${escapeMarkup(groups.join(', ')) || 'none'}</p>`,
    held.length > 0 ? `<p>Permissions:</p><ul>${held.join('')}</ul>` : '<p>Permissions: none</p>',
  ];
}

function renderClaims(claims: TestOutcome['claims']): string[] {
  const rows = Object.entries(claims)
    .slice(0, maxShownClaims)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
      const [shownName, shownValue] = [name, text].map(it => escapeMarkup(it.slice(0, maxShownCharacters)));
      return `<tr><th scope="row">${shownName}</th><td>${shownValue}</td></tr>`;
    });
  return rows.length > 0 ? ['<table>', ...rows, '</table>'] : ['<p>none received</p>'];
}
