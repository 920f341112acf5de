import { findJsonExcess } from '#base/json-scan.ts';
import { isObject } from '#base/json-tree.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { PrimitiveType } from '#definition/mcp-names.ts';
import { maxMessageDepth } from './member-scan.ts';

/** Methods and primitives of a server that a client may see. */
export interface Visibility {
  allowsMethod(method: string): boolean;
  allowsPrimitive(type: PrimitiveType, name: string): boolean;
}

interface ListMember {
  readonly member: string;
  readonly type: PrimitiveType;
  readonly name: string;
}

/** Lists in results: of tools/list, prompts/list, resources/list and resources/templates/list. */
const lists: readonly ListMember[] = [
  { member: 'tools', type: 'tool', name: 'name' },
  { member: 'prompts', type: 'prompt', name: 'name' },
  { member: 'resources', type: 'resource', name: 'uri' },
  { member: 'resourceTemplates', type: 'resource', name: 'uriTemplate' },
];

/** Capabilities of a server and the methods that they announce. */
const capabilityMethods: Readonly<Record<string, readonly string[]>> = {
  tools: ['tools/list', 'tools/call'],
  prompts: ['prompts/list', 'prompts/get'],
  resources: ['resources/list', 'resources/templates/list', 'resources/read'],
  logging: ['logging/setLevel'],
  completions: ['completion/complete'],
};

/** Methods whose results are filtered. */
export const filteredMethods: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'initialize',
  'server/discover',
]);

interface UnreadableMessage {
  readonly reason: 'malformed' | 'nested';
}

/**
 * Text of a message without what the client may not use; the same text where nothing is removed. The depth is checked
 * before parsing, since serializing takes stack for each level.
 */
export function filterMessageText(text: string, visibility: Visibility): string | UnreadableMessage {
  const excess = findJsonExcess(text, { maxValues: Number.POSITIVE_INFINITY, maxDepth: maxMessageDepth });
  if (excess) return { reason: 'nested' };
  const message = tryParseJson(text);
  if (message === undefined) return { reason: 'malformed' };
  const filtered = filterMessage(message, visibility);
  if (filtered === undefined) return { reason: 'nested' };
  return filtered === message ? text : JSON.stringify(filtered);
}

/**
 * Removes from a message or a batch what the client may not use. Returns the same object where nothing is removed,
 * undefined for a batch inside a batch, which JSON-RPC does not have.
 */
function filterMessage(message: unknown, visibility: Visibility): unknown {
  if (!Array.isArray(message)) return filterSingle(message, visibility);
  if (message.some(Array.isArray)) return undefined;
  const filtered = message.map(one => filterSingle(one, visibility));
  return filtered.some((one, at) => one !== message[at]) ? filtered : message;
}

function filterSingle(message: unknown, visibility: Visibility): unknown {
  if (!isObject(message) || !isObject(message.result)) return message;
  const result = filterCapabilities(filterLists(message.result, visibility), visibility);
  return result === message.result ? message : { ...message, result };
}

function filterLists(result: Readonly<Record<string, unknown>>, visibility: Visibility) {
  let filtered = result;
  for (const { member, type, name } of lists) {
    const list = result[member];
    if (!Array.isArray(list)) continue;
    const visible = list.filter(item => {
      const own = isObject(item) ? item[name] : undefined;
      return typeof own === 'string' && visibility.allowsPrimitive(type, own);
    });
    if (visible.length < list.length) filtered = { ...filtered, [member]: visible };
  }
  return filtered;
}

function filterCapabilities(result: Readonly<Record<string, unknown>>, { allowsMethod }: Visibility) {
  const { capabilities } = result;
  if (!isObject(capabilities)) return result;
  const isDenied = (name: string) =>
    Object.hasOwn(capabilityMethods, name) && !capabilityMethods[name]!.some(method => allowsMethod(method));
  const names = Object.keys(capabilities);
  if (!names.some(isDenied)) return result;
  const kept = names.filter(name => !isDenied(name)).map(name => [name, capabilities[name]]);
  return { ...result, capabilities: Object.fromEntries(kept) };
}
