import type { FastifyReply, FastifyRequest } from 'fastify';
import { createPublicId } from '#base/ids.ts';
import { readDashboardUrl, usesTls } from '../sessions/dashboard-url.ts';
import type { SignInLimit } from '../sessions/sign-in-limit.ts';
import { runCountedAttempt } from './counted-attempt.ts';
import { type FlowCookies, flowTtlSeconds, type SignOnFlow } from './flow-cookie.ts';
import { readNextPath } from './next-path.ts';
import { buildAuthorizationUrl, type CodeFlowServices, completeCodeFlow, createFlowSecrets } from './oidc/code-flow.ts';
import { replyWithForm } from './password-handlers.ts';
import { problem } from './problems.ts';
import { findLoginProfile, openProfileSignOn, type ProfileSignOnServices } from './profile-sign-on.ts';
import { type IdentityProfile, toProfileUrls } from './profiles/schema.ts';
import type { ProviderSlots } from './provider-slots.ts';
import { buildSamlUrl, completeSaml, type SamlServices } from './saml/sign-on.ts';
import { replyWithFailure, replyWithSession, type SignOnAttempt, type SignOnReplyServices } from './sign-on-reply.ts';

export interface ProfileRouteServices
  extends ProfileSignOnServices,
    SignOnReplyServices,
    CodeFlowServices,
    SamlServices {
  flowCookies: FlowCookies;
  signInLimit: SignInLimit;
  providerSlots: ProviderSlots;
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
    const flow: SignOnFlow = {
      id: createPublicId(),
      profileId: profile.ID,
      ...createFlowSecrets(),
      next: readNextPath((request.query as { next?: unknown }).next),
      expiresAtMs: services.clock.now() + flowTtlSeconds * 1000,
    };
    const buildUrl = profile.ProviderName === 'SAMLProvider' ? buildSamlUrl : buildAuthorizationUrl;
    const url = await buildUrl(services, profile, flow, toRedirectUrl(services, profile));
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
  const { flowCookies, signInTokens, settings } = services;
  const profile = await findLoginProfile(services, request, attempt);
  const flow = flowCookies.read(request.headers.cookie, profile.ID);
  if (!flow || profile.ProviderName === 'ADProvider') throw problem.flow_missing();
  const query = request.query as Readonly<Record<string, unknown>>;
  const user =
    profile.ProviderName === 'SAMLProvider'
      ? await completeSaml(services, profile, flow, query.response)
      : await services.providerSlots.run(profile.OrgID, () =>
          completeCodeFlow(services, profile, flow, query, toRedirectUrl(services, profile)),
        );
  attempt.account = user.subject;
  const used = { purpose: 'sso-flow', orgId: profile.OrgID, value: flow.id, expiresAtMs: flow.expiresAtMs } as const;
  if (!(await signInTokens.markUsed(used, services.clock.now()))) throw problem.flow_missing();
  const opened = await openProfileSignOn(services, profile, user, request);
  reply.header('set-cookie', flowCookies.formatExpired(usesTls(settings, request.protocol === 'https')));
  return { opened, next: flow.next };
}
