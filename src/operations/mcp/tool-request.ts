import { closestMatch } from '#base/closest-match.ts';
import type { Json } from '#base/json.ts';
import { isObject } from '#base/json-tree.ts';
import type { JsonMembers } from '#base/mcp-server/protocol.ts';
import { createInvalidProblem, type ValidationError } from '../validation-error.ts';
import type { OperationTool } from './operation-tools.ts';

/** HTTP request of an operation. */
export interface ToolRequest {
  readonly method: OperationTool['operation']['method'];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string;
}

/**
 * Maps arguments to the request of the operation. A path parameter must not change the route: an empty one would give
 * the path of another operation, and URL parsers resolve `.` and `..`.
 */
export function buildToolRequest(tool: OperationTool, given: JsonMembers): ToolRequest {
  const { operation, places } = tool;
  const { body, ...values } = given;
  const errors: ValidationError[] = [];
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  const path = new Map<string, string>();
  for (const [name, value] of Object.entries(values)) {
    const place = places.get(name);
    const texts = listTexts(value);
    if (value === null) continue;
    if (!place) errors.push({ path: name, message: describeUnknownArgument(name, tool, errors.length) });
    else if (!texts) errors.push({ path: name, message: 'must be a text, a number or a boolean' });
    else if (place === 'query') for (const text of texts) query.append(name, text);
    else if (place === 'header') headers[name] = texts.join(', ');
    else path.set(name, texts.join(','));
  }
  if (body !== undefined && !operation.body) errors.push({ path: 'body', message: 'no such argument' });
  if (typeof body === 'string' && operation.body && !isText(operation.accepts))
    errors.push({ path: 'body', message: 'must be the value itself, not its JSON text' });
  const url = operation.path.replaceAll(/\{([\w-]+)\}/g, (_whole, name: string) => {
    const segments = operation.matchesRest ? (path.get(name) ?? '').split('/') : [path.get(name) ?? ''];
    if (segments.some(segment => /^\.{0,2}$/.test(segment)))
      errors.push({ path: name, message: path.has(name) ? 'must be neither empty nor a dot segment' : 'is required' });
    return segments.map(encodeURIComponent).join('/');
  });
  if (Object.values(headers).some(text => /[^\x20-\x7e]/.test(text)))
    errors.push({ path: '', message: 'arguments for headers must be printable ASCII' });
  if (errors.length > 0) throw createInvalidProblem(errors);
  const type = toContentType(operation.accepts);
  const method = operation.method;
  const target = query.size > 0 ? `${url}?${query}` : url;
  if (body === undefined) return { method, url: target, headers };
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  return { method, url: target, headers: { ...headers, 'content-type': type }, payload };
}

/** Longer names, and those behind as many errors, are compared with no others: each comparison takes time. */
const maxComparedLength = 64;
const maxComparedNames = 10;

/** `; did you mean gw_list_apis?`; empty where no name is close. */
export function suggestToolName(name: string, known: Iterable<string>): string {
  const nearest = name.length > maxComparedLength ? undefined : closestMatch(name, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/** A member of the body at the top is the most frequent mistake of agents. */
function describeUnknownArgument(name: string, { inputSchema, places }: OperationTool, errorCount: number): string {
  const message = 'no such argument';
  const { body } = inputSchema.properties as JsonMembers;
  if (isObject(body) && isObject(body.properties) && Object.hasOwn(body.properties, name))
    return `${message}; did you mean body.${name}?`;
  return errorCount < maxComparedNames ? message + suggestToolName(name, places.keys()) : message;
}

function listTexts(value: Json): string[] | undefined {
  const items = Array.isArray(value) ? value : [value];
  return items.some(item => item === null || isObject(item) || Array.isArray(item)) ? undefined : items.map(String);
}

type Accepts = OperationTool['operation']['accepts'];
const isText = (accepts: Accepts) => accepts === 'text' || accepts === 'upload';

function toContentType(accepts: Accepts): string {
  if (typeof accepts === 'object') return accepts.only[0]!;
  return isText(accepts) ? 'text/plain' : 'application/json';
}
