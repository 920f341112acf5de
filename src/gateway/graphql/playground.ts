import { escapeMarkup } from '#base/escape-markup.ts';
import type { Model } from '#definition/model.ts';
import { createResponse } from '../http/response.ts';
import type { BuiltInRoute, BuiltInRouteContext } from '../pipeline/built-in-route.ts';
import { playgroundScript, playgroundStyle, writePlaygroundPage } from './playground-page.ts';

const defaultPlaygroundPath = '/playground';

/** Loads from its own origin only, and no site may frame it: the page handles credentials. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Path of the page below the listen path; `/`, which has no page, where the definition has slashes alone. */
export function findPlaygroundPath({ playgroundPath }: Pick<Model['graphql'], 'playgroundPath'>): string {
  if (playgroundPath === '') return defaultPlaygroundPath;
  return `/${playgroundPath.replaceAll(/^\/+|\/+$/g, '')}`;
}

/** Playground: a static page without credentials; the requests that it sends pass the chain like any other. */
export function createPlaygroundRoutes({ model }: BuiltInRouteContext): [path: string, route: BuiltInRoute][] {
  const { graphql, identity } = model;
  if (!graphql.enabled || !graphql.playgroundEnabled) return [];
  const path = findPlaygroundPath(graphql);
  if (path === '/') return [];
  const page = writePlaygroundPage(escapeMarkup(identity.name), escapeMarkup(path));
  return [
    [path, serve('text/html; charset=utf-8', page)],
    [`${path}/playground.js`, serve('text/javascript; charset=utf-8', playgroundScript)],
    [`${path}/playground.css`, serve('text/css; charset=utf-8', playgroundStyle)],
  ];
}

const serve =
  (type: string, text: string): BuiltInRoute =>
  ({ method }) => {
    if (method !== 'GET' && method !== 'HEAD') return createResponse(405, { Allow: 'GET, HEAD' });
    const headers = {
      'Content-Type': type,
      'Content-Security-Policy': pagePolicy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    };
    return createResponse(200, headers, text);
  };
