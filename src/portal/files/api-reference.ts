import { parsePointerFragment } from '#base/json-pointer.ts';
import { arrayOrEmpty, getAt, isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { toSlug } from '../shapes.ts';

/** Reference of an OpenAPI 3 or Swagger 2.0 document: what its pages show. */
export interface DocumentReference {
  readonly document: JsonObject;
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Base address of a document without an API at the gateway; empty without one. */
  readonly serverUrl: string;
  readonly operations: readonly ReferenceOperation[];
}

export interface ReferenceOperation {
  /** Segment of its address. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly isDeprecated: boolean;
  readonly parameters: readonly ReferenceParameter[];
  readonly body: ReferenceBody | undefined;
  readonly responses: readonly ReferenceResponse[];
}

export interface ReferenceParameter {
  readonly name: string;
  readonly place: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly schema: JsonObject;
  readonly example: unknown;
}

export interface ReferenceBody {
  readonly mediaType: string;
  readonly schema: JsonObject;
  readonly example: unknown;
  readonly description: string;
}

export interface ReferenceResponse {
  readonly status: string;
  readonly description: string;
  readonly body: ReferenceBody | undefined;
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];
/**
 * Bounds of what pages show: many paths of a document can refer to the same part, so that the size of the document does
 * not bound them.
 */
const maxOperations = 5000;
const maxParameters = 100;
const maxResponses = 50;
const maxSummaryChars = 300;
const maxDescriptionChars = 20_000;
const maxReferenceHops = 20;
const defaultTag = 'Operations';

/** Follows local references (JSON Reference); one that leads nowhere, or to another document, is an empty object. */
export function followReference(value: unknown, document: JsonObject): JsonObject {
  let current = value;
  for (let hop = 0; hop < maxReferenceHops; hop++) {
    if (!isObject(current)) return {};
    const target = current.$ref;
    if (typeof target !== 'string') return current;
    if (!target.startsWith('#/')) return {};
    current = getAt(document, parsePointerFragment(target.slice(2)));
  }
  return {};
}

const readSummary = (value: unknown) => textOrEmpty(value).slice(0, maxSummaryChars);
const readDescription = (value: unknown) => textOrEmpty(value).slice(0, maxDescriptionChars);

/** Media type with its schema and example; JSON where there are several. */
function readContent(value: unknown, document: JsonObject, description: string): ReferenceBody | undefined {
  const entries = Object.entries(objectOrEmpty(value));
  const [mediaType, content] = entries.find(([type]) => /json/.test(type)) ?? entries[0] ?? [];
  if (mediaType === undefined) return undefined;
  const media = followReference(content, document);
  const [named] = Object.values(objectOrEmpty(media.examples));
  const example = media.example ?? followReference(named, document).value;
  return { mediaType, schema: objectOrEmpty(media.schema), example, description };
}

function readParameter(value: unknown, document: JsonObject): ReferenceParameter {
  const it = followReference(value, document);
  // Swagger 2.0 has the members of the schema in the parameter itself.
  const schema = isObject(it.schema) ? it.schema : it;
  return {
    name: textOrEmpty(it.name),
    place: textOrEmpty(it.in),
    isRequired: it.required === true || it.in === 'path',
    description: readDescription(it.description),
    schema,
    example: it.example ?? schema.example ?? schema.default,
  };
}

function readResponse(status: string, value: unknown, document: JsonObject): ReferenceResponse {
  const it = followReference(value, document);
  const description = readDescription(it.description);
  const old = isObject(it.schema)
    ? { mediaType: 'application/json', schema: it.schema, example: undefined, description: '' }
    : undefined;
  return { status, description, body: readContent(it.content, document, '') ?? old };
}

function readBody(operation: JsonObject, parameters: readonly ReferenceParameter[], document: JsonObject) {
  const body = followReference(operation.requestBody, document);
  const content = readContent(body.content, document, readDescription(body.description));
  const old = parameters.find(({ place }) => place === 'body');
  return (
    content ??
    (old && { mediaType: 'application/json', schema: old.schema, example: old.example, description: old.description })
  );
}

type OperationDetails = Omit<ReferenceOperation, 'id' | 'path'>;

function readDetails(document: JsonObject, item: JsonObject, method: string): OperationDetails {
  const operation = objectOrEmpty(item[method]);
  const parameters = [...arrayOrEmpty(item.parameters), ...arrayOrEmpty(operation.parameters)]
    .slice(0, maxParameters)
    .map(it => readParameter(it, document))
    .filter(({ name }) => name !== '');
  return {
    method: method.toUpperCase(),
    tag: readSummary(arrayOrEmpty(operation.tags)[0]) || defaultTag,
    summary: readSummary(operation.summary),
    description: readDescription(operation.description),
    isDeprecated: operation.deprecated === true,
    parameters: parameters.filter(({ place }) => place !== 'body'),
    body: readBody(operation, parameters, document),
    responses: Object.entries(objectOrEmpty(operation.responses))
      .slice(0, maxResponses)
      .map(([status, it]) => readResponse(status, it, document)),
  };
}

/** Operations of all paths. Those of an item to which several paths refer are read once. */
function readOperations(document: JsonObject): ReferenceOperation[] {
  const operations: ReferenceOperation[] = [];
  const known = new Map<unknown, OperationDetails>();
  for (const [path, value] of Object.entries(objectOrEmpty(document.paths))) {
    const item = followReference(value, document);
    for (const method of methods) {
      const operation = item[method];
      if (!isObject(operation) || operations.length >= maxOperations) continue;
      const details = known.get(operation) ?? readDetails(document, item, method);
      known.set(operation, details);
      const id = toSlug(readSummary(operation.operationId) || `${method} ${path}`) || method;
      operations.push({ ...details, id, path });
    }
  }
  return numberIds(operations);
}

/** Ids are unique: a repeated one gets a number. */
function numberIds(operations: readonly ReferenceOperation[]): ReferenceOperation[] {
  const used = new Set<string>();
  const lastNumbers = new Map<string, number>();
  return operations.map(it => {
    let id = it.id;
    let number = lastNumbers.get(it.id) ?? 1;
    while (used.has(id)) id = `${it.id}-${++number}`;
    lastNumbers.set(it.id, number);
    used.add(id);
    return { ...it, id };
  });
}

/** `servers` of OpenAPI 3, `host` and `basePath` of Swagger 2.0: http and https only. */
function readServerUrl(document: JsonObject): string {
  const url = textOrEmpty(objectOrEmpty(arrayOrEmpty(document.servers)[0]).url);
  const host = textOrEmpty(document.host);
  const text = url || (host && `https://${host}${textOrEmpty(document.basePath)}`);
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : '';
}

export function buildReference(document: JsonObject): DocumentReference {
  const info = objectOrEmpty(document.info);
  return {
    document,
    title: textOrEmpty(info.title),
    version: textOrEmpty(info.version),
    description: textOrEmpty(info.description),
    serverUrl: readServerUrl(document),
    operations: readOperations(document),
  };
}
