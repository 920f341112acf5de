import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify';
import { closedPagePolicy } from '#base/page-guard.ts';
import { type Actor, hasPermission } from './actor.ts';
import type { WriteAudit } from './audit.ts';
import { type AuthenticateRequest, createAuthenticator, type RequestAuthentication } from './authenticate-request.ts';
import { checkMediaType } from './body.ts';
import { type BulkBodyLimit, readBodyBytes, reserveBody, takeBodyRelease } from './bulk-bodies.ts';
import { addDocsRoutes } from './docs/routes.ts';
import { createObjectVersions } from './entity-tags.ts';
import { eventStreamType } from './event-streams.ts';
import { createForward } from './forward-request.ts';
import { acceptsHtml, sendNotFoundPage } from './landing/not-found.ts';
import { type ListenerTls, managementRequestTimeoutMs } from './listener-tls.ts';
import { buildOpenApi } from './openapi.ts';
import { type AnyOperation, isMutation, listPermissions } from './operation.ts';
import { publishProblem } from './problem-channel.ts';
import { problem } from './problems.ts';
import { type RenderedProblem, renderProblem } from './render.ts';
import { pathOf, toAuditPath } from './request-path.ts';
import { type AuditTarget, type OperationRunOptions, runOperation } from './run-operation.ts';
import { readPreconditions, renderSuccess, sendSuccess } from './success-response.ts';
import { type Surface, type SurfaceName, surfaces } from './surfaces.ts';
import { type AppliedWaits, isWaitRequested } from './wait-applied.ts';
import { sendWebApp } from './web-app/routes.ts';
import type { WebApp } from './web-app/web-app.ts';

