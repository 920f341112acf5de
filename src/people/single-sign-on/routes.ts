import { createRequire } from 'node:module';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { loginPath, maxLogoutBytes, maxPasswordFormBytes, maxSamlFormBytes } from './route-bounds.ts';
import type { SignOnHandlers, SignOnRouteServices } from './sign-on-handlers.ts';

const require = createRequire(import.meta.url);
const loadHandlers = (): typeof import('./sign-on-handlers.ts') => require('./sign-on-handlers.ts');

/**
 * Routes of single sign-on on the dashboard listener. They are visited by browsers, and redirect. The code behind them
 * is loaded by the first request.
 */
export function addSignOnRoutes(app: FastifyInstance, services: SignOnRouteServices): void {
  let created: SignOnHandlers | undefined;
  const handleWith = (name: keyof SignOnHandlers) => (request: FastifyRequest, reply: FastifyReply) => {
    created ??= loadHandlers().createSignOnHandlers(services);
    return created[name](request, reply);
  };
  // HEAD is not answered: a link preview must not use a nonce up.
  const withoutHead = { exposeHeadRoute: false };
  app.get('/tap', withoutHead, handleWith('useNonce'));
  app.get(loginPath, withoutHead, handleWith('begin'));
  app.get(`${loginPath}/callback`, withoutHead, handleWith('complete'));
  app.post(loginPath, { bodyLimit: maxPasswordFormBytes }, handleWith('signOnWithPassword'));
  app.post(`${loginPath}/callback`, { bodyLimit: maxSamlFormBytes }, handleWith('receiveAssertion'));
  app.get(`${loginPath}/metadata`, handleWith('sendMetadata'));
  const logoutOptions = { ...withoutHead, bodyLimit: maxLogoutBytes };
  app.get(`${loginPath}/logout/begin`, logoutOptions, handleWith('beginLogout'));
  app.get(`${loginPath}/logout`, logoutOptions, handleWith('receiveLogoutQuery'));
  app.post(`${loginPath}/logout`, logoutOptions, handleWith('receiveLogoutForm'));
}
