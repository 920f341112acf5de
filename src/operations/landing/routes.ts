import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { plainTextHeaders } from '#base/page-guard.ts';
import { buildHealthReport, type Health } from '../health.ts';
import type { SurfaceName } from '../surfaces.ts';
import { addWebAppRoutes, sendWebApp } from '../web-app/routes.ts';
import type { WebApp } from '../web-app/web-app.ts';
import type { ListenerUrls } from './first-steps.ts';
import { type Guide, readGuides } from './guides.ts';
import { renderLandingPage } from './landing-page.ts';
import { landingAssets, landingHeaders, landingPath } from './layout.ts';

export interface LandingOptions {
  readonly surfaces: readonly SurfaceName[];
  readonly health: Health;
  listUrls(): ListenerUrls;
  /** Answers browsers at `/`, where there is one. */
  readonly webApp?: WebApp | undefined;
  /** A site of its own answers at `/`. */
  readonly hasSite?: boolean;
}

const assets = [
  { path: landingAssets.style, file: 'landing.css', type: 'text/css; charset=utf-8' },
  { path: landingAssets.script, file: 'landing.js', type: 'text/javascript; charset=utf-8' },
];

/** Landing page of a management listener, its assets, and the guides as text. Files are read on first use. */
export function addLandingRoutes(app: FastifyInstance, options: LandingOptions): void {
  const { surfaces, health, listUrls, webApp } = options;
  let loaded: ReadonlyMap<string, Guide> | undefined;
  const guides = () => {
    loaded ??= readGuides();
    return loaded;
  };

  const sendLandingPage = async (reply: FastifyReply) => {
    const report = await buildHealthReport(health);
    const page = renderLandingPage({ surfaces, urls: listUrls(), health: report, guides: guides() });
    return reply.headers(landingHeaders).send(page);
  };
  if (!options.hasSite)
    app.get(
      '/',
      async (request, reply) => (await sendWebApp(webApp, 'dashboard', request, reply)) ?? sendLandingPage(reply),
    );
  if (webApp) addWebAppRoutes(app, webApp);
  app.get(landingPath, async (_request, reply) => sendLandingPage(reply));
  app.get<{ Params: { name: string } }>('/guides/:name', async ({ params: { name } }, reply) => {
    // Links between the guides end in `.md`.
    const guide = guides().get(name.replace(/\.md$/, ''));
    return guide ? reply.headers(plainTextHeaders).send(guide.text) : reply.callNotFound();
  });
  for (const { path, file, type } of assets) {
    let text: string | undefined;
    app.get(path, async (_request, reply) => {
      text ??= readFileSync(new URL(file, import.meta.url), 'utf8');
      return reply.type(type).send(text);
    });
  }
}
