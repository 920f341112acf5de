import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { rejectNul } from '#base/json.ts';
import type { Log } from '#base/log.ts';
import { isYamlType, parseMediaType } from '#base/media-type.ts';
import { closedPagePolicy } from '#base/page-guard.ts';
import type { Settings } from '#base/settings.ts';
import { toYamlText } from '#base/yaml.ts';
import { collectUnreadableRows, type UnreadableRows } from '#storage/unreadable-rows.ts';
import { type Actor, hasPermission } from './actor.ts';
import type { WriteAudit } from './audit.ts';
import { type AuthenticateRequest, createAuthenticator, type RequestAuthentication } from './authenticate-request.ts';
import { checkMediaType, readBody } from './body.ts';
import { addWarnings, checkBody } from './body-members.ts';
import { csvType } from './csv.ts';
import { addDocsRoutes } from './docs/routes.ts';
import { eventStreamType } from './event-streams.ts';
import { createForward } from './forward-request.ts';
import { buildOpenApi } from './openapi.ts';
import { type AnyOperation, isMutation, type OperationCall } from './operation.ts';
import { problem } from './problems.ts';
import { checkQueryNames } from './query-names.ts';
import { type RenderedProblem, renderProblem } from './render.ts';
import { type Surface, type SurfaceName, surfaces } from './surfaces.ts';
import { prefersLenient, runLenient } from './unknown-members.ts';
import { validate } from './validation-error.ts';

/** A management listener: some surfaces of the catalogue on one port. */
export interface ManagementListenerOptions extends RequestAuthentication {
  readonly surfaces: readonly SurfaceName[];
  readonly operations: readonly AnyOperation[];
  readonly services: unknown;
  readonly writeAudit: WriteAudit;
  readonly log: Log;
  readonly version: string;
  readonly maxBodyBytes: number;
  /** Body limit of bulk operations. */
  readonly maxBulkBodyBytes: number;
  readonly unknownMembers: Settings['management.unknown_members'];
  readonly trustedProxies: readonly string[];
  readonly validateResponses: boolean;
  /** Rejects operations that this process does not offer. */
  readonly rejectWrite?: (operation: AnyOperation) => void;
  /** Rejects a request that names an object its actor must not see. */
  readonly refuseHidden: (actor: Actor, refs: readonly string[]) => Promise<void>;
  /** Rejects a request that the rules of its actor's organisation deny. */
  readonly enforceRules: (actor: Actor, request: AuthorizedRequest) => Promise<void>;
}

/** A validated request, as rules see it. */
export interface AuthorizedRequest {
  readonly operation: string;
  readonly method: AnyOperation['method'];
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** JSON of the body; undefined where there is none, or it is no JSON. */
  readonly body: unknown;
}

const maxParamLength = 1024;
const requestTimeoutMs = 60_000;
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

/** Event streams have no HEAD: its response would leave a stream open without a client. */
const toRouteLimits = ({ permission, produces, isBulk }: AnyOperation, { maxBulkBodyBytes }: BodyLimits) => ({
  exposeHeadRoute: produces !== eventStreamType,
  ...(permission === 'public' ? { bodyLimit: maxPublicBodyBytes } : {}),
  ...(isBulk ? { bodyLimit: maxBulkBodyBytes } : {}),
});
type BodyLimits = Pick<ManagementListenerOptions, 'maxBulkBodyBytes'>;

