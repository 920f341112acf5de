import type { FastifyReply, FastifyRequest } from 'fastify';
import { readDashboardUrl, usesTls } from '../sessions/dashboard-url.ts';
import type { SignInLimit } from '../sessions/sign-in-limit.ts';
import { runCountedAttempt } from './counted-attempt.ts';
import type { FlowCookies } from './flow-cookie.ts';
import { readNextPath } from './next-path.ts';
import { replyWithForm } from './password-handlers.ts';
import { problem } from './problems.ts';
import { findLoginProfile, openProfileSignOn } from './profile-sign-on.ts';
import { type IdentityProfile, toProfileUrls } from './profiles/schema.ts';
import { beginRedirect, completeRedirect, type RedirectFlowServices, useFlow } from './redirect-flow.ts';
import { replyWithFailure, replyWithSession, type SignOnAttempt } from './sign-on-reply.ts';
import { isTestRequest, replyWithTest, requireTester, type SignOnTestServices } from './sign-on-test.ts';

export interface ProfileRouteServices extends SignOnTestServices, RedirectFlowServices {
  flowCookies: FlowCookies;
  signInLimit: SignInLimit;
}

/** Redirects through identity providers. */
export const createProfileHandlers = (services: ProfileRouteServices) => ({
  begin: (request: FastifyRequest, reply: FastifyReply) => beginSignOn(services, request, reply),
  complete: (request: FastifyRequest, reply: FastifyReply) => {
    const tester = findFlowTester(services, request);
    const count = <T>(run: () => Promise<T>) => runCountedAttempt(services.signInLimit, request.ip, run);
    if (!tester)
      return replyWithSession(services, request, reply, attempt =>
        count(() => completeFlow(services, request, reply, attempt)),
      );
    const authenticate = async (profile: IdentityProfile) =>
      (await count(() => authenticateFlow(services, request, reply, profile))).user;
    return replyWithTest(services, request, reply, () => tester, authenticate);
  },
});

const findFlowTester = ({ flowCookies }: ProfileRouteServices, { headers, params }: FastifyRequest) =>
  flowCookies.read(headers.cookie, (params as { profileId: string }).profileId)?.tester;

const toRedirectUrl = ({ settings }: ProfileRouteServices, profile: IdentityProfile) =>
  toProfileUrls(profile, readDashboardUrl(settings)).redirectUrl;

/** Redirects to the provider, or shows the form of a directory. */
async function beginSignOn(services: ProfileRouteServices, request: FastifyRequest, reply: FastifyReply) {
  const attempt = { orgId: '', object: '' };
  try {
    const profile = await findLoginProfile(services, request, attempt);
    const tester = isTestRequest(request) ? requireTester(services, request, profile) : undefined;
    if (profile.ProviderName === 'ADProvider') return replyWithForm(reply, profile);
    const next = readNextPath((request.query as { next?: unknown }).next);
    const redirectUrl = toRedirectUrl(services, profile);
    const { flow, url } = await beginRedirect(services, profile, { next, redirectUrl, tester });
    const isSecure = usesTls(services.settings, request.protocol === 'https');
    return reply.header('set-cookie', services.flowCookies.format(flow, isSecure)).redirect(url, 303);
  } catch (error) {
    return replyWithFailure(services, request, reply, error, attempt);
  }
}

async function completeFlow(
  services: ProfileRouteServices,
  request: FastifyRequest,
  reply: FastifyReply,
  attempt: SignOnAttempt,
) {
  const profile = await findLoginProfile(services, request, attempt);
  const { user, flow } = await authenticateFlow(services, request, reply, profile, attempt);
  return { opened: await openProfileSignOn(services, profile, user, request), next: flow.next };
}

/** User of a completed flow, whose cookie expires. */
async function authenticateFlow(
  services: ProfileRouteServices,
  request: FastifyRequest,
  reply: FastifyReply,
  profile: IdentityProfile,
  attempt?: SignOnAttempt,
) {
  const { flowCookies, settings } = services;
  const flow = flowCookies.read(request.headers.cookie, profile.ID);
  if (!flow) throw problem.flow_missing();
  const query = request.query as Readonly<Record<string, unknown>>;
  const user = await completeRedirect(services, profile, flow, query, toRedirectUrl(services, profile));
  if (attempt) attempt.account = user.subject;
  await useFlow(services, profile, flow);
  reply.header('set-cookie', flowCookies.formatExpired(usesTls(settings, request.protocol === 'https')));
  return { user, flow };
}
