import type { Json } from '../json.ts';
import { isObject } from '../json-tree.ts';
import { type McpMessage, type McpMessageHeaders, readMcpId, readMcpMessage } from './message.ts';
import {
  handshakeMcpRevisions,
  type JsonMembers,
  type McpRequestId,
  McpServerError,
  type McpServerTool,
  type McpToolProvider,
  mcpErrorCodes,
  mcpMetaNames,
  mcpServerRevisions,
} from './protocol.ts';

export interface McpServerOptions<Caller> {
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
  readonly tools: McpToolProvider<Caller>;
}

/** HTTP response to a message; a notification has no body. */
export interface McpReply {
  readonly status: number;
  readonly body?: JsonMembers;
}

const maxToolsPerPage = 50;

/**
 * Model Context Protocol server with tools, without sessions: each message is handled by itself and gets one JSON
 * response, so that any process of an installation serves any message.
 */
export function createMcpServer<Caller>(options: McpServerOptions<Caller>) {
  const run = createMethods(options);
  return {
    /** Handles one message; errors other than those of the protocol are the caller's. */
    async handle(given: Json, headers: McpMessageHeaders, caller: Caller): Promise<McpReply> {
      try {
        const message = readMcpMessage(given, headers);
        if (message.id === undefined) return { status: 202 };
        return { status: 200, body: { jsonrpc: '2.0', id: message.id, result: await run(message, caller) } };
      } catch (error) {
        if (error instanceof McpServerError) return toErrorReply(error, readMcpId(given));
        throw error;
      }
    },
  };
}

/** Lists depend on the caller, and change with permissions. */
const uncached = { ttlMs: 0, cacheScope: 'private' } as const;

/** The methods of both eras of the protocol. */
function createMethods<Caller>({ name, version, instructions, tools }: McpServerOptions<Caller>) {
  const serverInfo = { name, version };
  const capabilities = { tools: {} };
  const about: JsonMembers = instructions === undefined ? {} : { instructions };
  /** Members that results of the stateless revision have. */
  const complete = (result: JsonMembers): JsonMembers => ({
    ...result,
    resultType: 'complete',
    _meta: { [mcpMetaNames.serverInfo]: serverInfo },
  });

  return async (message: McpMessage, caller: Caller): Promise<JsonMembers> => {
    const { method, isStateless, params } = message;
    if (method === 'tools/call') {
      const result = await callTool(tools, params, caller);
      return isStateless ? complete(result) : result;
    }
    if (method === 'tools/list') {
      const result = listTools(tools.list(caller), params.cursor);
      return isStateless ? complete({ ...result, ...uncached }) : result;
    }
    if (isStateless && method === 'server/discover')
      return complete({ supportedVersions: [...mcpServerRevisions], capabilities, ...about, ...uncached });
    if (!isStateless && method === 'initialize')
      return { protocolVersion: negotiateRevision(params.protocolVersion), capabilities, serverInfo, ...about };
    if (!isStateless && method === 'ping') return {};
    const status = isStateless ? 404 : 200;
    throw new McpServerError('methodNotFound', `Method not found: ${method.slice(0, maxNameLength)}`, { status });
  };
}

function negotiateRevision(requested: Json | undefined): string {
  if (typeof requested !== 'string') throw new McpServerError('invalidParams', 'params.protocolVersion is required');
  return handshakeMcpRevisions.includes(requested) ? requested : handshakeMcpRevisions[0]!;
}

async function callTool<Caller>(
  tools: McpToolProvider<Caller>,
  { name, arguments: given = {} }: JsonMembers,
  caller: Caller,
): Promise<JsonMembers> {
  if (typeof name !== 'string') throw new McpServerError('invalidParams', 'params.name is required');
  if (!isObject(given)) throw new McpServerError('invalidParams', 'params.arguments must be an object');
  const result = await tools.call(name, given as JsonMembers, caller);
  if (result) return result as unknown as JsonMembers;
  const reason = tools.explainUnknown?.(name, caller) ?? '';
  throw new McpServerError('invalidParams', `Unknown tool: ${name.slice(0, maxNameLength)}${reason}`);
}

/** Longer names are truncated in messages. */
const maxNameLength = 128;

export function toErrorReply({ code, message, status, data }: McpServerError, id: McpRequestId | undefined): McpReply {
  return { status, body: { jsonrpc: '2.0', id: id ?? null, error: { code, message, ...(data && { data }) } } };
}

export const createInternalErrorReply = (message: string, id: McpRequestId | undefined): McpReply => ({
  status: 500,
  body: { jsonrpc: '2.0', id: id ?? null, error: { code: mcpErrorCodes.internalError, message } },
});

function listTools(all: readonly McpServerTool[], cursor: Json | undefined): JsonMembers {
  const start = findPageStart(all, cursor);
  const page = all.slice(start, start + maxToolsPerPage);
  const hasMore = start + page.length < all.length;
  return { tools: page as unknown as Json[], ...(hasMore && { nextCursor: encodeCursor(page.at(-1)!.name) }) };
}

const encodeCursor = (name: string): string => Buffer.from(name).toString('base64url');

/** A cursor holds the name of the last tool of the page before. */
function findPageStart(all: readonly McpServerTool[], cursor: Json | undefined): number {
  if (cursor === undefined) return 0;
  const last = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : undefined;
  const index = all.findIndex(({ name }) => name === last);
  if (index < 0) throw new McpServerError('invalidParams', 'params.cursor is not one of this list');
  return index + 1;
}
