import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseMediaType } from '#base/media-type.ts';
import { markImmutable } from '#operations/immutable-replies.ts';
import { problem } from '#operations/problems.ts';
import { renderProblem } from '#operations/render.ts';
import { surfaces } from '#operations/surfaces.ts';
import { canSignUp } from '../accounts/account-services.ts';
import { anonymousVisitor } from '../visibility/rules.ts';
import { loadSiteAssets, type SiteAssets } from './assets.ts';
import { closedMenus, findClosedReply, findClosure, isSiteIndexed } from './closed-site.ts';
import { embedLinks, embedRedirect, findEmbedders, isEmbeddable } from './embedding.ts';
import { hideProvider } from './failure-text.ts';
import { findGate, type Gate } from './gate.ts';
import { toJsonFile } from './json/json-file.ts';
import { isScriptCall, readJsonFields, toScriptReply } from './json/script-reply.ts';
import { renderSiteDocument, type SiteFrame } from './layout.ts';
import { noMenus, readSiteMenus } from './menus.ts';
import type {
  SiteBaseServices,
  SiteDocument,
  SiteFields,
  SiteFile,
  SitePage,
  SiteReply,
  SiteRequest,
  SiteServices,
  SiteVisitor,
} from './page.ts';
import { findContentPage } from './pages/content-page.ts';
import { renderFailure, renderNotFound } from './pages/failure.ts';
import { sitePages } from './pages/list.ts';
import { problem as siteProblem } from './problems.ts';
import { createSignOnClients } from './sign-on/sign-on-clients.ts';
import { applyTemplate, createSiteLooks } from './site-looks.ts';
import { insertNotice, renderThemeNotice } from './theme-notice.ts';
import { isOwnSite, isOwnToken, readVisitor, themePreviewCookieName, usesSecureCookies } from './visitor.ts';

export type Site = ReturnType<typeof createSite>;

/** Everything comes from this listener; no inline script or style, no frame (Content Security Policy Level 3). */
const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const documentHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentPolicy,
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};
/** Single sign-on: a link preview, which sends HEAD, must not use up a nonce or a code. */
const usedUpPaths = /^\/(?:tib\/|sso$)/;
const formType = 'application/x-www-form-urlencoded';

/** Documents of the site: finds the page of a path, checks who may see it, and renders it. */
export function createSite(given: SiteBaseServices) {
  const services: SiteServices = { ...given, signOn: createSignOnClients(given) };
  const { settings } = services;
  const assets = loadSiteAssets(settings['portal.accent_color']);
  const looks = createSiteLooks(services);
  const { readFrame, readFrameOfFailure } = createFrameReader(services, looks);
  const findRoute = createRouter();
  const canEmbed = (path: string) => isEmbeddable(path, findRoute('GET', trimSlash(path))?.page);
  const { send, sendDocument } = createSender(services, assets, canEmbed);

  async function respond(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const path = trimSlash(pathOfUrl(request.url));
    const isSecure = usesSecureCookies(settings, request.protocol === 'https');
    const readOwn = () => readVisitor(request.headers.cookie, isSecure, services);
    const asset = assets.find(path) ?? (await findThemeFile(path, request, looks, readOwn));
    if (asset) return sendFile(reply, asset);
    const method = request.method === 'HEAD' && !usedUpPaths.test(path) ? 'GET' : request.method;
    const route = findRoute(method, path);
    const embedders = method === 'GET' ? findEmbedders(request.url, path, route?.page, settings) : undefined;
    // Embedded pages are public ones: a frame of a site that shares the cookies shows nothing of their user.
    const { visitor, cookies } = embedders ? { visitor: signedOut, cookies: [] } : await readOwn();
    visitors.set(request, visitor);
    if (path.startsWith('/auth/') || route?.page.hasVisitorForm)
      for (const cookie of cookies) reply.header('set-cookie', cookie);
    const isScript = isScriptCall(method, path, request.headers.accept);
    const closed = findClosedReply({ url: request.url, path, page: route?.page, isScript }, visitor, settings);
    if (closed) return send(reply, closed, { visitor, path, ...(await readFrame(visitor)) });
    const gate = route && (await findGate(route.page, request.url, visitor, services));
    if (gate) return sendGate(reply, gate, isScript);
    const frame = await readFrame(visitor);
    const site: SiteRequest = {
      method: method === 'POST' ? method : 'GET',
      path,
      params: route?.params ?? {},
      query: createFields(new URLSearchParams(request.url.split('?')[1] ?? '')),
      form: method === 'POST' ? readForm(request, visitor, route?.page) : () => '',
      visitor,
      siteName: frame.looks.name,
      isEmbedded: embedders !== undefined,
      isSecure,
      ...describeBrowser(request),
    };
    const sent = route ? await route.page.respond(site, services) : undefined;
    const page = sent ?? (method === 'GET' ? await findContentPage(site, services) : undefined);
    const shown = page && 'visitor' in page ? page.visitor! : visitor;
    const answer = page ?? renderNotFound(path);
    return isScript
      ? sendScript(reply, answer, shown)
      : send(reply, answer, { visitor: shown, path, ...frame, ...(embedders && { embedders }) });
  }

  const respondError = createErrorResponder(services, readFrameOfFailure, sendDocument);
  return {
    respondDocument: createDocumentSender(sendDocument, readFrame),
    respond: (request: FastifyRequest, reply: FastifyReply) =>
      respond(request, reply).catch((error: unknown) => respondError(error, request, reply)),
    respondError,
  };
}

