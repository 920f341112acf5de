import type { Json } from '../json.ts';
import { isObject } from '../json-tree.ts';
import {
  handshakeMcpRevisions,
  type JsonMembers,
  type McpRequestId,
  McpServerError,
  mcpMetaNames,
  mcpServerRevisions,
  statelessMcpRevision,
} from './protocol.ts';

/** Headers of the streamable HTTP transport, which repeat members of the body. */
export interface McpMessageHeaders {
  readonly 'mcp-protocol-version'?: string | undefined;
  readonly 'mcp-method'?: string | undefined;
  readonly 'mcp-name'?: string | undefined;
}

export interface McpMessage {
  /** Absent: a notification, which gets no response. */
  readonly id?: McpRequestId;
  readonly method: string;
  readonly params: JsonMembers;
  /** The message has the form of the revision without a handshake. */
  readonly isStateless: boolean;
}

const maxIdLength = 256;

const isRequestId = (id: unknown): id is McpRequestId =>
  (typeof id === 'string' && id.length <= maxIdLength) || (typeof id === 'number' && Number.isFinite(id));

/** Id of a message for error responses; undefined where it has none. */
export const readMcpId = (message: Json): McpRequestId | undefined =>
  isObject(message) && isRequestId(message.id) ? message.id : undefined;

const rejectMessage = (message: string) => new McpServerError('invalidRequest', message, { status: 400 });

/** Validates a JSON-RPC message and its revision. */
export function readMcpMessage(message: Json, headers: McpMessageHeaders): McpMessage {
  if (Array.isArray(message)) throw rejectMessage('batches are not supported: send one message');
  if (!isObject(message) || message.jsonrpc !== '2.0') throw rejectMessage('jsonrpc must be "2.0"');
  const { id, method, params = {} } = message as JsonMembers;
  if (typeof method !== 'string') throw rejectMessage('method is required');
  if (id !== undefined && !isRequestId(id))
    throw rejectMessage(`id must be a number, or a string of at most ${maxIdLength} characters`);
  if (!isObject(params)) throw new McpServerError('invalidParams', 'params must be an object', { status: 400 });
  const read = { method, params: params as JsonMembers, ...(id !== undefined && { id }) };
  const { _meta: meta } = params as JsonMembers;
  const declared = isObject(meta) ? meta[mcpMetaNames.protocolVersion] : undefined;
  const version = headers['mcp-protocol-version'];
  if (declared === undefined && version !== statelessMcpRevision) {
    if (version !== undefined && !handshakeMcpRevisions.includes(version)) throw rejectVersion(version);
    return { ...read, isStateless: false };
  }
  if (id !== undefined) checkStatelessRequest(read, meta as JsonMembers | undefined, headers);
  return { ...read, isStateless: true };
}

const rejectVersion = (requested: string) =>
  new McpServerError('unsupportedVersion', 'the protocol version is not supported', {
    status: 400,
    data: { supported: [...mcpServerRevisions], requested: requested.slice(0, maxIdLength) },
  });

/** `_meta` of a request without handshake, and the headers that must repeat its body. */
function checkStatelessRequest(
  { method, params }: Pick<McpMessage, 'method' | 'params'>,
  meta: JsonMembers | undefined,
  headers: McpMessageHeaders,
): void {
  const { [mcpMetaNames.protocolVersion]: version, [mcpMetaNames.clientCapabilities]: capabilities } = meta ?? {};
  if (typeof version !== 'string') throw rejectMeta(mcpMetaNames.protocolVersion);
  if (headers['mcp-protocol-version'] !== version) throw rejectHeader('MCP-Protocol-Version');
  if (version !== statelessMcpRevision) throw rejectVersion(version);
  if (!isObject(capabilities)) throw rejectMeta(mcpMetaNames.clientCapabilities);
  if (headers['mcp-method'] !== method) throw rejectHeader('Mcp-Method');
  if (method === 'tools/call' && decodeHeader(headers['mcp-name']) !== params.name) throw rejectHeader('Mcp-Name');
}

const rejectMeta = (name: string) =>
  new McpServerError('invalidParams', `params._meta must have ${name}`, { status: 400 });

const rejectHeader = (name: string) =>
  new McpServerError('headerMismatch', `the header ${name} must repeat the body`, { status: 400 });

/** Header values that are not plain ASCII are Base64 in a frame. */
const encodedHeader = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

function decodeHeader(value: string | undefined): string | undefined {
  const encoded = value === undefined ? null : encodedHeader.exec(value);
  return encoded ? Buffer.from(encoded[1]!, 'base64').toString() : value;
}
