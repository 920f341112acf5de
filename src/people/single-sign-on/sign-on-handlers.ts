import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { createFailureSampler } from './failure-sampler.ts';
import { type NonceServices, redeemNonce } from './nonce.ts';
import { createDiscovery } from './oidc/discovery.ts';
import { createPasswordHandler, type PasswordRouteServices } from './password-handlers.ts';
import { problem } from './problems.ts';
import { createProfileHandlers, type ProfileRouteServices } from './profile-handlers.ts';
import { createSamlHandlers } from './saml/handlers.ts';
import type { LogoutServices } from './saml/logout.ts';
import { createLogoutHandlers } from './saml/logout-handlers.ts';
import { createSamlProviders } from './saml/metadata.ts';
import { openSignOn, type SignOnServices } from './sign-on.ts';
import { replyWithSession, type SignOnReplyServices, toSignOnClient } from './sign-on-reply.ts';

export type SignOnRouteServices = SignOnServices &
  NonceServices &
  Omit<
    SignOnReplyServices & ProfileRouteServices & PasswordRouteServices & LogoutServices,
    'failureSampler' | 'discoverProvider' | 'findSamlProvider'
  > & { readonly outbound: OutboundClient; readonly clock: Clock };

/**
 * Login cross-site request forgery: a page of another site must not sign a browser on by a frame, an image or a script.
 * Browsers name the destination of each request (Fetch Metadata); other clients do not send the header.
 */
function rejectEmbedded({ headers }: FastifyRequest): void {
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined && destination !== 'document') throw problem.navigation_required();
}

/** Handlers of the routes of single sign-on, with their clients of identity providers. */
export function createSignOnHandlers(given: SignOnRouteServices) {
  const services = {
    ...given,
    failureSampler: createFailureSampler(given.clock),
    discoverProvider: createDiscovery(given.outbound, given.clock),
    findSamlProvider: createSamlProviders(given.outbound, given.clock),
  };
  return {
    useNonce: (request: FastifyRequest, reply: FastifyReply) =>
      replyWithSession(services, request, reply, async attempt => {
        rejectEmbedded(request);
        const { nonce } = request.query as { nonce?: unknown };
        const { orgId, identity, accountId, creator } = await redeemNonce(
          services,
          typeof nonce === 'string' ? nonce : '',
        );
        Object.assign(attempt, { orgId, object: 'nonce' });
        const source = { orgId, profileId: '', signsInAccounts: true, accountId, creator };
        return { opened: await openSignOn(services, source, identity, toSignOnClient(request)), next: '/' };
      }),
    signOnWithPassword: createPasswordHandler(services),
    ...createProfileHandlers(services),
    ...createSamlHandlers(services),
    ...createLogoutHandlers(services),
  };
}

export type SignOnHandlers = ReturnType<typeof createSignOnHandlers>;
