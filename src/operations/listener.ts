import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { rejectNul } from '#base/json.ts';
import type { Log } from '#base/log.ts';
import { closedPagePolicy } from '#base/page-guard.ts';
import type { Settings } from '#base/settings.ts';
import { type Actor, type Authenticate, permits } from './actor.ts';
import type { WriteAudit } from './audit.ts';
import type { CredentialFailures } from './auth-failure-limit.ts';
import { checkMediaType, readBody } from './body.ts';
import { addWarnings, checkBody } from './body-members.ts';
import { docsPage } from './docs-page.ts';
import { openApi } from './openapi.ts';
import { type AnyOperation, type Call, changes, type SurfaceName } from './operation.ts';
import { problem } from './problems.ts';
import { checkQueryNames } from './query-names.ts';
import { type Rendered, render } from './render.ts';
import { type Surface, surfaces } from './surfaces.ts';
import { check } from './validation-error.ts';

/** A management listener: some surfaces of the catalogue on one port. */
export interface ListenerOptions {
  readonly surfaces: readonly SurfaceName[];
  readonly operations: readonly AnyOperation[];
  readonly tools: unknown;
  readonly authenticate: Readonly<Partial<Record<SurfaceName, Authenticate>>>;
  readonly writeAudit: WriteAudit;
  readonly log: Log;
  readonly version: string;
  readonly bodyBytes: number;
  readonly unknownMembers: Settings['management.unknown_members'];
  /** Shared by the listeners of one door. */
  readonly failures: CredentialFailures;
  readonly trustedProxies: readonly string[];
  readonly checkAnswers: boolean;
  /** Refuses a request that names an object its actor must not see. */
  readonly refuseHidden: (actor: Actor, refs: readonly string[]) => Promise<void>;
}

/** Longer than any id we make or accept. */
const paramLength = 1024;
const requestTimeoutMs = 60_000;
const onEveryAnswer = { 'cache-control': 'no-store', pragma: 'no-cache', 'x-content-type-options': 'nosniff' };
const policyHeader = 'content-security-policy';

export function createListener(options: ListenerOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: options.bodyBytes,
    requestTimeout: requestTimeoutMs,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: paramLength },
    // A path the router itself cannot read meets no route and no hook.
    frameworkErrors: (_error, request, reply) => {
      const surface = surfaces[surfaceOf(pathOf(request), options.surfaces) ?? options.surfaces[0]!];
      reply.headers(onEveryAnswer).header(policyHeader, closedPagePolicy);
      return send(reply, surface, render(problem.malformed_path(), surface, options.log));
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onSend', async (_request, reply) => {
    reply.headers(onEveryAnswer);
    if (!reply.hasHeader(policyHeader)) reply.header(policyHeader, closedPagePolicy);
  });

  const own = options.operations.filter(it => options.surfaces.includes(it.surface));
  const door = doorkeeper(options);
  for (const it of own) addOperation(app, it, options, door);
  addDocuments(app, own, options);
  addRefusals(app, own, options, door);
  return app;
}

type Door = (request: FastifyRequest, surfaceName: SurfaceName) => Promise<Actor>;

/** Credentials are checked before the body is read. */
function doorkeeper({ authenticate, failures }: ListenerOptions): Door {
  return async (request, surfaceName) => {
    const surface = surfaces[surfaceName];
    const header = request.headers[surface.credentialHeader];
    const credential = typeof header === 'string' ? surface.credential(header.trim()) : '';
    if (!credential) throw problem.not_authorised();
    const actor = await authenticate[surfaceName]?.(credential);
    if (actor) return actor;
    const { ip: address, method } = request;
    throw failures.reject({ surface: surfaceName, address, method, path: pathOf(request) });
  };
}

const actors = new WeakMap<FastifyRequest, Actor>();
type AnyCall = Call<unknown, unknown, unknown>;

