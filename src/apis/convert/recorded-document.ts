import type { JsonObject } from '#base/json-tree.ts';
import { type Converted, createWarnings, type Warnings } from './converted.ts';
import { inferTextSchema, mergeSchemas } from './infer-schema.ts';
import { createTextProblem } from './problems.ts';
import { toContent } from './recorded-content.ts';
import { toTemplatedPath } from './recorded-paths.ts';
import type { RecordedRequest } from './recorded-request.ts';
import { createSecuritySchemes, isCredentialName, type SecuritySchemes } from './recorded-security.ts';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Headers that clients, browsers and proxies set: no parameters of the API. */
const transportHeaders = new Set(
  (
    'accept accept-charset accept-encoding accept-language authorization cache-control connection content-length ' +
    'content-type cookie date dnt expect forwarded host if-modified-since if-none-match keep-alive origin pragma ' +
    'priority proxy-authorization referer te trailer transfer-encoding upgrade upgrade-insecure-requests user-agent via'
  ).split(' '),
);
const isTransportHeader = (name: string) =>
  transportHeaders.has(name) || /^(:|sec-|x-forwarded-|postman-token$)/.test(name);

/** Parameters of all operations of a document: few characters of a path or query can make one. */
const maxParameters = 100_000;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  schema: JsonObject;
}

interface Recording {
  readonly paths: Map<string, Map<string, RecordedOperation>>;
  readonly schemes: SecuritySchemes;
  readonly warnings: Warnings;
  parameterCount: number;
}

interface RecordedOperation {
  readonly parameters: Map<string, Parameter>;
  readonly requestContent: Map<string, JsonObject>;
  readonly responses: Map<string, { description: string; content: Map<string, JsonObject> }>;
  readonly names: Pick<RecordedRequest, 'summary' | 'description' | 'tag'>;
  security: JsonObject[] | undefined;
}

export interface RecordingOptions {
  readonly title: string;
  readonly version?: string;
  readonly warnings?: Warnings;
}

/** OpenAPI document of recorded requests: one operation per method and path, with the types of what was sent. */
export function toRecordedDocument(
  requests: readonly RecordedRequest[],
  { title, version = '1.0.0', warnings = createWarnings() }: RecordingOptions,
): Converted {
  const origin = findMainOrigin(requests, warnings);
  const recording: Recording = { paths: new Map(), schemes: createSecuritySchemes(), warnings, parameterCount: 0 };
  for (const request of requests)
    if (request.origin === undefined || request.origin === origin) addRequest(recording, request);
  const securitySchemes = recording.schemes.list();
  const document = {
    openapi: '3.0.3',
    info: { title, version },
    ...(origin !== undefined && { servers: [{ url: origin }] }),
    paths: Object.fromEntries([...recording.paths].map(([path, operations]) => [path, toPathItem(operations)])),
    ...(Object.keys(securitySchemes).length > 0 && { components: { securitySchemes } }),
  };
  return { kind: 'openapi', document, warnings: warnings.list() };
}

/** Origin of most requests: an API has one upstream. */
function findMainOrigin(requests: readonly RecordedRequest[], warnings: Warnings): string | undefined {
  const counts = new Map<string, number>();
  for (const { origin } of requests) if (origin !== undefined) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  const [main, ...others] = [...counts].sort(([, a], [, b]) => b - a);
  for (const [origin, count] of others)
    warnings.add(`left out, as an API has one upstream, here ${main![0]}: requests to ${origin} (${count})`);
  if (!main) warnings.add('no request has a host: set the upstream');
  return main?.[0];
}

function addRequest(recording: Recording, request: RecordedRequest): void {
  const { paths, schemes, warnings } = recording;
  const method = request.method.toLowerCase();
  if (!methods.includes(method))
    return warnings.add(`${request.method} requests are left out: OpenAPI has no such method`);
  const { path, parameters } = toTemplatedPath(request.segments, warnings);
  const operations = paths.get(path) ?? new Map<string, RecordedOperation>();
  paths.set(path, operations);
  const operation = operations.get(method) ?? createOperation(request);
  operations.set(method, operation);
  const add = (parameter: Parameter) => addParameter(recording, operation, parameter);
  for (const { name, isNumber } of parameters)
    add({ name, in: 'path', required: true, schema: { type: isNumber ? 'integer' : 'string' } });
  for (const { name, value } of request.query)
    if (!isCredentialName(name)) add({ name, in: 'query', required: false, schema: inferTextSchema(value) });
  for (const { name } of request.headers) {
    const lower = name.toLowerCase();
    if (isTransportHeader(lower) || isCredentialName(lower)) continue;
    add({ name, in: 'header', required: false, schema: { type: 'string' } });
  }
  operation.security ??= schemes.add(request);
  if (request.body) addContent(operation.requestContent, toContent(request.body, warnings));
  for (const response of request.responses ?? []) {
    const status = String(response.status);
    const known = operation.responses.get(status) ?? {
      description: response.name || `Status ${status}`,
      content: new Map(),
    };
    operation.responses.set(status, known);
    if (response.mediaType) addContent(known.content, toContent(response, warnings));
  }
}

const createOperation = ({ summary, description, tag }: RecordedRequest): RecordedOperation => ({
  parameters: new Map(),
  requestContent: new Map(),
  responses: new Map(),
  names: { summary, description, tag },
  security: undefined,
});

function addParameter(recording: Recording, { parameters }: RecordedOperation, added: Parameter): void {
  const id = `${added.in} ${added.in === 'header' ? added.name.toLowerCase() : added.name}`;
  const known = parameters.get(id);
  if (known) {
    known.schema = mergeParameterSchemas(known.schema, added.schema);
    return;
  }
  recording.parameterCount += 1;
  if (recording.parameterCount > maxParameters) throw createTextProblem(`it has more than ${maxParameters} parameters`);
  parameters.set(id, added);
}

/** Every value of a URL is a text, so two types are one text. */
const mergeParameterSchemas = (a: JsonObject, b: JsonObject): JsonObject => {
  const merged = mergeSchemas(a, b);
  return merged.type === undefined ? { type: 'string' } : merged;
};

function addContent(content: Map<string, JsonObject>, [mediaType, schema]: readonly [string, JsonObject]): void {
  const known = content.get(mediaType);
  content.set(mediaType, known ? mergeSchemas(known, schema) : schema);
}

const toPathItem = (operations: ReadonlyMap<string, RecordedOperation>): JsonObject =>
  Object.fromEntries([...operations].map(([method, operation]) => [method, toOperation(operation)]));

const toContentObject = (content: ReadonlyMap<string, JsonObject>): JsonObject =>
  Object.fromEntries([...content].map(([mediaType, schema]) => [mediaType, { schema }]));

function toOperation({ names, parameters, requestContent, responses, security }: RecordedOperation): JsonObject {
  const { summary, description, tag } = names;
  const described = [...responses].map(
    ([status, { description: text, content }]) =>
      [status, { description: text, ...(content.size > 0 && { content: toContentObject(content) }) }] as const,
  );
  return {
    ...(tag && { tags: [tag] }),
    ...(summary && { summary }),
    ...(description && { description }),
    ...(parameters.size > 0 && { parameters: [...parameters.values()] }),
    ...(requestContent.size > 0 && { requestBody: { content: toContentObject(requestContent) } }),
    responses: described.length > 0 ? Object.fromEntries(described) : { default: { description: 'Any response' } },
    ...(security && { security }),
  };
}
