import { isObject, type JsonObject } from '#base/json-tree.ts';
import type { ReferenceOperation, ReferenceParameter } from '../../files/api-reference.ts';
import type { SiteFields } from '../page.ts';
import { problem } from '../problems.ts';

/** A call as the form of an operation describes it. */
export interface TryRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface TryFields {
  /** Value of a field of the form. */
  readonly read: (name: string) => string;
  /** Address of the API at its gateway. */
  readonly base: string;
  /** Why a header is not sent; undefined where it is. */
  readonly findFault: (name: string, value: string) => string | undefined;
  /** Header of the chosen credential, in lower case; empty without one. */
  readonly credentialHeader: string;
}

const maxOwnHeaders = 20;
const methodsWithoutBody = new Set(['GET', 'HEAD']);
const dotSegmentPattern = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/;

export const refuseTry = (reason: string) => problem.try_invalid({ detail: { reason } });

/** Name of the field of a parameter. */
export const toParameterField = ({ place, name }: Pick<ReferenceParameter, 'place' | 'name'>): string =>
  `${place}:${name}`;

/** Parameters that a visitor can fill in: cookies are not sent. */
export const listTryParameters = ({ parameters }: Pick<ReferenceOperation, 'parameters'>): ReferenceParameter[] =>
  parameters.filter(({ place }) => ['path', 'query', 'header'].includes(place));

export function buildTryRequest(
  operation: Pick<ReferenceOperation, 'method' | 'path' | 'parameters' | 'body'>,
  fields: TryFields,
): TryRequest {
  const body = methodsWithoutBody.has(operation.method) ? '' : fields.read('body');
  const headers = readHeaders(operation, fields);
  if (body !== '' && headers['content-type'] === undefined)
    headers['content-type'] = operation.body?.mediaType ?? 'application/json';
  return { method: operation.method, url: buildUrl(operation, fields), headers, body };
}

function readValue(parameter: ReferenceParameter, { read }: TryFields): string {
  const value = read(toParameterField(parameter));
  if (value === '' && parameter.isRequired) throw refuseTry(`${parameter.name} is missing`);
  return value;
}

/** The address is below that of the API: a value is one path segment at most, and never leads up. */
function buildUrl({ path, parameters }: Pick<ReferenceOperation, 'path' | 'parameters'>, fields: TryFields): URL {
  const filled = path.replaceAll(/\{([^{}]{1,200})\}/g, (whole, name: string) => {
    const parameter = parameters.find(it => it.place === 'path' && it.name === name);
    const value = parameter ? readValue(parameter, fields) : whole;
    if (dotSegmentPattern.test(value)) throw refuseTry(`${name} must not contain the path segments . or ..`);
    return encodeURIComponent(value);
  });
  const query = parameters
    .filter(({ place }) => place === 'query')
    .map(it => [it.name, readValue(it, fields)] as const)
    .filter(([, value]) => value !== '');
  const base = new URL(fields.base.replace(/\/$/, ''));
  const url = URL.parse(base.href.replace(/\/$/, '') + filled);
  const isInside = url?.origin === base.origin && `${url.pathname}/`.startsWith(`${base.pathname.replace(/\/$/, '')}/`);
  if (!url || !isInside) throw refuseTry('The path of this operation leads out of its API');
  for (const [name, value] of query) url.searchParams.append(name, value);
  url.hash = '';
  return url;
}

/** Header parameters, and lines of the form `Name: value`. */
function readHeaders(operation: Pick<ReferenceOperation, 'parameters'>, fields: TryFields): Record<string, string> {
  const ofParameters = operation.parameters
    .filter(({ place }) => place === 'header')
    .map(it => [it.name, readValue(it, fields)] as const)
    .filter(([, value]) => value !== '');
  const lines = fields
    .read('headers')
    .split(/\r\n|\n/)
    .filter(line => line.trim() !== '');
  if (lines.length > maxOwnHeaders) throw refuseTry(`There may be at most ${maxOwnHeaders} headers`);
  const headers: Record<string, string> = {};
  for (const [name, value] of [...ofParameters, ...lines.map(parseLine)]) {
    const lower = name.toLowerCase();
    const fault = findTryFault(lower, value, fields);
    if (fault !== undefined) throw refuseTry(`The header ${name} ${fault}`);
    if (Object.hasOwn(headers, lower)) throw refuseTry(`The header ${name} is given twice`);
    headers[lower] = value;
  }
  return headers;
}

function parseLine(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  if (colon < 1) throw refuseTry('A header is a line like X-Name: value');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

function findTryFault(lower: string, value: string, { findFault, credentialHeader }: TryFields): string | undefined {
  if (lower === 'cookie' || lower === 'cookie2') return 'is not forwarded';
  if (lower === credentialHeader) return 'is set by the credential that you have chosen';
  return findFault(lower, value);
}

/** Form of a GraphQL query: its body is query and variables as JSON. */
export const toGraphqlBody =
  (form: SiteFields): SiteFields =>
  name =>
    name === 'body'
      ? JSON.stringify({ query: form('query'), variables: parseVariables(form('variables')) })
      : form(name);

function parseVariables(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parseJsonText(text);
  if (!isObject(value)) throw refuseTry('The variables must be a JSON object');
  return value;
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuseTry('The variables are not JSON');
  }
}