/** What an audit record says the call was about. */
interface Concerned {
  object: string;
  orgId: string;
}

function addOperation(app: FastifyInstance, it: AnyOperation, options: ListenerOptions, door: Door): void {
  const surface = surfaces[it.surface];
  const accepts = it.accepts ?? 'json';

  async function onRequest(request: FastifyRequest) {
    const actor = await door(request, it.surface);
    actors.set(request, actor);
    if (!permits(actor, it.permission)) throw problem.not_permitted({ detail: { permission: it.permission } });
    if (it.body) checkMediaType(accepts, request.headers['content-type']);
  }

  async function answer(request: FastifyRequest, actor: Actor, { audit, header }: Pick<AnyCall, 'audit' | 'header'>) {
    const params = it.params && check(it.params, clean(request.params));
    const asked = clean(request.query);
    const ignored = changes(it) ? checkQueryNames(it.query, asked, options.unknownMembers) : [];
    const query = it.query && check(it.query, asked);
    await options.refuseHidden(actor, apisNamedBy(request));
    const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
    const reading = { contentType: request.headers['content-type'], mostBytes: options.bodyBytes };
    const { body, warnings } = it.body
      ? checkBody({ ...it, body: it.body }, await readBody(accepts, bytes, reading), options.unknownMembers)
      : { body: undefined, warnings: [] };
    const call = { params, query, body, actor, address: request.ip, audit, header };
    const value = await it.handle(call as never, options.tools as never);
    return addWarnings(options.checkAnswers ? checkedAnswer(it, value) : value, [...ignored, ...warnings], header);
  }

  async function record(request: FastifyRequest, status: number, { object, orgId }: Concerned) {
    const actor = actors.get(request);
    if (!actor || !changes(it)) return;
    const { method, ip } = request;
    const entry = { action: it.name, method, url: auditPath(it, request), status, ip, object };
    await options.writeAudit({ actor, orgId: orgId || actor.orgId, ...entry });
  }

  async function fail(request: FastifyRequest, reply: FastifyReply, error: unknown, concerned: Concerned) {
    const rendered = render(error, surface, options.log);
    await record(request, rendered.status, concerned);
    return send(reply, surface, rendered);
  }

  app.route({
    method: it.method,
    url: routePath(it.path),
    onRequest,
    errorHandler: (error, request, reply) => fail(request, reply, error, { object: '', orgId: '' }),
    async handler(request, reply) {
      const concerned = { object: '', orgId: '' };
      const headers: Record<string, string> = {};
      const notes = {
        audit: (object: string, orgId = '') => void Object.assign(concerned, { object, orgId }),
        header: (name: string, value: string) => void Object.assign(headers, { [name]: value }),
      };
      try {
        const body = await answer(request, actors.get(request)!, notes);
        await record(request, it.status ?? 200, concerned);
        reply
          .code(it.status ?? 200)
          .headers(headers)
          .type(it.produces ?? surface.contentType);
        return it.produces ? body : JSON.stringify(body);
      } catch (error) {
        return fail(request, reply, error, concerned);
      }
    },
  });
}

function checkedAnswer(it: AnyOperation, value: unknown): unknown {
  const result = it.returns.safeParse(value);
  if (!result.success) throw new Error(`${it.name} broke its promise: ${result.error.message}`);
  return value;
}

/** Query and path text reaches the database: what it could not hold is refused as the body is. */
function clean(given: unknown): Record<string, unknown> {
  const values = { ...(given as Record<string, unknown>) };
  for (const value of Object.values(values)) for (const text of [value].flat()) rejectNul(String(text));
  return values;
}

/** Every API that the path or the query of a request names. */
function apisNamedBy(request: FastifyRequest): string[] {
  const params = Object.entries(request.params as Record<string, string>);
  const { base_api_id, api_id } = request.query as Record<string, string | string[] | undefined>;
  const queried = [base_api_id, api_id].flat().flatMap(text => text?.split(',') ?? []);
  return [...params.filter(([name]) => /apiid$/i.test(name)).map(([, value]) => value), ...queried].map(it =>
    it.trim(),
  );
}

