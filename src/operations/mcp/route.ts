import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Json, parseUniqueJson } from '#base/json.ts';
import type { Log } from '#base/log.ts';
import { readMcpId } from '#base/mcp-server/message.ts';
import { McpServerError } from '#base/mcp-server/protocol.ts';
import { createInternalErrorReply, createMcpServer, type McpReply, toErrorReply } from '#base/mcp-server/server.ts';
import { parseMediaType } from '#base/media-type.ts';
import { Problem } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor, Authenticate } from '../actor.ts';
import type { AuthFailureLimit } from '../auth-failure-limit.ts';
import type { ListenerUrls } from '../landing/first-steps.ts';
import type { AnyOperation } from '../operation.ts';
import { problem } from '../problems.ts';
import { renderProblem } from '../render.ts';
import { surfaces } from '../surfaces.ts';
import { createInvalidProblem, validate } from '../validation-error.ts';
import { createManagementTools, type ManagementCaller } from './management-tools.ts';
import type { ToolRequest } from './tool-request.ts';
import type { OperationResponse } from './tool-result.ts';

export interface ManagementMcpOptions {
  readonly settings: Settings;
  readonly authenticate: Readonly<Record<'dashboard', Authenticate>>;
  readonly failures: AuthFailureLimit;
  readonly log: Log;
  readonly version: string;
  readonly operations: readonly AnyOperation[];
  listUrls(): ListenerUrls;
}

const path = '/mcp';
const surface = surfaces.dashboard;
/** Bounds the number of values of a message, as for bodies of operations. */
const minBytesPerValue = 20;

const instructions =
  `Runs an API gateway. To publish an API: gw_publish_openapi with the OpenAPI document, upstreamURL and
listenPath. To give access: gw_create_key with access_rights, or gw_create_policy and a key with apply_policies. Pass
wait=applied to a write to be sure that the gateway serves it. To test: gw_call_api. To find out why a request is
refused: gw_explain, which returns the decision of every step. Lists have pages: p=1, p=2 …`.replaceAll('\n', ' ');

const queryShape = z.strictObject({
  read_only: z.enum(['true', 'false']).default('false').describe('Offers tools that change nothing'),
  tools: z.string().max(1000).optional().describe('Groups of tools, separated by commas'),
});

/**
 * Model Context Protocol server of the dashboard listener. Each tool is an operation, sent through the same listener:
 * permissions, rules, validation, limits and audit are those of the HTTP request. Only an access key in `Authorization`
 * is accepted, never a session cookie, which a browser adds to requests of other sites.
 */
export function addManagementMcpRoute(app: FastifyInstance, options: ManagementMcpOptions): void {
  const { settings, log, version } = options;
  /** Created on first use, to keep the start fast. */
  let created: ReturnType<typeof create> | undefined;
  const create = () => {
    const { provider, groups } = createManagementTools(options.operations);
    return { groups, server: createMcpServer({ name: 'gatewright', version, instructions, tools: provider }) };
  };
  const actors = new WeakMap<FastifyRequest, Actor>();

  const errorHandler = async (error: unknown, _request: FastifyRequest, reply: FastifyReply) => {
    const { status, body, headers } = renderProblem(error, surface, log);
    if (status === 401) reply.header('www-authenticate', 'Bearer');
    return reply.code(status).headers(headers).type(surface.contentType).send(JSON.stringify(body));
  };

  app.route({
    method: 'POST',
    url: path,
    errorHandler,
    async onRequest(request) {
      checkOrigin(request, options);
      actors.set(request, await authenticateHeader(request, options));
      if (parseMediaType(request.headers['content-type']) !== 'application/json')
        throw problem.wrong_type({ detail: { accepted: 'application/json' } });
    },
    async handler(request, reply) {
      created ??= create();
      const { server, groups } = created;
      const caller = readCaller(app, request, actors.get(request)!, settings, groups);
      const { status, body } = await handleMessage(request, settings['management.max_body_bytes'], async message => {
        try {
          return await server.handle(message, readMcpHeaders(request), caller);
        } catch (error) {
          const rendered = renderProblem(error, surface, log).body as { Message: string };
          return createInternalErrorReply(rendered.Message, readMcpId(message));
        }
      });
      return body === undefined
        ? reply.code(status).send()
        : reply.code(status).type('application/json').send(JSON.stringify(body));
    },
  });
  // No stream of the server and no session: RFC 9110, 15.5.6.
  app.route({
    method: ['GET', 'DELETE'],
    url: path,
    errorHandler,
    async handler(_request, reply) {
      reply.header('allow', 'POST');
      throw problem.wrong_method();
    },
  });
}

