import type { Endpoints } from '#definition/endpoints/endpoint-lists.ts';
import { methodPathPrefix, type PrimitiveType, primitivePathPrefixes } from '#definition/mcp-names.ts';
import { isVirtualPath } from '../pipeline/virtual-match.ts';
import type { PrimitiveResolver } from './primitive-names.ts';
import { readNames } from './primitive-names.ts';

/**
 * Access lists of an MCP proxy. Each category (methods, tools, resources, prompts) is closed by its first allowed entry;
 * blocked entries win.
 */
export interface McpAccessLists {
  /** True where the definition has any setting of a method or primitive: bodies that cannot be read are refused then. */
  readonly hasRules: boolean;
  /** True where lists and capabilities of the server must be filtered. */
  readonly restrictsAccess: boolean;
  allowsMethod(method: string): boolean;
  allowsPath(type: PrimitiveType, path: string): boolean;
  /** By the name in a list of the server. */
  allowsPrimitive(type: PrimitiveType, name: string): boolean;
}

type Lists = Pick<Endpoints, 'allow' | 'block'>;

export function createMcpAccessLists(
  endpoints: Endpoints,
  paths: readonly string[],
  resolve: PrimitiveResolver,
): McpAccessLists {
  const { allow, block }: Lists = endpoints;
  const allowed = new Set(allow.map(({ path }) => path));
  const blocked = new Set(block.map(({ path }) => path));
  const isClosed = (prefix: string) => [...allowed].some(path => path.startsWith(prefix));
  const closed = new Set([methodPathPrefix, ...Object.values(primitivePathPrefixes)].filter(isClosed));
  const allows = (prefix: string, path: string) => !blocked.has(path) && (!closed.has(prefix) || allowed.has(path));
  const allowsPath = (type: PrimitiveType, path: string) => allows(primitivePathPrefixes[type], path);
  const hasVirtual = Object.values(endpoints).some(list => list.some(({ path }) => isVirtualPath(path)));
  return {
    hasRules: hasVirtual || paths.length > 0,
    restrictsAccess: [...allowed, ...blocked].some(isVirtualPath),
    allowsMethod: method => allows(methodPathPrefix, methodPathPrefix + method),
    allowsPath,
    allowsPrimitive: (type, name) => readNames(type, name).every(reading => allowsPath(type, resolve(type, reading))),
  };
}
