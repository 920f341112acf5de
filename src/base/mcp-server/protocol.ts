import type { Json } from '../json.ts';
import { isObject } from '../json-tree.ts';

export type JsonMembers = { [name: string]: Json };

/** Revision of the Model Context Protocol without a handshake: each request carries version and capabilities. */
export const statelessMcpRevision = '2026-07-28';
/** Revisions that begin with `initialize`, the preferred one first. */
export const handshakeMcpRevisions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];
export const mcpServerRevisions: readonly string[] = [statelessMcpRevision, ...handshakeMcpRevisions];

/** Members of `_meta` in the stateless revision. */
export const mcpMetaNames = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

/** JSON-RPC 2.0, 5.1, and the codes that the Model Context Protocol adds. */
export const mcpErrorCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

export type McpRequestId = string | number;

/** Error response to a JSON-RPC request. */
export class McpServerError extends Error {
  readonly code: number;
  /** HTTP status: 200 for errors of a method, 4xx for those of its transport. */
  readonly status: number;
  readonly data: JsonMembers | undefined;

  constructor(code: keyof typeof mcpErrorCodes, message: string, more: { status?: number; data?: JsonMembers } = {}) {
    super(message);
    this.name = 'McpServerError';
    this.code = mcpErrorCodes[code];
    this.status = more.status ?? 200;
    this.data = more.data;
  }
}

export interface McpToolHints {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface McpServerTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: JsonMembers;
  readonly outputSchema?: JsonMembers;
  readonly annotations?: McpToolHints;
}

export interface McpToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: JsonMembers;
  readonly isError?: true;
}

/** Tools of a server, as each of its callers may see and use them. */
export interface McpToolProvider<Caller> {
  list(caller: Caller): readonly McpServerTool[];
  /** Undefined where the caller has no tool of that name. */
  call(name: string, toolArguments: JsonMembers, caller: Caller): Promise<McpToolResult> | undefined;
  /** Why the caller has no tool of that name, or the nearest name, for the end of a message. */
  explainUnknown?(name: string, caller: Caller): string;
}

export const createTextResult = (text: string, isError = false): McpToolResult => ({
  content: [{ type: 'text', text }],
  ...(isError && { isError }),
});

/** `structuredContent` of a response: undefined for a text that is no JSON object. */
export function parseStructuredContent(text: string): JsonMembers | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonMembers) : undefined;
  } catch {
    return undefined;
  }
}
