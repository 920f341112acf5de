import { methodPathPrefix, primitivePathPrefixes } from '#definition/mcp-names.ts';
import type { Endpoint, EndpointMatcher } from './endpoint-matcher.ts';
import type { Exchange } from './exchange.ts';

const prefixes = [methodPathPrefix, ...Object.values(primitivePathPrefixes)];

/** True for the path of a JSON-RPC method or primitive in an endpoint list. */
export const isVirtualPath = (path: string): boolean => prefixes.some(prefix => path.startsWith(prefix));

/**
 * Endpoint lists of an MCP proxy: the entry of the primitive, else that of the JSON-RPC method, else that of the HTTP
 * endpoint. Undefined for an empty list.
 */
export function createVirtualMatcher<T extends Endpoint>(
  entries: readonly T[],
  createHttpMatcher: (entries: readonly T[]) => EndpointMatcher<T> | undefined,
): EndpointMatcher<T> | undefined {
  if (entries.length === 0) return undefined;
  const byPath = new Map<string, T>();
  for (const entry of entries) if (isVirtualPath(entry.path) && !byPath.has(entry.path)) byPath.set(entry.path, entry);
  const http = createHttpMatcher(entries.filter(({ path }) => !isVirtualPath(path)));
  const findVirtual = ({ rpcMessage: message }: Exchange) =>
    message && (byPath.get(message.ownPath) ?? byPath.get(message.primitivePath) ?? byPath.get(message.methodPath));
  return {
    find: (call, normalize) => findVirtual(call) ?? http?.find(call, normalize),
    all(call, normalize) {
      const message = call.rpcMessage;
      const virtual = message ? [message.methodPath, message.primitivePath] : [];
      return [...virtual.flatMap(path => byPath.get(path) ?? []), ...(http?.all(call, normalize) ?? [])];
    },
  };
}