/** Responds with the page of an error, or with its JSON to a script. */
const createErrorResponder =
  (
    services: SiteServices,
    readFrameOfFailure: ReturnType<typeof createFrameReader>['readFrameOfFailure'],
    sendDocument: ReturnType<typeof createSender>['sendDocument'],
  ) =>
  async (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { status, body, headers } = renderProblem(hideProvider(error, services.log), surfaces.portal, services.log);
    const { errors } = body as { errors: readonly string[] };
    const visitor = visitors.get(request) ?? signedOut;
    reply.headers(headers);
    if (isScriptCall(request.method, pathOfUrl(request.url), request.headers.accept))
      return sendFile(reply, toJsonFile({ errors }, status));
    const frame = await readFrameOfFailure(visitor);
    return sendDocument(reply, renderFailure(status, errors), { visitor, path: pathOfUrl(request.url), ...frame });
  };

/** File of a theme: the visitor is read only where the browser previews one. */
async function findThemeFile(
  path: string,
  { headers }: FastifyRequest,
  looks: ReturnType<typeof createSiteLooks>,
  readOwn: () => Promise<{ visitor: SiteVisitor }>,
): Promise<SiteFile | undefined> {
  if (!looks.isAsset(path)) return undefined;
  const visitor = headers.cookie?.includes(themePreviewCookieName) ? (await readOwn()).visitor : signedOut;
  return (await looks.findPreviewedAsset(path, visitor)) ?? looks.findAsset(path);
}

const describeBrowser = ({ ip, headers }: FastifyRequest) => ({
  address: ip,
  userAgent: String(headers['user-agent'] ?? ''),
  cookie: headers.cookie,
  fetchDestination: String(headers['sec-fetch-dest'] ?? ''),
});

/** Finds the page of a path with its parameters. */
function createRouter() {
  const routes = sitePages.map(page => ({ page, pattern: toPattern(page.path) }));
  return (method: string, path: string) => {
    for (const { page, pattern } of routes) {
      const match = page.method === method ? pattern.exec(path) : null;
      if (match) return { page, params: decodeParams(match.groups ?? {}) };
    }
    return undefined;
  };
}

/** Reads what surrounds the content of a page. */
function createFrameReader(services: SiteServices, looks: ReturnType<typeof createSiteLooks>) {
  const isClosedTo = (visitor: SiteVisitor) => findClosure(visitor, services.settings) !== undefined;
  const readFrame = async (visitor: SiteVisitor) => ({
    looks: await looks.read(visitor),
    ...(isClosedTo(visitor)
      ? { menus: closedMenus, isClosed: true }
      : { menus: await readSiteMenus(visitor, services), isClosed: false }),
  });
  /** The database may be what failed: the page is shown without links and theme then. */
  const readFrameOfFailure = (visitor: SiteVisitor) =>
    readFrame(visitor).catch((err: unknown) => {
      services.log.warn({ err }, 'navigation of the portal unavailable');
      const isClosed = isClosedTo(visitor);
      return { looks: looks.ofDefaultTheme, menus: isClosed ? closedMenus : noMenus, isClosed };
    });
  return { readFrame, readFrameOfFailure };
}

interface RequestFrame extends Omit<SiteFrame, 'assets' | 'isIndexable' | 'hasSignUp' | 'notice' | 'isEmbedded'> {
  /** Origins that may frame the page. */
  readonly embedders?: readonly string[];
}

/** A page that is not found, and one that failed, is not framed. */
const isFramed = ({ status = 200 }: SiteDocument, { embedders }: RequestFrame) =>
  embedders !== undefined && status === 200;

