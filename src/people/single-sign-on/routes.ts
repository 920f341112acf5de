import type { FastifyInstance } from 'fastify';
import { type NonceServices, redeemNonce } from './nonce.ts';
import { addPasswordRoutes, type PasswordRouteServices } from './password-routes.ts';
import { addProfileRoutes, type ProfileRouteServices } from './profile-routes.ts';
import { addSamlRoutes } from './saml/routes.ts';
import { openSignOn, type SignOnServices } from './sign-on.ts';
import { replyWithSession, type SignOnReplyServices, toSignOnClient } from './sign-on-reply.ts';

export type SignOnRouteServices = SignOnServices &
  NonceServices &
  SignOnReplyServices &
  ProfileRouteServices &
  PasswordRouteServices;

/** Routes of single sign-on on the dashboard listener. They are visited by browsers, and redirect. */
export function addSignOnRoutes(app: FastifyInstance, services: SignOnRouteServices): void {
  // HEAD is not answered: a link preview must not use a nonce up.
  app.get('/tap', { exposeHeadRoute: false }, (request, reply) =>
    replyWithSession(services, request, reply, async attempt => {
      const { nonce } = request.query as { nonce?: unknown };
      const { orgId, identity, accountId } = await redeemNonce(services, typeof nonce === 'string' ? nonce : '');
      Object.assign(attempt, { orgId, object: 'nonce' });
      const source = { orgId, profileId: '', signsInAccounts: true, accountId };
      return { opened: await openSignOn(services, source, identity, toSignOnClient(request)), next: '/' };
    }),
  );
  addProfileRoutes(app, services);
  addPasswordRoutes(app, services);
  addSamlRoutes(app, services);
}
