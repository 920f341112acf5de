import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { type Converted, createWarnings, type Warnings } from './converted.ts';
import { toPostmanBody, toPostmanResponses } from './postman-bodies.ts';
import { createTextProblem } from './problems.ts';
import { toRecordedDocument } from './recorded-document.ts';
import {
  createRequestsProblem,
  decodeSegment,
  maxRecordedRequests,
  type NameValue,
  type RecordedRequest,
  type RecordedSecurity,
} from './recorded-request.ts';

const maxFolderDepth = 20;
/** Names of folders and of keys, which all requests of a folder have in common. */
const maxSharedNameLength = 200;
const maxAuthParameters = 100;
/** Variables may hold variables: depth, and the lengths of a value and of a URL, bound what they expand to. */
const maxVariableDepth = 5;
const maxVariableLength = 500;
const maxUrlLength = 2000;

const toText = (value: unknown) => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');
/** Descriptions are texts, or objects with the text in `content`. */
const toDescription = (value: unknown) => toText(isObject(value) ? value.content : value) || undefined;

interface Collection {
  readonly variables: ReadonlyMap<string, string>;
  readonly warnings: Warnings;
  readonly requests: RecordedRequest[];
}

/** Converts a Postman collection of version 2.0 or 2.1. Values are not copied: they may be secrets. */
export function convertPostman(source: JsonObject): Converted {
  const document = isObject(source.collection) ? source.collection : source;
  const info = objectOrEmpty(document.info);
  if (!Array.isArray(document.item))
    throw createTextProblem('it is no Postman collection of version 2: item must be a list');
  const warnings = createWarnings();
  const collection: Collection = { variables: readVariables(document.variable), warnings, requests: [] };
  addItems(collection, document.item, { depth: 0, auth: document.auth, tag: undefined });
  if (document.event !== undefined) warnings.add('scripts are not converted');
  if (collection.requests.length === 0) throw createTextProblem('the collection has no request');
  return toRecordedDocument(collection.requests, { title: toText(info.name) || 'Collection', warnings });
}

const readVariables = (variables: unknown): ReadonlyMap<string, string> =>
  new Map(
    arrayOrEmpty(variables)
      .filter(isObject)
      .map(({ key, id, value }) => [toText(key) || toText(id), toText(value)] as const)
      .filter(([, value]) => value.length <= maxVariableLength),
  );

interface Folder {
  readonly depth: number;
  readonly auth: unknown;
  readonly tag: string | undefined;
}

function addItems(collection: Collection, items: unknown, { depth, auth, tag }: Folder): void {
  if (depth > maxFolderDepth) throw createTextProblem(`folders are nested deeper than ${maxFolderDepth}`);
  for (const item of arrayOrEmpty(items).filter(isObject)) {
    const name = toText(item.name);
    if (item.event !== undefined) collection.warnings.add('scripts are not converted');
    if (Array.isArray(item.item))
      addItems(collection, item.item, {
        depth: depth + 1,
        auth: item.auth ?? auth,
        tag: tag ?? name.slice(0, maxSharedNameLength),
      });
    else addRequest(collection, item, { auth, tag });
    if (collection.requests.length > maxRecordedRequests) throw createRequestsProblem();
  }
}

function addRequest(collection: Collection, item: JsonObject, { auth, tag }: Omit<Folder, 'depth'>): void {
  const request = typeof item.request === 'string' ? { url: item.request } : objectOrEmpty(item.request);
  const url = readUrl(collection, request.url);
  const name = toText(item.name);
  if (!url) return collection.warnings.add(`the request ${name} is left out: it has no URL, or a long one`);
  collection.requests.push({
    ...url,
    method: toText(request.method) || 'GET',
    headers: readPairs(request.header),
    body: toPostmanBody(request.body),
    responses: toPostmanResponses(item.response),
    summary: name || undefined,
    description: toDescription(request.description),
    tag,
    security: toSecurity(request.auth ?? auth, collection.warnings),
  });
}

const readPairs = (value: unknown): NameValue[] =>
  arrayOrEmpty(value)
    .filter(isObject)
    .filter(({ disabled }) => disabled !== true)
    .map(({ key, value: text }) => ({ name: toText(key), value: toText(text) }))
    .filter(({ name }) => name !== '');

