import { parseUniqueJson } from '#base/json.ts';
import { isObject } from '#base/json-tree.ts';
import {
  createTextResult,
  type JsonMembers,
  McpServerError,
  type McpToolResult,
  parseStructuredContent,
} from '#base/mcp-server/protocol.ts';
import { createMcpServer, type McpReply, toErrorReply } from '#base/mcp-server/server.ts';
import { isJsonType, parseMediaType } from '#base/media-type.ts';
import { Problem } from '#base/problems.ts';
import { mcpServerName } from '#definition/document-members.ts';
import type { RestTool } from '#definition/rest-tools/rest-tool.ts';
import { listRestTools, type OperationAccess } from '#definition/rest-tools/rest-tools.ts';
import { ToolBoundsError } from '#definition/rest-tools/tool-bounds.ts';
import { createJsonResponse, createResponse, type GatewayResponse } from '../../http/response.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import type { PipelineServices } from '../../pipeline/services.ts';
import type { Api } from '../api.ts';
import { type BufferedResponse, createMemoryWriter } from '../batch/memory-writer.ts';
import { buildRestRequest } from './rest-request.ts';
import { type CreateToolExchange, createToolExchanges } from './tool-exchange.ts';

/** Dispatches a request to the REST API. */
export type DispatchToSource = (call: Exchange, writer: ResponseWriter) => void;

interface ToolCaller {
  readonly whole: Exchange;
  readonly source: Api;
  readonly dispatch: DispatchToSource;
}

interface SourceServer {
  readonly source: Api;
  readonly server: ReturnType<typeof createMcpServer<ToolCaller>>;
}

/** Responds to messages for an MCP proxy over a REST API. */
export type RespondWithTools = (caller: ToolCaller) => Promise<GatewayResponse>;

/**
 * Adapter of an MCP proxy over a REST API: a Model Context Protocol server without sessions, whose tools are the
 * operations of the API. A call of a tool passes the whole chain of the API.
 */
export function createToolAdapter(services: Pick<PipelineServices, 'settings' | 'clock'>): RespondWithTools {
  const { settings } = services;
  const maxBytes = settings['gateway.max_buffered_body_bytes'];
  const maxValues = settings['gateway.max_body_values'];
  const createToolExchange = createToolExchanges(services);
  /** By proxy; built again when the API behind it is compiled again. */
  const servers = new WeakMap<object, SourceServer>();

  function findServer(proxy: Api, source: Api): SourceServer['server'] {
    const known = servers.get(proxy);
    if (known?.source === source) return known.server;
    const server = createSourceServer(proxy, source, { createToolExchange, maxBytes });
    servers.set(proxy, { source, server });
    return server;
  }

  return async caller => {
    const { whole, source } = caller;
    if (whole.method !== 'POST') return createJsonResponse(405, { error: 'Method not allowed' }, { Allow: 'POST' });
    const { headers } = whole;
    if (parseMediaType(headers.get('content-type')) !== 'application/json')
      return toResponse(reject('invalidRequest', 'Content-Type must be application/json', 415));
    const message = readMessage(await whole.body.read(maxBytes), maxValues);
    if (message instanceof McpServerError) return toResponse(toErrorReply(message, undefined));
    const sent = {
      'mcp-protocol-version': headers.get('mcp-protocol-version'),
      'mcp-method': headers.get('mcp-method'),
      'mcp-name': headers.get('mcp-name'),
    };
    return toResponse(await findServer(whole.api as Api, source).handle(message, sent, caller));
  };
}

const reject = (code: 'invalidRequest' | 'parseError', message: string, status: number): McpReply =>
  toErrorReply(new McpServerError(code, message, { status }), undefined);

const toResponse = ({ status, body }: McpReply): GatewayResponse =>
  body === undefined ? createResponse(status) : createJsonResponse(status, body);

function readMessage(bytes: Buffer, maxValues: number) {
  try {
    return parseUniqueJson(bytes.toString(), maxValues);
  } catch (error) {
    if (error instanceof Problem) return new McpServerError('parseError', error.message, { status: 400 });
    throw error;
  }
}