const routePath = (path: string) =>
  path.replaceAll(/\{([\w-]+)\}/g, (_whole, name: string) => `:${name.replaceAll('-', '_')}`);
/** A key's id is a credential, and so is a token: what is written down leaves them out. */
function auditPath(it: AnyOperation, request: FastifyRequest): string {
  if (!credentialInPath.test(it.path)) return pathOf(request);
  const params = request.params as Record<string, string>;
  return it.path.replaceAll(/\{([\w-]+)\}/g, (whole, name: string) =>
    credentialInPath.test(whole) ? whole : encodeURIComponent(params[name.replaceAll('-', '_')] ?? ''),
  );
}
const credentialInPath = /\{(key_?id|token)\}/i;
const pathOf = (request: FastifyRequest) => request.url.split('?')[0]!;

function send(reply: FastifyReply, surface: Surface, { status, body, headers }: Rendered) {
  return reply.code(status).headers(headers).type(surface.contentType).send(JSON.stringify(body));
}

/** `/openapi.json` and `/docs` for the listener, and the document of each surface under its own prefix. */
function addDocuments(
  app: FastifyInstance,
  own: readonly AnyOperation[],
  { surfaces: names, version }: ListenerOptions,
) {
  /** Made when somebody asks: a start need not wait for documents. */
  const document = (of: readonly SurfaceName[]) => {
    let text: string | undefined;
    return async (_request: FastifyRequest, reply: FastifyReply) => {
      const operations = own.filter(it => of.includes(it.surface));
      text ??= JSON.stringify(openApi(operations, of, version));
      return reply.type('application/json').send(text);
    };
  };
  app.get('/openapi.json', document(names));
  for (const name of names) app.get(`${surfaces[name].prefix}/openapi.json`, document([name]));
  let made: ReturnType<typeof docsPage> | undefined;
  const page = () => {
    made ??= docsPage(own, names);
    return made;
  };
  app.get('/docs', async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header(
        policyHeader,
        "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      )
      .send(page().html),
  );
  app.get('/docs.css', async (_request, reply) => reply.type('text/css; charset=utf-8').send(page().css));
}

/** Unknown paths under a surface are refused like known ones: first the credential, then the sentence. */
function addRefusals(app: FastifyInstance, own: readonly AnyOperation[], options: ListenerOptions, door: Door) {
  const known = own.map(it => ({ method: it.method, pattern: pathPattern(it.path) }));

  app.setNotFoundHandler(async (request, reply) => {
    const path = pathOf(request);
    const name = surfaceOf(path, options.surfaces);
    if (!name) return reply.code(404).type('text/plain; charset=utf-8').send('Not Found');
    const surface = surfaces[name];
    try {
      await door(request, name);
      const methods = known.filter(it => it.pattern.test(path)).map(it => it.method);
      if (methods.length > 0) {
        reply.header('allow', [...new Set(methods)].sort().join(', '));
        throw problem.wrong_method();
      }
      throw problem.unknown_route({ detail: { method: request.method, path } });
    } catch (error) {
      return send(reply, surface, render(error, surface, options.log));
    }
  });
  app.setErrorHandler((error, request, reply) => {
    const surface = surfaces[surfaceOf(pathOf(request), options.surfaces) ?? options.surfaces[0]!];
    return send(reply, surface, render(error, surface, options.log));
  });
}

const surfaceOf = (path: string, names: readonly SurfaceName[]) =>
  names.find(name => path === surfaces[name].prefix || path.startsWith(`${surfaces[name].prefix}/`));

const pathPattern = (path: string) =>
  new RegExp(`^${path.replaceAll(/\{[\w-]+\}/g, '[^/]+').replaceAll('.', '\\.')}/?$`);