/** A management listener: some surfaces of the catalogue on one port. */
export interface ManagementListenerOptions extends RequestAuthentication, OperationRunOptions {
  readonly surfaces: readonly SurfaceName[];
  readonly operations: readonly AnyOperation[];
  readonly writeAudit: WriteAudit;
  readonly version: string;
  /** Rejects writes of configuration that comes from files. */
  readonly rejectWrite?: (operation: AnyOperation) => void;
  readonly trustedProxies: readonly string[];
  /** Shared by all listeners of the process. */
  readonly appliedWaits: AppliedWaits;
  /** Absent: clear text. */
  readonly tls?: ListenerTls | undefined;
  /** `max-age` of HTTP Strict Transport Security; 0 for none. */
  readonly hstsSeconds: number;
  readonly bulkBodies: BulkBodyLimit;
  /** Answers browsers at paths outside of the surfaces, where there is one. */
  readonly webApp?: WebApp | undefined;
  /** Answers browsers at paths outside of the surfaces in place of a web app: a page, or that there is none. */
  readonly respondUnknown?: ((request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) | undefined;
}

const maxParamLength = 1024;
/** Body limit of public operations, which anyone can send. */
const maxPublicBodyBytes = 65_536;
/** Caller of a public operation. */
const anonymous: Actor = { surface: 'dashboard', id: '', name: '', orgId: '', permissions: {} };
const responseHeaders = { 'cache-control': 'no-store', pragma: 'no-cache', 'x-content-type-options': 'nosniff' };
const cspHeader = 'content-security-policy';

const refuseSchema = (): never => {
  throw new Error('operations are validated by their own schemas');
};
/** Given, so that Fastify does not load the packages that compile JSON schemas. */
const noSchemaCompilers = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

/** Event streams and streamed files have no HEAD: its response would leave a stream open, or read it to its end. */
const toRouteLimits = (
  { permission, produces, streamsFile, isBulk }: AnyOperation,
  { maxBulkBodyBytes }: BodyLimits,
) => ({
  exposeHeadRoute: produces !== eventStreamType && !streamsFile,
  ...(permission === 'public' ? { bodyLimit: maxPublicBodyBytes } : {}),
  ...(isBulk ? { bodyLimit: maxBulkBodyBytes } : {}),
});
type BodyLimits = Pick<ManagementListenerOptions, 'maxBulkBodyBytes'>;

export function createManagementListener(options: ManagementListenerOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: options.maxBodyBytes,
    requestTimeout: managementRequestTimeoutMs,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    forceCloseConnections: 'idle',
    ...(options.tls ? { serverFactory: options.tls.createServer as FastifyServerFactory } : {}),
    schemaController: { compilersFactory: noSchemaCompilers },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: maxParamLength },
    // A path that find-my-way cannot decode reaches no route and no hook.
    frameworkErrors: (_error, request, reply) => {
      const surface = surfaces[surfaceOf(pathOf(request), options.surfaces) ?? options.surfaces[0]!];
      reply.headers(responseHeaders).header(cspHeader, closedPagePolicy);
      return send(reply, surface, renderProblem(problem.malformed_path(), surface, options.log));
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('preClose', async () => options.tls?.close());
  app.addHook('onSend', async (request, reply) => {
    reply.headers(responseHeaders);
    // Over TLS only (RFC 6797, 7.2), of a trusted proxy too.
    if (options.hstsSeconds > 0 && request.protocol === 'https')
      reply.header('strict-transport-security', `max-age=${options.hstsSeconds}`);
    if (!reply.hasHeader(cspHeader)) reply.header(cspHeader, closedPagePolicy);
  });

  const ownOperations = options.operations.filter(it => options.surfaces.includes(it.surface));
  const authenticateRequest = createAuthenticator(options);
  for (const it of ownOperations) addOperation(app, it, options, authenticateRequest);
  addDocumentRoutes(app, ownOperations, options);
  addNotFoundHandlers(app, ownOperations, options, authenticateRequest);
  return app;
}

const actors = new WeakMap<FastifyRequest, Actor>();

async function authorize(
  it: AnyOperation,
  request: FastifyRequest,
  authenticateRequest: AuthenticateRequest,
): Promise<Actor> {
  const actor = await authenticateRequest(request, it.surface);
  actors.set(request, actor);
  for (const permission of listPermissions(it))
    if (!hasPermission(actor, permission)) throw problem.not_permitted({ detail: { permission } });
  return actor;
}

/**
 * Body limit of callers who may change nothing by a bulk write, applied before the body is read. A body without
 * Content-Length is refused, since its size shows only while it is buffered.
 */
function checkBulkSize(
  { bulkPermissions }: AnyOperation,
  actor: Actor,
  { headers }: FastifyRequest,
  { maxBodyBytes: maxBytes }: Pick<ManagementListenerOptions, 'maxBodyBytes'>,
): void {
  if (!bulkPermissions || bulkPermissions.some(permission => hasPermission(actor, permission))) return;
  if (readBodyBytes(headers) > maxBytes) throw problem.too_large({ detail: { maxBytes } });
}

function addOperation(
  app: FastifyInstance,
  it: AnyOperation,
  options: ManagementListenerOptions,
  authenticateRequest: AuthenticateRequest,
): void {
  const surface = surfaces[it.surface];
  const accepts = it.accepts ?? 'json';

  async function onRequest(request: FastifyRequest, reply: FastifyReply) {
    const actor = it.permission === 'public' ? anonymous : await authorize(it, request, authenticateRequest);
    if (it.permission !== 'public') checkBulkSize(it, actor, request, options);
    options.rejectWrite?.(it);
    if (it.body) checkMediaType(accepts, request.headers['content-type']);
    if (it.isBulk) reserveBody(actor, request, reply, options);
  }

  async function sendProblem(request: FastifyRequest, reply: FastifyReply, error: unknown, auditTarget: AuditTarget) {
    const rendered = renderProblem(error, surface, options.log);
    publishProblem(it, rendered.code);
    await recordAudit(it, options.writeAudit, request, rendered.status, auditTarget);
    return send(reply, surface, rendered);
  }

  app.route({
    method: it.method,
    url: toRoutePath(it),
    ...toRouteLimits(it, options),
    onRequest,
    errorHandler: (error, request, reply) => sendProblem(request, reply, error, { object: '', orgId: '' }),
    async handler(request, reply) {
      const releaseBody = takeBodyRelease(request);
      const auditTarget: AuditTarget = { object: '', orgId: '', names: new Map() };
      const headers: Record<string, string> = {};
      const outputs = { auditTarget, headers };
      const callContext = createCallContext(app, it, request, outputs, () =>
        authorize(it, request, authenticateRequest),
      );
      let releaseWait: (() => void) | undefined;
      try {
        const actor = actors.get(request) ?? anonymous;
        const preconditions = readPreconditions(it, request);
        if (isWaitRequested(it, request)) releaseWait = options.appliedWaits.reserve(actor.orgId);
        const versions = it.versioned && createObjectVersions(it.versioned, preconditions, options.hashVersion);
        const value = await runOperation(it, options, request, { actor, versions, auditTarget, ...callContext });
        await recordAudit(it, options.writeAudit, request, it.status ?? 200, auditTarget);
        if (releaseWait) Object.assign(headers, await options.appliedWaits.describeApplied(actor));
        return sendSuccess(reply.headers(headers), it, renderSuccess(it, request, value), versions);
      } catch (error) {
        return sendProblem(request, reply, error, auditTarget);
      } finally {
        releaseWait?.();
        releaseBody?.();
      }
    },
  });
}

/** Members of a call that act on its request, its audit record and its response. */
const createCallContext = (
  app: FastifyInstance,
  it: AnyOperation,
  request: FastifyRequest,
  { auditTarget, headers }: { readonly auditTarget: AuditTarget; readonly headers: Record<string, string> },
  reauthenticate: () => Promise<Actor>,
) => ({
  audit: (object: string, orgId = '') => void Object.assign(auditTarget, { object, orgId }),
  auditEach: ([object = '', ...more]: readonly string[]) => void Object.assign(auditTarget, { object, more }),
  header: (name: string, value: string) => void Object.assign(headers, { [name]: value }),
  requestHeader: (name: string) => readDeclaredHeader(it, request, name),
  isClientGone: () => request.raw.socket?.destroyed === true,
  identify: (actor: Actor) => void actors.set(request, actor),
  forward: createForward(app, request, surfaces[it.surface].credentialHeader),
  reauthenticate,
});

function readDeclaredHeader(it: AnyOperation, request: FastifyRequest, name: string): string | undefined {
  if (!it.headers || !Object.hasOwn(it.headers, name))
    throw new Error(`${it.name} does not declare the header ${name}`);
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Audits writes of identified callers, successful or not; a public operation identifies its caller itself. */
async function recordAudit(
  it: AnyOperation,
  writeAudit: WriteAudit,
  request: FastifyRequest,
  status: number,
  { object, orgId, more = [], names }: AuditTarget,
) {
  const actor = actors.get(request);
  if (!actor || !isMutation(it)) return;
  const { method, ip } = request;
  const entry = {
    actor,
    orgId: orgId || actor.orgId,
    action: it.name,
    method,
    url: toAuditPath(it, request),
    status,
    ip,
  };
  for (const audited of [object, ...more]) await writeAudit({ ...entry, object: audited, named: names?.get(audited) });
}

const toRoutePath = ({ path, matchesRest }: AnyOperation) =>
  (matchesRest ? path.replace(/\{[\w-]+\}$/, '*') : path).replaceAll(
    /\{([\w-]+)\}/g,
    (_whole, name: string) => `:${name.replaceAll('-', '_')}`,
  );

function send(reply: FastifyReply, surface: Surface, { status, body, headers }: RenderedProblem) {
  return reply.code(status).headers(headers).type(surface.contentType).send(JSON.stringify(body));
}

/** `/openapi.json` and `/docs` for the listener, and the document of each surface under its own prefix. */
function addDocumentRoutes(
  app: FastifyInstance,
  ownOperations: readonly AnyOperation[],
  { surfaces: names, version }: ManagementListenerOptions,
) {
  /** Generated on first use, to keep the start fast. */
  const document = (of: readonly SurfaceName[]) => {
    let text: string | undefined;
    return async (_request: FastifyRequest, reply: FastifyReply) => {
      const operations = ownOperations.filter(it => of.includes(it.surface));
      text ??= JSON.stringify(buildOpenApi(operations, of, version));
      return reply.type('application/json').send(text);
    };
  };
  app.get('/openapi.json', document(names));
  for (const name of names) app.get(`${surfaces[name].prefix}/openapi.json`, document([name]));
  addDocsRoutes(app, ownOperations, names);
}

/** Unknown paths under a surface also need the credential before they get 404 or 405. */
function addNotFoundHandlers(
  app: FastifyInstance,
  ownOperations: readonly AnyOperation[],
  options: ManagementListenerOptions,
  authenticateRequest: AuthenticateRequest,
) {
  const known = ownOperations.map(it => ({ method: it.method, pattern: toPathPattern(it) }));

  app.setNotFoundHandler(async (request, reply) => {
    const path = pathOf(request);
    const name = surfaceOf(path, options.surfaces);
    if (!name) return sendUnknownPath(request, reply, options);
    const surface = surfaces[name];
    try {
      await authenticateRequest(request, name);
      const methods = known.filter(it => it.pattern.test(path)).map(it => it.method);
      if (methods.length > 0) {
        reply.header('allow', [...new Set(methods)].sort().join(', '));
        throw problem.wrong_method();
      }
      throw problem.unknown_route({ detail: { method: request.method, path } });
    } catch (error) {
      return send(reply, surface, renderProblem(error, surface, options.log));
    }
  });
  app.setErrorHandler((error, request, reply) => {
    const surface = surfaces[surfaceOf(pathOf(request), options.surfaces) ?? options.surfaces[0]!];
    return send(reply, surface, renderProblem(error, surface, options.log));
  });
}

/** Outside of the surfaces: the web app or a 404 page for browsers, the error format of the listener for other clients. */
async function sendUnknownPath(request: FastifyRequest, reply: FastifyReply, options: ManagementListenerOptions) {
  const path = pathOf(request);
  const sent = isServerPath(path) ? undefined : await sendWebApp(options.webApp, 'dashboard', request, reply);
  if (sent) return sent;
  reply.header('vary', 'Accept');
  const isPage = ['GET', 'HEAD'].includes(request.method) && acceptsHtml(request) && !isServerPath(path);
  if (options.respondUnknown && isPage) return options.respondUnknown(request, reply);
  if (acceptsHtml(request)) return sendNotFoundPage(reply, path);
  const surface = surfaces[options.surfaces[0]!];
  const unknown = problem.unknown_route({ detail: { method: request.method, path } });
  return send(reply, surface, renderProblem(unknown, surface, options.log));
}

/** Below these the listener has pages and files of its own: what they do not have, the web app has neither. */
const serverPaths = ['/ui', '/docs', '/guides', '/pages', '/tib', '/mcp', '/login/reset'];
const isServerPath = (path: string) => serverPaths.some(it => path === it || path.startsWith(`${it}/`));

const surfaceOf = (path: string, names: readonly SurfaceName[]) =>
  names.find(name => path === surfaces[name].prefix || path.startsWith(`${surfaces[name].prefix}/`));

function toPathPattern({ path, matchesRest }: AnyOperation): RegExp {
  const pattern = path.replaceAll('.', '\\.');
  const withRest = matchesRest ? pattern.replace(/\{[\w-]+\}$/, '.+') : pattern;
  return new RegExp(`^${withRest.replaceAll(/\{[\w-]+\}/g, '[^/]+')}/?$`);
}
