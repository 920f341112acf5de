import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createSecretText } from '#base/ids.ts';
import { addImmutableReplies, markImmutable } from '../immutable-replies.ts';
import { landingHeaders, renderLandingLayout } from '../landing/layout.ts';
import { acceptsHtml } from '../landing/not-found.ts';
import type { BuiltFile, ContentCoding } from './built-app.ts';
import type { WebApp } from './web-app.ts';

/** Assets of the web apps: their names contain a hash of their content. */
export const webAppAssetPath = '/ui/';
const buildRetrySeconds = 2;

/**
 * Content Security Policy Level 3: everything comes from this listener; styles that libraries insert need the nonce of
 * the page view, and scripts are files.
 */
const formatPolicy = (nonce: string, hasFrames: boolean) =>
  "default-src 'none'; script-src 'self'; " +
  `style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; ` +
  (hasFrames ? "frame-src 'self'; " : '') +
  "worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

const documentHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  vary: 'Accept',
};

/** Sends the document of the app to a browser; undefined where the request is for another response. */
export async function sendWebApp(
  webApp: WebApp | undefined,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
  { hasFrames = false }: { readonly hasFrames?: boolean } = {},
): Promise<FastifyReply | undefined> {
  if (!webApp || !['GET', 'HEAD'].includes(request.method) || !acceptsHtml(request)) return undefined;
  const document = (await webApp.find())?.index.documents[name];
  if (document !== undefined) {
    const nonce = createSecretText();
    return reply
      .headers({ ...documentHeaders, 'content-security-policy': formatPolicy(nonce, hasFrames) })
      .send(document.replaceAll('{nonce}', nonce));
  }
  return webApp.isBuilding() ? sendBuildNotice(reply) : undefined;
}

function sendBuildNotice(reply: FastifyReply): FastifyReply {
  const main =
    '<p>The web app is being built, which takes a few seconds after an installation. This page reloads itself.</p>' +
    '<p><a href="/docs">Reference of all operations</a></p>';
  const page = renderLandingLayout({ title: 'The web app is being built', main, refreshSeconds: buildRetrySeconds });
  return reply
    .code(503)
    .headers({ ...landingHeaders, 'retry-after': String(buildRetrySeconds) })
    .send(page);
}

/** Serves the files of the build: only names of its index, so that no path leads elsewhere. */
export function addWebAppRoutes(app: FastifyInstance, webApp: WebApp): void {
  app.get<{ Params: { '*': string } }>(`${webAppAssetPath}*`, async (request, reply) => {
    const name = request.params['*'];
    const built = await webApp.find(name);
    if (!built || !Object.hasOwn(built.index.files, name)) return reply.callNotFound();
    const file = built.index.files[name]!;
    const coding = selectCoding(file, request.headers['accept-encoding']);
    const body = await built.read(name, coding);
    reply.headers({
      'content-type': file.type,
      vary: 'Accept-Encoding',
      ...(coding && { 'content-encoding': coding }),
    });
    markImmutable(reply);
    return reply.send(body);
  });
  addImmutableReplies(app);
}

/** Content negotiation (RFC 9110, 12.5.3), of the codings that the build has. */
function selectCoding({ encodings }: BuiltFile, header = ''): ContentCoding | undefined {
  const accepted = header.split(',').flatMap(part => {
    const [name = '', ...parameters] = part.split(';').map(it => it.trim().toLowerCase());
    return parameters.some(it => /^q=0(\.0*)?$/.test(it)) ? [] : [name];
  });
  return encodings.find(coding => accepted.includes(coding));
}
