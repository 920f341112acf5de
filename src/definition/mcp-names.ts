import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';

/** Marker of an MCP proxy: `applicationProtocol` in the `info` of the gateway extension. */
export const mcpProtocol = 'mcp';
export const jsonRpcVersion = '2.0';

/** Members of `middleware` that hold the primitives of an MCP proxy by name. */
export const primitiveMembers = { tool: 'mcpTools', resource: 'mcpResources', prompt: 'mcpPrompts' } as const;
export type PrimitiveType = keyof typeof primitiveMembers;
export const primitiveTypes = Object.keys(primitiveMembers) as readonly PrimitiveType[];

/** Features that neither primitives nor JSON-RPC methods have, with the reason. */
export const refusedMcpFeatures: Readonly<Record<string, string>> = {
  transformRequestMethod: 'every message of an MCP client is a POST request',
  transformResponseBody: 'responses of MCP servers may be event streams without an end',
  urlRewrite: 'an MCP server has one URL',
  internal: 'primitives are not reached by loops',
  cache: 'responses of MCP servers belong to a session',
  validateRequest: 'the OpenAPI document has no schema of JSON-RPC messages',
  mockResponse: 'use virtualEndpoint, which can read the id of the message',
};

/** Parts of the gateway extension that an MCP proxy does not have. */
export const refusedMcpParts: readonly { readonly path: readonly string[]; readonly reason: string }[] = [
  { path: ['middleware', 'global', 'cache'], reason: refusedMcpFeatures.cache! },
  { path: ['server', 'batchProcessing'], reason: 'batches of requests would bypass the rules of primitives' },
];

/** Virtual path of a JSON-RPC method or of a primitive: the path of its entry in endpoint lists. No client can call it. */
export const methodPathPrefix = '/json-rpc-method:';
export const primitivePathPrefixes: Readonly<Record<PrimitiveType, string>> = {
  tool: '/mcp-tool:',
  resource: '/mcp-resource:',
  prompt: '/mcp-prompt:',
};

/** JSON-RPC methods of MCP: `initialize`, `ping`, or names with a slash such as `tools/call`. */
const methodPattern = /^(?:initialize|ping|[A-Za-z][\w$.-]*(?:\/[\w$.-]+)+)$/;
const methodKeySuffix = 'POST';

/** JSON-RPC method that a member of `middleware.operations` configures, such as `tools/callPOST`; else undefined. */
export function parseMethodKey(key: string): string | undefined {
  if (!key.endsWith(methodKeySuffix)) return undefined;
  const method = key.slice(0, -methodKeySuffix.length);
  return methodPattern.test(method) ? method : undefined;
}

/** True for the gateway extension of an MCP proxy. */
export const isMcpExtension = (extension: unknown): boolean =>
  objectOrEmpty(objectOrEmpty(extension).info).applicationProtocol === mcpProtocol;

/** The primitives of a type by name, as written. */
export const readPrimitives = (extension: JsonObject, type: PrimitiveType): JsonObject =>
  objectOrEmpty(objectOrEmpty(extension.middleware)[primitiveMembers[type]]);
