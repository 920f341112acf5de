import { createRequire } from 'node:module';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addImmutableReplies } from '#operations/immutable-replies.ts';
import type { WebApp } from '#operations/web-app/web-app.ts';
import { maxSamlFormBytes } from '#people/single-sign-on/route-bounds.ts';
import { createSettingHook, type StoredSettings } from '../configuration/stored-settings.ts';
import { addAdminAppRoutes } from './admin-app.ts';
import type { SiteBaseServices } from './page.ts';
import type { Site } from './site.ts';

const require = createRequire(import.meta.url);
const loadSite = (): typeof import('./site.ts') => require('./site.ts');

/** Paths of the site; pages of administrators may have any other path that no route of the listener has. */
const pagePaths = ['/', '/portal', '/portal/*', '/auth/*', '/blog', '/blog/*', '/search', '/site/*', '/assets/theme/*'];
const filePaths = ['/robots.txt', '/sitemap.xml', '/feed.xml', '/llms.txt', '/favicon.ico'];
const formPaths = ['/portal/*', '/auth/*'];
/** Pages of single sign-on. */
const signOnPaths = ['/tib/*', '/sso'];
const maxFormBytes = 262_144;

/** The live portal; its code is loaded with the first request. */
export function createPortalSite(services: SiteBaseServices & { readonly storedSettings: StoredSettings }) {
  let loaded: Site | undefined;
  const site = () => {
    loaded ??= loadSite().createSite(services);
    return loaded;
  };
  const respond = (request: FastifyRequest, reply: FastifyReply) => site().respond(request, reply);

  return {
    addRoutes(app: FastifyInstance, webApp: WebApp | undefined): void {
      addImmutableReplies(app);
      app.addHook('onRequest', createSettingHook(services.storedSettings));
      const errorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
        site().respondError(error, request, reply);
      for (const url of [...pagePaths, ...filePaths]) app.get(url, { errorHandler }, respond);
      const respondDocument: Site['respondDocument'] = (...given) => site().respondDocument(...given);
      if (webApp) addAdminAppRoutes(app, { webApp, services, errorHandler, respondDocument, respondUnknown: respond });
      // HEAD is not answered: a link preview must not use a nonce up.
      for (const url of signOnPaths) app.get(url, { errorHandler, exposeHeadRoute: false }, respond);
      app.post('/tib/*', { errorHandler, bodyLimit: maxSamlFormBytes }, respond);
      for (const url of formPaths) app.post(url, { errorHandler, bodyLimit: maxFormBytes }, respond);
    },
    /** Pages at other paths, and the page of those that do not exist. */
    respondUnknown: respond,
  };
}
