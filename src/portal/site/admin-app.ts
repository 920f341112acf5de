import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addWebAppRoutes, sendWebApp } from '#operations/web-app/routes.ts';
import type { WebApp } from '#operations/web-app/web-app.ts';
import { lacksRequiredFactor } from '../second-factor/required-factor.ts';
import { isPortalAdmin } from '../users/schema.ts';
import { requiredFactorUrl, type SiteBaseServices, toSignInUrl } from './page.ts';
import { renderAdminOnly } from './pages/failure.ts';
import type { Site } from './site.ts';
import { readVisitor, usesSecureCookies } from './visitor.ts';

/** Paths of the admin app; `/portal-api` decides what it may do. */
const adminPaths = ['/admin', '/admin/*'];

export interface AdminAppOptions {
  readonly webApp: WebApp;
  readonly services: SiteBaseServices;
  errorHandler(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  respondDocument: Site['respondDocument'];
  /** Where there is no build of the app. */
  respondUnknown(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** Serves the admin app to administrators; signed-out visitors are sent to the sign-in page and come back. */
export function addAdminAppRoutes(app: FastifyInstance, options: AdminAppOptions): void {
  const { webApp, services, errorHandler, respondUnknown, respondDocument } = options;
  addWebAppRoutes(app, webApp);
  async function respond(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const isSecure = usesSecureCookies(services.settings, request.protocol === 'https');
    const { visitor } = await readVisitor(request.headers.cookie, isSecure, services);
    if (!visitor.user) return reply.redirect(toSignInUrl(request.url), 303);
    if (!isPortalAdmin(visitor.user.Role))
      return respondDocument(renderAdminOnly(visitor.user.Email), visitor, request, reply);
    if (await lacksRequiredFactor(visitor.user, services)) return reply.redirect(requiredFactorUrl, 303);
    // The preview of a mail is a frame.
    const sent = await sendWebApp(webApp, 'portal-admin', request, reply, { hasFrames: true });
    return sent ?? respondUnknown(request, reply);
  }
  for (const url of adminPaths) app.get(url, { errorHandler }, respond);
}