const variablePattern = /\{\{([^{}]{1,200})\}\}/g;

function resolveVariables({ variables }: Collection, text: string): string {
  let resolved = text;
  for (let depth = 0; depth < maxVariableDepth && resolved.length <= maxUrlLength; depth += 1)
    resolved = resolved.replaceAll(variablePattern, (whole, name: string) => variables.get(name.trim()) || whole);
  return resolved;
}

type RecordedUrl = Pick<RecordedRequest, 'origin' | 'segments' | 'query'>;

/** URL as a text, or in parts; the text counts where there is one. */
function readUrl(collection: Collection, url: unknown): RecordedUrl | undefined {
  const parts = objectOrEmpty(url);
  const raw = typeof url === 'string' ? url : toText(parts.raw) || joinParts(parts);
  if (raw === '') return undefined;
  const resolved = resolveVariables(collection, raw);
  if (resolved.length > maxUrlLength) return undefined;
  const [beforeFragment = ''] = resolved.split('#', 1);
  const [address = '', search = ''] = splitOnce(beforeFragment, '?');
  const [, scheme, host = '', path = ''] = /^(?:(https?):\/\/)?([^/]*)(\/.*)?$/is.exec(address) ?? [];
  const origin = toOrigin(scheme ?? 'http', host);
  if (origin === undefined) collection.warnings.add(`the host ${host} is not known: set the upstream`);
  const listed = readPairs(parts.query);
  const query = listed.length > 0 ? listed : [...new URLSearchParams(search)].map(([name, value]) => ({ name, value }));
  return { origin, segments: path.split('/').slice(1).map(toSegment), query };
}

const splitOnce = (text: string, separator: string): [string, string] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};

function joinParts({ protocol, host, port, path }: JsonObject): string {
  const hostText = Array.isArray(host) ? host.map(toText).join('.') : toText(host);
  if (hostText === '') return '';
  const pathText = Array.isArray(path)
    ? `/${path.map(it => toText(isObject(it) ? it.value : it)).join('/')}`
    : toText(path);
  const portText = toText(port) && `:${toText(port)}`;
  return `${toText(protocol) || 'http'}://${hostText}${portText}${pathText}`;
}

/** Undefined where a variable is left in the host. */
function toOrigin(scheme: string, host: string): string | undefined {
  const text = `${scheme}://${host}`;
  return host === '' || host.includes('{') || !URL.canParse(text) ? undefined : new URL(text).origin;
}

/** `:id` and `{{id}}` are parameters of the path. */
function toSegment(segment: string): string {
  const [, named] = /^:([^/]{1,100})$/.exec(segment) ?? /^\{\{([^{}]{1,100})\}\}$/.exec(segment) ?? [];
  return named === undefined ? decodeSegment(segment) : `{${named.trim().replaceAll(/[{}/]/g, '')}}`;
}

/** Parameters of an authentication: a list of pairs in version 2.1, an object in 2.0. */
const readAuthParameter = (parameters: unknown, name: string): string => {
  if (isObject(parameters)) return toText(parameters[name]);
  const found = arrayOrEmpty(parameters)
    .slice(0, maxAuthParameters)
    .find(it => isObject(it) && it.key === name);
  return toText(objectOrEmpty(found).value);
};

function toSecurity(auth: unknown, warnings: Warnings): RecordedSecurity | undefined {
  if (!isObject(auth)) return undefined;
  const { type } = auth;
  if (type === 'noauth') return { kind: 'none' };
  if (type === 'basic') return { kind: 'basic' };
  if (type === 'bearer' || type === 'oauth2' || type === 'jwt') {
    if (type !== 'bearer')
      warnings.add(`the authentication ${type} became a bearer token: configure its source in the API`);
    return { kind: 'bearer' };
  }
  if (type === 'apikey') {
    const place = readAuthParameter(auth.apikey, 'in') === 'query' ? 'query' : 'header';
    const name = readAuthParameter(auth.apikey, 'key') || 'X-Api-Key';
    if (name.length <= maxSharedNameLength) return { kind: 'apiKey', in: place, name };
  }
  warnings.add(`the authentication ${toText(type).slice(0, 40)} is not converted`);
  return undefined;
}
