import { isObject } from '#base/json-tree.ts';
import { extensionName } from '#definition/document-members.ts';
import type { StoredApi } from '../api/schema.ts';
import { problem as gwProblem } from '../gw/problems.ts';
import { problem } from '../problems.ts';

/** Checks that the operations of MCP proxies share on both surfaces. */

export type McpApi = Extract<StoredApi, { kind: 'mcp' }>;

/** Rejects an API that has operations of its own. */
export function ensureMcp(api: StoredApi): asserts api is McpApi {
  if (api.kind !== 'mcp') throw problem.not_mcp();
}

/** The document as sent; rejects one without the gateway extension. */
export function requireExtension(document: unknown): unknown {
  if (isObject(document) && document[extensionName] === undefined) throw gwProblem.extension_missing();
  return document;
}
