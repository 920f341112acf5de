import type { FastifyReply, FastifyRequest } from 'fastify';
import { readDashboardUrl, usesTls } from '../sessions/dashboard-url.ts';
import type { SignInLimit } from '../sessions/sign-in-limit.ts';
import { runCountedAttempt } from './counted-attempt.ts';
import type { FlowCookies } from './flow-cookie.ts';
import { readNextPath } from './next-path.ts';
import { replyWithForm } from './password-handlers.ts';
import { problem } from './problems.ts';
import { findLoginProfile, openProfileSignOn, type ProfileSignOnServices } from './profile-sign-on.ts';
import { type IdentityProfile, toProfileUrls } from './profiles/schema.ts';
import { beginRedirect, completeRedirect, type RedirectFlowServices, useFlow } from './redirect-flow.ts';
import { replyWithFailure, replyWithSession, type SignOnAttempt, type SignOnReplyServices } from './sign-on-reply.ts';

export interface ProfileRouteServices extends ProfileSignOnServices, SignOnReplyServices, RedirectFlowServices {
  flowCookies: FlowCookies;
  signInLimit: SignInLimit;
}

/** Redirects through identity providers. */
export const createProfileHandlers = (services: ProfileRouteServices) => ({
  begin: (request: FastifyRequest, reply: FastifyReply) => beginSignOn(services, request, reply),
  complete: (request: FastifyRequest, reply: FastifyReply) =>
    replyWithSession(services, request, reply, attempt =>
      runCountedAttempt(services.signInLimit, request.ip, () => completeFlow(services, request, reply, attempt)),
    ),
});

const toRedirectUrl = ({ settings }: ProfileRouteServices, profile: IdentityProfile) =>
  toProfileUrls(profile, readDashboardUrl(settings)).redirectUrl;

/** Redirects to the provider, or shows the form of a directory. */
async function beginSignOn(services: ProfileRouteServices, request: FastifyRequest, reply: FastifyReply) {
  const attempt = { orgId: '', object: '' };
  try {
    const profile = await findLoginProfile(services, request, attempt);
    if (profile.ProviderName === 'ADProvider') return replyWithForm(reply, profile);
    const next = readNextPath((request.query as { next?: unknown }).next);
    const redirectUrl = toRedirectUrl(services, profile);
    const { flow, url } = await beginRedirect(services, profile, { next, redirectUrl });
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
  const { flowCookies, settings } = services;
  const profile = await findLoginProfile(services, request, attempt);
  const flow = flowCookies.read(request.headers.cookie, profile.ID);
  if (!flow) throw problem.flow_missing();
  const query = request.query as Readonly<Record<string, unknown>>;
  const user = await completeRedirect(services, profile, flow, query, toRedirectUrl(services, profile));
  attempt.account = user.subject;
  await useFlow(services, profile, flow);
  const opened = await openProfileSignOn(services, profile, user, request);
  reply.header('set-cookie', flowCookies.formatExpired(usesTls(settings, request.protocol === 'https')));
  return { opened, next: flow.next };
}
