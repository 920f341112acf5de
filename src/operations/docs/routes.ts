import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import type { AnyOperation } from '../operation.ts';
import type { SurfaceName } from '../surfaces.ts';
import { assetPaths, docsPath } from './layout.ts';
import type { ReferencePages } from './pages.ts';

const require = createRequire(import.meta.url);
const loadPages = (): typeof import('./pages.ts') => require('./pages.ts');

/** Loads from this listener alone, so the pages also work without any other host. */
const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'";

const assets = [
  { path: assetPaths.style, file: 'reference.css', type: 'text/css; charset=utf-8' },
  { path: assetPaths.script, file: 'reference.js', type: 'text/javascript; charset=utf-8' },
];

/** Routes of the HTML reference; nothing is rendered or read before its first request. */
export function addDocsRoutes(
  app: FastifyInstance,
  operations: readonly AnyOperation[],
  names: readonly SurfaceName[],
): void {
  let created: ReferencePages | undefined;
  const pages = () => {
    created ??= loadPages().createReferencePages(operations, names);
    return created;
  };
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': contentPolicy };

  app.get<{ Querystring: { q?: string | string[] } }>(docsPath, async ({ query: { q = '' } }, reply) =>
    reply.headers(headers).send(pages().renderIndex([q].flat().join(' '))),
  );
  app.get<{ Params: { name: string } }>(`${docsPath}/:name`, async ({ params: { name } }, reply) => {
    const page = pages().renderOperation(name);
    return page === undefined ? reply.callNotFound() : reply.headers(headers).send(page);
  });
  for (const { path, file, type } of assets) {
    let text: string | undefined;
    app.get(path, async (_request, reply) => {
      text ??= readFileSync(new URL(file, import.meta.url), 'utf8');
      return reply.type(type).send(text);
    });
  }
}