interface ToolSending {
  readonly createToolExchange: CreateToolExchange;
  readonly maxBytes: number;
}

function createSourceServer(proxy: Api, source: Api, sending: ToolSending) {
  const document = source.model.document ?? {};
  const extension = proxy.model.document?.[mcpServerName];
  const built = tryListTools(document, readAccess(source), extension);
  const tools = new Map((built instanceof McpServerError ? [] : built).map(tool => [tool.name, tool]));
  const listed = [...tools.values()].map(({ name, description, inputSchema, outputSchema, annotations }) => ({
    name,
    description,
    inputSchema: inputSchema as JsonMembers,
    ...(outputSchema && { outputSchema: outputSchema as JsonMembers }),
    annotations,
  }));
  const { version } = isObject(document.info) ? document.info : {};
  return createMcpServer<ToolCaller>({
    name: proxy.name,
    version: typeof version === 'string' ? version : '',
    tools: {
      list() {
        if (built instanceof McpServerError) throw built;
        return listed;
      },
      call(name, given, caller) {
        if (built instanceof McpServerError) throw built;
        const tool = tools.get(name);
        return tool && callSource(tool, given, caller, sending);
      },
    },
  });
}

/** An API beyond the bounds has an error in place of tools, which is kept: each attempt takes the whole budget. */
function tryListTools(...given: Parameters<typeof listRestTools>): readonly RestTool[] | McpServerError {
  try {
    return listRestTools(...given);
  } catch (error) {
    if (error instanceof ToolBoundsError) return new McpServerError('internalError', error.message);
    throw error;
  }
}

/** Operations that clients of the API cannot call are no tools. */
function readAccess({ versionRuntimes: [runtime] }: Api): OperationAccess {
  const { endpoints } = runtime!.version;
  const listIds = (entries: readonly { operationId?: string }[]) => entries.flatMap(it => it.operationId ?? []);
  return {
    hidden: new Set([...listIds(endpoints.block), ...listIds(endpoints.internal)]),
    allowed: endpoints.allow.length > 0 ? new Set(listIds(endpoints.allow)) : undefined,
  };
}

async function callSource(
  tool: RestTool,
  given: JsonMembers,
  { whole, source, dispatch }: ToolCaller,
  { createToolExchange, maxBytes }: ToolSending,
): Promise<McpToolResult> {
  const request = buildRestRequest(tool, given);
  if ('errors' in request) return createTextResult(request.errors.join('; '), true);
  const call = createToolExchange(request, whole, source);
  if ('fault' in call) return createTextResult(call.fault, true);
  const response = await new Promise<BufferedResponse | undefined>(resolve => {
    /** Cancels the request: its exchange sees a client disconnect. */
    const abandon = () => {
      call.isClientDisconnected = true;
      call.onDisconnect?.();
      resolve(undefined);
    };
    whole.onDisconnect = abandon;
    const writer = createMemoryWriter({ remaining: maxBytes }, kept => (kept ? resolve(kept) : abandon()));
    dispatch(call, writer);
  });
  whole.onDisconnect = undefined;
  if (!response) return createTextResult('the response is incomplete, or larger than the gateway buffers', true);
  return toToolResult(tool, response);
}

/** Text of the response, and the object where it is one; an error status is an error of the tool. */
function toToolResult({ outputSchema }: RestTool, { status, headers, body }: BufferedResponse): McpToolResult {
  const text = body.toString();
  if (status >= 400) return createTextResult(`HTTP ${status}: ${text}`, true);
  const value = isJsonType(parseMediaType(findHeader(headers, 'content-type')))
    ? parseStructuredContent(text)
    : undefined;
  if (value) return { content: [{ type: 'text', text }], structuredContent: value };
  if (outputSchema) return createTextResult(`the response is no JSON object (HTTP ${status}): ${text}`, true);
  return createTextResult(text === '' ? `HTTP ${status}` : text);
}

function findHeader(headers: readonly string[], name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at]!.toLowerCase() === name) return headers[at + 1];
  return undefined;
}