/** Sends replies of pages, documents inside of the frame of the site. */
function createSender(services: SiteServices, assets: SiteAssets, canEmbed: (path: string) => boolean) {
  const { settings } = services;
  function sendEmbedded(reply: FastifyReply, page: SiteDocument, { embedders = [], ...frame }: RequestFrame) {
    const policy = contentPolicy.replace("frame-ancestors 'none'", `frame-ancestors ${embedders.join(' ')}`);
    reply.headers({ ...documentHeaders, 'content-security-policy': policy });
    const bare = { ...frame, assets, isIndexable: false, hasSignUp: false, notice: '', isEmbedded: true } as const;
    return reply.send(renderSiteDocument({ ...page, main: embedLinks(page.main, canEmbed) }, bare));
  }
  async function sendDocument(reply: FastifyReply, document: SiteDocument, frame: RequestFrame) {
    const isIndexable = isSiteIndexed(settings);
    const hasSignUp = canSignUp(services);
    const { page, failure } = applyTemplate(document, frame.looks, frame.menus, services.log);
    // A template that is a whole document has a header and a footer of its own.
    if (isFramed(document, frame)) return sendEmbedded(reply, typeof page === 'string' ? document : page, frame);
    reply.code(document.status ?? 200).headers(documentHeaders);
    const notice = renderThemeNotice(frame.looks, frame.visitor, failure);
    if (document.refreshTo) reply.header('refresh', `0;url=${document.refreshTo}`);
    if (typeof page !== 'string')
      return reply.send(
        renderSiteDocument(page, { ...frame, assets, isIndexable, hasSignUp, notice, isEmbedded: false }),
      );
    if (!isIndexable || !document.isIndexable) reply.header('x-robots-tag', 'noindex');
    return reply.send(insertNotice(page, notice));
  }
  async function send(reply: FastifyReply, sent: SiteReply, frame: RequestFrame) {
    if ('file' in sent) return sendFile(reply, sent);
    for (const cookie of sent.cookies ?? []) reply.header('set-cookie', cookie);
    if (!('redirect' in sent)) return sendDocument(reply, sent, frame);
    return reply.redirect(frame.embedders ? embedRedirect(sent.redirect, canEmbed) : sent.redirect, 303);
  }
  return { send, sendDocument };
}

/** Sends a document to a visitor whom another part of the listener has read. */
const createDocumentSender =
  (
    sendDocument: ReturnType<typeof createSender>['sendDocument'],
    readFrame: ReturnType<typeof createFrameReader>['readFrame'],
  ) =>
  async (document: SiteDocument, visitor: SiteVisitor, request: FastifyRequest, reply: FastifyReply) =>
    sendDocument(reply, document, { visitor, path: pathOfUrl(request.url), ...(await readFrame(visitor)) });

const visitors = new WeakMap<FastifyRequest, SiteVisitor>();
const signedOut: SiteVisitor = {
  user: undefined,
  rights: anonymousVisitor,
  sessionId: '',
  csrfToken: '',
  theme: undefined,
  previewedTheme: undefined,
};

const sendGate = (reply: FastifyReply, { url, status, error }: Gate, isScript: boolean): FastifyReply =>
  isScript ? sendFile(reply, toJsonFile({ errors: [error] }, status)) : reply.redirect(url, 303);

/** Replies to a script, with the cookies of the page. */
function sendScript(reply: FastifyReply, sent: SiteReply, visitor: SiteVisitor): FastifyReply {
  for (const cookie of ('cookies' in sent && sent.cookies) || []) reply.header('set-cookie', cookie);
  return sendFile(reply, toScriptReply(sent, visitor));
}

function sendFile(reply: FastifyReply, { file, type, isImmutable, policy, status = 200 }: SiteFile) {
  if (isImmutable) markImmutable(reply);
  if (policy) reply.header('content-security-policy', policy);
  return reply.code(status).type(type).send(file);
}

const pathOfUrl = (url: string) => url.split(/[?#]/, 1)[0]!;
const trimSlash = (path: string) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

/** A parameter has no NUL character: no object has one in its path, and PostgreSQL refuses to compare it. */
const toPattern = (path: SitePage['path']) =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:(\w+)/g, '(?<$1>(?:(?!%00)[^/])+)')}$`);

/** The listener has refused paths that cannot be decoded. */
const decodeParams = (groups: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));

const createFields =
  (values: URLSearchParams): SiteFields =>
  name => {
    const found = values.getAll(name);
    return found.length === 1 && !found[0]!.includes('\0') ? found[0]! : '';
  };

/** Fields of a form that this site sent to the visitor. */
function readForm(request: FastifyRequest, visitor: SiteVisitor, page: SitePage | undefined): SiteFields {
  const fields = createFields(readBody(request));
  const token = fields('csrf_token') || String(request.headers['x-csrf-token'] ?? '');
  const fetchSite = request.headers['sec-fetch-site'] as string | undefined;
  const isOwn = isOwnSite(fetchSite) && (page?.hasLinkToken || isOwnToken(token, visitor));
  if (!isOwn && !page?.isPostedAcrossSites) throw siteProblem.form_expired();
  return fields;
}

/** Fields of a form, or of a JSON object. */
function readBody({ headers, body }: FastifyRequest): URLSearchParams {
  const type = parseMediaType(headers['content-type']);
  const text = ((body as Buffer | undefined) ?? '').toString();
  if (type === formType) return new URLSearchParams(text);
  const fields = type === 'application/json' ? readJsonFields(text) : undefined;
  if (fields) return fields;
  throw problem.wrong_type({
    detail: { accepted: `${formType}, or application/json with an object of strings, numbers and booleans` },
  });
}