export function createManagementListener(options: ManagementListenerOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: options.maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    forceCloseConnections: 'idle',
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
  app.addHook('onSend', async (_request, reply) => {
    reply.headers(responseHeaders);
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
type AnyCall = OperationCall<unknown, unknown, unknown>;

/** Object of an audit record. */
interface AuditTarget {
  object: string;
  orgId: string;
}

async function authorize(
  { surface, permission }: AnyOperation,
  request: FastifyRequest,
  authenticateRequest: AuthenticateRequest,
): Promise<Actor> {
  const actor = await authenticateRequest(request, surface);
  actors.set(request, actor);
  if (!hasPermission(actor, permission)) throw problem.not_permitted({ detail: { permission } });
  return actor;
}

function addOperation(
  app: FastifyInstance,
  it: AnyOperation,
  options: ManagementListenerOptions,
  authenticateRequest: AuthenticateRequest,
): void {
  const surface = surfaces[it.surface];
  const accepts = it.accepts ?? 'json';

  async function onRequest(request: FastifyRequest) {
    if (it.permission !== 'public') await authorize(it, request, authenticateRequest);
    options.rejectWrite?.(it);
    if (it.body) checkMediaType(accepts, request.headers['content-type']);
  }

  async function sendProblem(request: FastifyRequest, reply: FastifyReply, error: unknown, auditTarget: AuditTarget) {
    const rendered = renderProblem(error, surface, options.log);
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
      const auditTarget = { object: '', orgId: '' };
      const headers: Record<string, string> = {};
      const callContext = {
        audit: (object: string, orgId = '') => void Object.assign(auditTarget, { object, orgId }),
        header: (name: string, value: string) => void Object.assign(headers, { [name]: value }),
        requestHeader: (name: string) => readDeclaredHeader(it, request, name),
        identify: (actor: Actor) => void actors.set(request, actor),
        forward: createForward(app, request, surface.credentialHeader),
        reauthenticate: () => authorize(it, request, authenticateRequest),
      };
      try {
        const body = await runOperation(it, options, request, actors.get(request) ?? anonymous, callContext);
        await recordAudit(it, options.writeAudit, request, it.status ?? 200, auditTarget);
        reply
          .code(it.status ?? 200)
          .headers(headers)
          .type(it.produces ?? surface.contentType);
        if (it.offersYaml && acceptsYaml(request.headers.accept)) return reply.type(yamlType).send(toYamlText(body));
        if (it.toCsv && isCsv(request)) {
          reply.header('content-disposition', `attachment; filename="${it.name}.csv"`);
          return reply.type(csvType).send(it.toCsv(body));
        }
        if (it.produces) return body;
        return JSON.stringify(body, undefined, it.offersPretty && isPretty(request) ? 2 : undefined);
      } catch (error) {
        return sendProblem(request, reply, error, auditTarget);
      }
    },
  });
}

/** Validates the request, calls the handler, and adds warnings to its response. */
async function runOperation(
  it: AnyOperation,
  options: ManagementListenerOptions,
  request: FastifyRequest,
  actor: Actor,
  callContext: Omit<AnyCall, 'params' | 'query' | 'body' | 'actor' | 'address' | 'isSecure'>,
) {
  const params = it.params && validate(it.params, copyRejectingNul(readParams(it, request)));
  const rawQuery = copyRejectingNul(request.query);
  const isLenient = isMutation(it) && prefersLenient(it.surface, request.headers.prefer);
  const unknownMembers = isLenient ? 'warn' : options.unknownMembers;
  const ignored = checkQueryNames(it.query, rawQuery, { unknownMembers, isMutation: isMutation(it) });
  const query = it.query && validate(it.query, rawQuery);
  await options.refuseHidden(actor, listReferencedApis(request));
  const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
  const maxBytes = it.isBulk ? options.maxBulkBodyBytes : options.maxBodyBytes;
  const readOptions = { contentType: request.headers['content-type'], maxBytes };
  const rawBody = it.body && (await readBody(it.accepts ?? 'json', bytes, readOptions));
  const { body, warnings } = it.body
    ? checkBody({ ...it, body: it.body }, rawBody, unknownMembers)
    : { body: undefined, warnings: [] };
  if (!it.ignoresRules) {
    const { name: operation, method } = it;
    const json = it.isBulk || it.accepts === 'upload' || it.accepts === 'text' ? undefined : rawBody;
    const path = toAuditPath(it, request);
    await options.enforceRules(actor, { operation, method, path, query: rawQuery, body: json });
  }
  const isSecure = request.protocol === 'https';
  const call = { params, query, body, actor, address: request.ip, isSecure, ...callContext };
  const handle = (): Promise<unknown> => it.handle(call as never, options.services as never);
  const unreadable: UnreadableRows = new Map();
  if (isLenient) callContext.header('Preference-Applied', 'handling=lenient');
  const write = isLenient ? () => runLenient(handle) : handle;
  const value = isMutation(it) ? await write() : await collectUnreadableRows(unreadable, handle);
  const further = [...warnings, ...reportUnreadable(unreadable, options.log)];
  return addWarnings(
    options.validateResponses ? validateResponse(it, value) : value,
    isMutation(it) ? { warnings: [...ignored, ...further] } : { warnings: further, inHeader: ignored },
    callContext.header,
  );
}

const isPretty = ({ query }: FastifyRequest) => (query as Record<string, unknown>).pretty === 'true';
const yamlType = 'application/yaml';
const isCsv = ({ query }: FastifyRequest) => (query as Record<string, unknown>).type === 'csv';

/** True where `Accept` names a YAML media type, the unregistered ones included. */
const acceptsYaml = (accept: string | undefined) =>
  (accept ?? '').split(',').some(range => isYamlType(parseMediaType(range)));

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
  { object, orgId }: AuditTarget,
) {
  const actor = actors.get(request);
  if (!actor || !isMutation(it)) return;
  const { method, ip } = request;
  const entry = { action: it.name, method, url: toAuditPath(it, request), status, ip, object };
  await writeAudit({ actor, orgId: orgId || actor.orgId, ...entry });
}

