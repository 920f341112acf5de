import { isObject, type JsonObject } from '#base/json-tree.ts';
import { bodyArgument, type RestParameter, type RestTool } from '#definition/rest-tools/rest-tool.ts';

/** HTTP request of a call of a tool. */
export interface RestRequest {
  readonly method: string;
  /** Path below the listen path, with the query. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
  readonly contentType: string | undefined;
}

/**
 * Maps arguments to the request of the operation (OpenAPI 3.1, Parameter Object: styles). Returns the errors of the
 * arguments in place of a request: a path parameter must not change the route.
 */
export function buildRestRequest(tool: RestTool, given: JsonObject): RestRequest | { readonly errors: string[] } {
  const errors = listArgumentErrors(tool, given);
  const headers: [string, string][] = [];
  const query: string[] = [];
  const path = new Map<string, string>();
  for (const parameter of tool.parameters) {
    const value = Object.hasOwn(given, parameter.argument) ? given[parameter.argument] : undefined;
    if (value === undefined || value === null) continue;
    if (parameter.place === 'query') query.push(...formatQueryPairs(parameter, value));
    else if (parameter.place === 'header') headers.push([parameter.name, formatSimple(parameter, value)]);
    else path.set(parameter.name, formatSimple(parameter, value));
  }
  if (headers.some(([, value]) => /[^\t\x20-\x7e]/.test(value)))
    errors.push('arguments for headers must be printable ASCII');
  const target = tool.path.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const text = path.get(name) ?? '';
    if (/^\.{0,2}$/.test(text) && path.has(name)) errors.push(`${name}: must be neither empty nor a dot segment`);
    return encodeURIComponent(text);
  });
  if (errors.length > 0) return { errors };
  const body = Object.hasOwn(given, bodyArgument) ? given[bodyArgument] : undefined;
  return {
    method: tool.method,
    target: query.length > 0 ? `${target}?${query.join('&')}` : target,
    headers,
    body: body === undefined || !tool.body ? undefined : formatBody(tool.body.encoding, body),
    contentType: tool.body?.contentType,
  };
}

function listArgumentErrors({ inputSchema }: RestTool, given: JsonObject): string[] {
  const { properties, required = [] } = inputSchema as { properties: JsonObject; required?: string[] };
  return [
    ...Object.keys(given)
      .filter(name => !Object.hasOwn(properties, name))
      .map(name => `${name.slice(0, 100)}: no such argument`),
    ...required.filter(name => (given[name] ?? undefined) === undefined).map(name => `${name}: is required`),
  ].slice(0, 20);
}

const toText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));
const encode = (value: unknown): string => encodeURIComponent(toText(value));

/** Style `simple`: values separated by commas; members as `name,value` or `name=value`. */
function formatSimple({ isExploded }: RestParameter, value: unknown): string {
  if (Array.isArray(value)) return value.map(toText).join(',');
  if (!isObject(value)) return toText(value);
  return Object.entries(value)
    .map(([name, item]) => `${name}${isExploded ? '=' : ','}${toText(item)}`)
    .join(',');
}

const separators: Readonly<Record<string, string>> = { form: ',', spaceDelimited: '%20', pipeDelimited: '%7C' };

function formatQueryPairs({ name, style, isExploded }: RestParameter, value: unknown): string[] {
  const key = encodeURIComponent(name);
  const separator = separators[style] ?? ',';
  if (Array.isArray(value))
    return isExploded ? value.map(item => `${key}=${encode(item)}`) : [`${key}=${value.map(encode).join(separator)}`];
  if (!isObject(value)) return [`${key}=${encode(value)}`];
  const members = Object.entries(value);
  if (style === 'deepObject') return members.map(([member, item]) => `${key}%5B${encode(member)}%5D=${encode(item)}`);
  if (isExploded) return members.map(([member, item]) => `${encode(member)}=${encode(item)}`);
  return [`${key}=${members.flatMap(([member, item]) => [encode(member), encode(item)]).join(separator)}`];
}

function formatBody(encoding: 'json' | 'form' | 'text', body: unknown): string {
  if (encoding === 'json') return JSON.stringify(body);
  if (encoding === 'text' || !isObject(body)) return toText(body);
  const pairs = Object.entries(body).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map(item => [name, toText(item)] as [string, string]),
  );
  return new URLSearchParams(pairs).toString();
}
