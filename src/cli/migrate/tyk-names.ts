import { isObject, type JsonObject } from '#base/json-tree.ts';

/** Renames what carries the name of the product: extensions, variables, loops, headers and variables of templates. */

/** Free-form members: their content belongs to the operator, and stays as it is. */
const freeMembers = new Set(['meta_data', 'metadata', 'config_data', 'configData', 'tags']);
/** Headers that clients and upstreams of the operator send: a new name would break them. */
const chosenHeaders = new Set([
  'auth_header_name',
  'cache_control_ttl_header',
  'controlTTLHeaderName',
  'identityBaseField',
  'param_name',
  'cookie_name',
]);

/** Headers that the gateway itself reads or sends. */
const gatewayHeaders = new Set(
  ['authorization', 'api-expires', 'cached-response', 'accept-example-code', 'accept-example-name', 'trace-id'].map(
    name => `x-tyk-${name}`,
  ),
);

export interface RenamedValue {
  readonly value: unknown;
  /** Old names, each once. */
  readonly renamed: ReadonlySet<string>;
}

export function renameVendor(value: unknown): RenamedValue {
  const renamed = new Set<string>();
  return { value: renameValue(value, '', renamed), renamed };
}

function renameValue(value: unknown, member: string, renamed: Set<string>): unknown {
  if (typeof value === 'string') return renameText(value, member, renamed);
  if (Array.isArray(value)) return value.map(item => renameValue(item, member, renamed));
  return isObject(value) ? renameMembers(value, renamed) : value;
}

function renameMembers(value: JsonObject, renamed: Set<string>): JsonObject {
  const entries = Object.entries(value).map(([name, inside]) => {
    const next = renameName(name, renamed);
    return [next, freeMembers.has(name) ? inside : renameValue(inside, name, renamed)] as const;
  });
  return Object.fromEntries(entries);
}

function renameName(name: string, renamed: Set<string>): string {
  if (!/^x-tyk-/i.test(name)) return name;
  renamed.add(name.toLowerCase());
  return name.replace(/^x-tyk-/i, match => (match.startsWith('X') ? 'X-Gw-' : 'x-gw-'));
}

function renameText(text: string, member: string, renamed: Set<string>): string {
  if (gatewayHeaders.has(text.toLowerCase()) && !chosenHeaders.has(member)) return renameName(text, renamed);
  if (/tyk/i.test(text)) return renameVariables(text, renamed);
  return templateMembers.has(member) ? renameTemplate(text, renamed) : text;
}

const renameVariables = (text: string, renamed: Set<string>) =>
  text.replaceAll(/\$tyk_(?=[a-z])|\btyk:\/\/|\._tyk_(?=context|meta)/g, match => {
    renamed.add(match);
    return match.replace('tyk', 'gw');
  });

/** Members with a template in base64. */
const templateMembers = new Set(['template_source', 'body']);

function renameTemplate(text: string, renamed: Set<string>): string {
  if (!/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(text)) return text;
  const decoded = Buffer.from(text, 'base64').toString('utf8');
  if (!decoded.includes('_tyk_') || decoded.includes('\uFFFD')) return text;
  const next = renameVariables(decoded, renamed);
  return next === decoded ? text : Buffer.from(next).toString('base64');
}