/** Rows of one list that the log and the response name. */
const maxUnreadableNamed = 20;

/** Logs the rows that a list leaves out, and gives the warnings for the response. */
function reportUnreadable(unreadable: UnreadableRows, log: Log): string[] {
  if (unreadable.size === 0) return [];
  const named = [...unreadable].slice(0, maxUnreadableNamed);
  log.error({ count: unreadable.size, rows: Object.fromEntries(named) }, 'stored rows unreadable, left out of a list');
  return named.map(([id, reason]) => `${id} is left out: ${reason}`);
}

function validateResponse(it: AnyOperation, value: unknown): unknown {
  const result = it.returns.safeParse(value);
  if (!result.success) throw new Error(`${it.name} returned an invalid response: ${result.error.message}`);
  return value;
}

/** Rejects NUL characters in path and query, as in bodies: PostgreSQL cannot store them. */
function copyRejectingNul(given: unknown): Record<string, unknown> {
  const values = { ...(given as Record<string, unknown>) };
  for (const value of Object.values(values)) for (const text of [value].flat()) rejectNul(String(text));
  return values;
}

/** APIs that the path or the query of a request names. */
function listReferencedApis(request: FastifyRequest): string[] {
  const params = Object.entries(request.params as Record<string, string>);
  const { base_api_id, api_id } = request.query as Record<string, string | string[] | undefined>;
  const queried = [base_api_id, api_id].flat().flatMap(text => text?.split(',') ?? []);
  return [...params.filter(([name]) => /apiid$/i.test(name)).map(([, value]) => value), ...queried].map(it =>
    it.trim(),
  );
}

const toRoutePath = ({ path, matchesRest }: AnyOperation) =>
  (matchesRest ? path.replace(/\{[\w-]+\}$/, '*') : path).replaceAll(
    /\{([\w-]+)\}/g,
    (_whole, name: string) => `:${name.replaceAll('-', '_')}`,
  );

/** Path parameters by name; the router calls the rest of a path `*`. */
function readParams({ path, matchesRest }: AnyOperation, { params }: FastifyRequest): unknown {
  if (!matchesRest) return params;
  const { '*': rest = '', ...named } = params as Record<string, string>;
  return { ...named, [/\{([\w-]+)\}$/.exec(path)![1]!]: rest.replace(/\/$/, '') };
}

/** Keys and tokens in a path are credentials: audit records contain the placeholder instead. */
function toAuditPath(it: AnyOperation, request: FastifyRequest): string {
  if (!credentialInPath.test(it.path)) return pathOf(request);
  const params = request.params as Record<string, string>;
  return it.path.replaceAll(/\{([\w-]+)\}/g, (whole, name: string) =>
    credentialInPath.test(whole) ? whole : encodeURIComponent(params[name.replaceAll('-', '_')] ?? ''),
  );
}
const credentialInPath = /\{(key_?id|token)\}/i;
const pathOf = (request: FastifyRequest) => request.url.split('?')[0]!;

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
    if (!name) return reply.code(404).type('text/plain; charset=utf-8').send('Not Found');
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

const surfaceOf = (path: string, names: readonly SurfaceName[]) =>
  names.find(name => path === surfaces[name].prefix || path.startsWith(`${surfaces[name].prefix}/`));

function toPathPattern({ path, matchesRest }: AnyOperation): RegExp {
  const pattern = path.replaceAll('.', '\\.');
  const withRest = matchesRest ? pattern.replace(/\{[\w-]+\}$/, '.+') : pattern;
  return new RegExp(`^${withRest.replaceAll(/\{[\w-]+\}/g, '[^/]+')}/?$`);
}
