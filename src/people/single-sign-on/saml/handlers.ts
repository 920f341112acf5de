import type { FastifyReply, FastifyRequest } from 'fastify';
import { readDashboardUrl } from '../../sessions/dashboard-url.ts';
import type { SignInLimit } from '../../sessions/sign-in-limit.ts';
import { runCountedAttempt } from '../counted-attempt.ts';
import { problem } from '../problems.ts';
import { findLoginProfile, type ProfileSignOnServices } from '../profile-sign-on.ts';
import { toProfileUrls } from '../profiles/schema.ts';
import { maxSamlEncodedCharacters } from '../route-bounds.ts';
import { replyWithFailure, type SignOnReplyServices } from '../sign-on-reply.ts';
import { formatMetadata } from './service-metadata.ts';
import { receiveResponse, type SamlServices, toServiceProvider } from './sign-on.ts';

export type SamlRouteServices = ProfileSignOnServices &
  SignOnReplyServices &
  SamlServices & { readonly signInLimit: SignInLimit };

/** Routes that SAML has beside those of redirects: the assertion consumer service, and the service provider metadata. */
export const createSamlHandlers = (services: SamlRouteServices) => ({
  receiveAssertion: (request: FastifyRequest, reply: FastifyReply) =>
    replyForProfile(services, request, reply, async (profile, redirectUrl) => {
      const token = await runCountedAttempt(services.signInLimit, request.ip, async () =>
        receiveResponse(services, profile, readEncodedResponse(request), redirectUrl),
      );
      return reply.redirect(`${new URL(redirectUrl).pathname}?response=${token}`, 303);
    }),
  sendMetadata: (request: FastifyRequest, reply: FastifyReply) =>
    replyForProfile(services, request, reply, async (profile, redirectUrl) =>
      reply.type('application/samlmetadata+xml').send(formatMetadata(toServiceProvider(profile, redirectUrl))),
    ),
});

function readEncodedResponse({ body }: FastifyRequest): string {
  const text = Buffer.isBuffer(body) ? body.toString('utf8') : '';
  const [encoded, ...others] = new URLSearchParams(text).getAll('SAMLResponse');
  if (!encoded || others.length > 0 || encoded.length > maxSamlEncodedCharacters) throw problem.response_missing();
  return encoded;
}

async function replyForProfile(
  services: SamlRouteServices,
  request: FastifyRequest,
  reply: FastifyReply,
  respond: (profile: Awaited<ReturnType<typeof findLoginProfile>>, redirectUrl: string) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const attempt = { orgId: '', object: '' };
  try {
    const profile = await findLoginProfile(services, request, attempt);
    if (profile.ProviderName !== 'SAMLProvider') throw problem.profile_unknown();
    const { redirectUrl } = toProfileUrls(profile, readDashboardUrl(services.settings));
    return await respond(profile, redirectUrl);
  } catch (error) {
    return replyWithFailure(services, request, reply, error, attempt);
  }
}
