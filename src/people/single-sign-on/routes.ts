import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createFailureSampler } from './failure-sampler.ts';
import { type NonceServices, redeemNonce } from './nonce.ts';
import { addPasswordRoutes, type PasswordRouteServices } from './password-routes.ts';
import { problem } from './problems.ts';
import { addProfileRoutes, type ProfileRouteServices } from './profile-routes.ts';
import { addLogoutRoutes } from './saml/logout-routes.ts';
import { addSamlRoutes } from './saml/routes.ts';
import { openSignOn, type SignOnServices } from './sign-on.ts';
import { replyWithSession, type SignOnReplyServices, toSignOnClient } from './sign-on-reply.ts';

export type SignOnRouteServices = SignOnServices &
  NonceServices &
  Omit<SignOnReplyServices & ProfileRouteServices & PasswordRouteServices, 'failureSampler'>;

/**
 * Login cross-site request forgery: a page of another site must not sign a browser on by a frame, an image or a script.
 * Browsers name the destination of each request (Fetch Metadata); other clients do not send the header.
 */
function rejectEmbedded({ headers }: FastifyRequest): void {
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined && destination !== 'document') throw problem.navigation_required();
}

/** Routes of single sign-on on the dashboard listener. They are visited by browsers, and redirect. */
export function addSignOnRoutes(app: FastifyInstance, given: SignOnRouteServices): void {
  const services = { ...given, failureSampler: createFailureSampler(given.clock) };
  // HEAD is not answered: a link preview must not use a nonce up.
  app.get('/tap', { exposeHeadRoute: false }, (request, reply) =>
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
  );
  addProfileRoutes(app, services);
  addPasswordRoutes(app, services);
  addSamlRoutes(app, services);
  addLogoutRoutes(app, services);
}