/** DNS rebinding: a page of another site reaches this port under its own name, and sends its own origin. */
function checkOrigin({ headers: { origin } }: FastifyRequest, { listUrls }: ManagementMcpOptions): void {
  if (origin === undefined) return;
  const { dashboard } = listUrls();
  if (dashboard === undefined || new URL(dashboard).origin !== origin)
    throw problem.not_permitted({ message: 'Origin is not that of the dashboard' });
}

async function authenticateHeader(request: FastifyRequest, options: ManagementMcpOptions): Promise<Actor> {
  const credential = surface.extractCredential(request.headers.authorization?.trim() ?? '');
  if (credential === '') throw problem.not_authorised();
  const actor = await options.authenticate.dashboard(credential);
  if (actor) return actor;
  const { ip: address, method } = request;
  throw options.failures.reject({ surface: 'dashboard', address, method, path });
}

/** Reads the selection of tools, and binds requests of tools to the credential and the address of the caller. */
function readCaller(
  app: FastifyInstance,
  request: FastifyRequest,
  actor: Actor,
  settings: Settings,
  groups: ReadonlySet<string>,
): ManagementCaller {
  const query = validate(queryShape, request.query);
  const selected = query.tools === undefined ? undefined : query.tools.split(',').map(name => name.trim());
  const unknown = selected?.find(name => !groups.has(name));
  if (unknown !== undefined)
    throw createInvalidProblem([{ path: 'tools', message: `must be some of ${[...groups].sort().join(', ')}` }]);
  return {
    actor,
    isReadOnly: query.read_only === 'true' || !settings['mcp.management.allow_writes'],
    groups: selected && new Set(selected),
    send: toolRequest => sendAsCaller(app, request, toolRequest),
  };
}

async function sendAsCaller(
  app: FastifyInstance,
  request: FastifyRequest,
  { method, url, headers, payload }: ToolRequest,
): Promise<OperationResponse> {
  const { authorization, 'user-agent': agent } = request.headers;
  const reply = await app.inject({
    method,
    url,
    headers: { ...headers, authorization: authorization!, ...(agent !== undefined && { 'user-agent': agent }) },
    remoteAddress: request.ip,
    ...(payload !== undefined && { payload }),
  });
  const etag = reply.headers.etag;
  return { status: reply.statusCode, text: reply.payload, etag: typeof etag === 'string' ? etag : undefined };
}

/** Parses the message; JSON with errors gets an error of JSON-RPC (JSON-RPC 2.0, 5.1). */
async function handleMessage(
  { body }: FastifyRequest,
  maxBodyBytes: number,
  handle: (message: Json) => Promise<McpReply>,
): Promise<McpReply> {
  let message: Json;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode((body as Buffer | undefined) ?? Buffer.alloc(0));
    message = parseUniqueJson(text, Math.ceil(maxBodyBytes / minBytesPerValue));
  } catch (error) {
    if (!(error instanceof Problem || error instanceof TypeError)) throw error;
    return toErrorReply(new McpServerError('parseError', error.message, { status: 400 }), undefined);
  }
  return handle(message);
}

const readMcpHeaders = ({ headers }: FastifyRequest) => {
  const read = (name: string) => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    'mcp-protocol-version': read('mcp-protocol-version'),
    'mcp-method': read('mcp-method'),
    'mcp-name': read('mcp-name'),
  };
};
