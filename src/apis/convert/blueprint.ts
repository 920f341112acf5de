import type { JsonObject } from '#base/json-tree.ts';
import { createLineProblem, shorten } from './blueprint-lines.ts';
import type { BlueprintParameter } from './blueprint-parameters.ts';
import { type Blueprint, type BlueprintAction, parseBlueprint } from './blueprint-parser.ts';
import type { BlueprintPayload } from './blueprint-payloads.ts';
import { parseUri, type UriParameter } from './blueprint-uri.ts';
import { type Converted, createWarnings, type Warnings } from './converted.ts';
import { createTextProblem } from './problems.ts';

/** Methods of OpenAPI 3.0. */
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** Parameters of all operations. */
const maxParameters = 10_000;
/** Headers that OpenAPI describes elsewhere. */
const unlistedHeaders = ['accept', 'authorization', 'content-type'];

interface Writing {
  readonly blueprint: Blueprint;
  readonly warnings: Warnings;
  /** Characters that copies of models may still have: one model may stand for many responses. */
  modelBudget: number;
  parameterCount: number;
}

/** Converts an API Blueprint (FORMAT: 1A) to OpenAPI 3.0. Data structures (MSON) are not converted. */
export function convertBlueprint(text: string, maxBytes: number): Converted {
  const warnings = createWarnings();
  const blueprint = parseBlueprint(text, { warnings, maxBytes });
  if (blueprint.actions.length === 0) throw createTextProblem('it has no action, such as ### Read [GET]');
  const writing: Writing = { blueprint, warnings, modelBudget: maxBytes, parameterCount: 0 };
  const paths = new Map<string, Map<string, JsonObject>>();
  for (const action of blueprint.actions) addAction(writing, paths, action);
  const { title, description, host } = blueprint;
  if (!/^https?:\/\//i.test(host)) warnings.add('the document has no HOST with http or https: set the upstream');
  const document = {
    openapi: '3.0.3',
    info: { title, ...(description && { description }), version: '1.0.0' },
    ...(/^https?:\/\//i.test(host) && { servers: [{ url: host }] }),
    paths: Object.fromEntries([...paths].map(([path, operations]) => [path, Object.fromEntries(operations)])),
  };
  return { kind: 'openapi', document, warnings: warnings.list() };
}

function addAction(writing: Writing, paths: Map<string, Map<string, JsonObject>>, action: BlueprintAction): void {
  const { warnings } = writing;
  const method = action.method.toLowerCase();
  const { path, parameters } = parseUri(action.uri, action.number, warnings);
  if (!methods.includes(method))
    return warnings.add(`line ${action.number}: ${action.method} is left out: OpenAPI has no such method`);
  const operations = paths.get(path) ?? new Map<string, JsonObject>();
  paths.set(path, operations);
  if (operations.has(method))
    return warnings.add(`line ${action.number}: another ${action.method} ${shorten(path)} is left out`);
  operations.set(method, toOperation(writing, action, parameters));
}

function toOperation(writing: Writing, action: BlueprintAction, inUri: readonly UriParameter[]): JsonObject {
  const requests = action.requests.map(request => resolveModel(writing, request));
  const responses = action.responses.map(response => resolveModel(writing, response));
  const parameters = [...toParameters(writing, action, inUri), ...toHeaderParameters(requests)];
  writing.parameterCount += parameters.length;
  if (writing.parameterCount > maxParameters) throw createTextProblem(`it has more than ${maxParameters} parameters`);
  const content = toContent(requests);
  return {
    ...(action.name && { summary: action.name }),
    ...(action.description && { description: action.description }),
    ...(action.group && { tags: [action.group] }),
    ...(parameters.length > 0 && { parameters }),
    ...(Object.keys(content).length > 0 && { requestBody: { content } }),
    responses: toResponses(responses),
  };
}

/** A payload whose body is `[Name][]` has the content of that model. */
function resolveModel(writing: Writing, payload: BlueprintPayload): BlueprintPayload {
  if (payload.model === undefined) return payload;
  const model = writing.blueprint.models.get(payload.model);
  if (!model || model.model !== undefined)
    throw createLineProblem(payload.number, `the model ${shorten(payload.model)} is unknown`);
  writing.modelBudget -= JSON.stringify([model.body, model.schema, model.headers]).length;
  if (writing.modelBudget < 0) throw createLineProblem(payload.number, 'the models are used too often');
  const { mediaType, headers, body, schema } = model;
  return {
    ...payload,
    mediaType: payload.mediaType || mediaType,
    headers: [...payload.headers, ...headers],
    body,
    schema,
  };
}

function toParameters({ warnings }: Writing, action: BlueprintAction, inUri: readonly UriParameter[]): JsonObject[] {
  const described = new Map(action.parameters.map(parameter => [parameter.name, parameter]));
  for (const { name, number } of action.parameters)
    if (!inUri.some(it => it.name === name))
      warnings.add(`line ${number}: the parameter ${shorten(name)} is not in the URI; it is left out`);
  return inUri.map(place => toParameter(place, described.get(place.name)));
}

function toParameter({ name, in: place, isList }: UriParameter, described: BlueprintParameter | undefined): JsonObject {
  const own = described?.schema ?? { type: 'string' };
  const schema = isList && own.type !== 'array' ? { type: 'array', items: own } : own;
  return {
    name,
    in: place,
    required: place === 'path' || described?.isRequired === true,
    ...(described?.description && { description: described.description }),
    schema,
    ...(described?.example !== undefined && !isList && { example: described.example }),
  };
}

const listHeaders = (payloads: readonly BlueprintPayload[]) => [
  ...new Map(payloads.flatMap(({ headers }) => headers).map(([name, value]) => [name.toLowerCase(), { name, value }])),
];

const toHeaderParameters = (requests: readonly BlueprintPayload[]): JsonObject[] =>
  listHeaders(requests)
    .filter(([lower]) => !unlistedHeaders.includes(lower))
    .map(([, { name, value }]) => ({
      name,
      in: 'header',
      required: false,
      schema: { type: 'string' },
      ...(value && { example: value }),
    }));

function toResponses(responses: readonly BlueprintPayload[]): JsonObject {
  if (responses.length === 0) return { default: { description: 'Response' } };
  const byStatus = Map.groupBy(responses, ({ name }) => name || '200');
  return Object.fromEntries([...byStatus].map(([status, payloads]) => [status, toResponse(status, payloads)]));
}

function toResponse(status: string, payloads: readonly BlueprintPayload[]): JsonObject {
  const headers = listHeaders(payloads).map(([, { name, value }]) => [
    name,
    { schema: { type: 'string' }, ...(value && { example: value }) },
  ]);
  const content = toContent(payloads);
  return {
    description: payloads.find(({ description }) => description !== '')?.description ?? `Status ${status}`,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) as JsonObject }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}

/** Content by media type: the first schema, and one example or all with their names. */
function toContent(payloads: readonly BlueprintPayload[]): JsonObject {
  const typed = payloads.filter(({ mediaType }) => mediaType !== '');
  return Object.fromEntries(
    [...Map.groupBy(typed, ({ mediaType }) => mediaType)].map(([type, same]) => {
      const schema = same.find(it => it.schema)?.schema;
      return [type, { ...(schema && { schema }), ...toExamples(same.filter(({ body }) => body !== undefined)) }];
    }),
  );
}

function toExamples(payloads: readonly BlueprintPayload[]): JsonObject {
  if (payloads.length <= 1) return payloads.length === 0 ? {} : { example: payloads[0]!.body };
  const examples = payloads.map(({ name, body }, index) => {
    const isNamed = name !== '' && payloads.findIndex(it => it.name === name) === index;
    return [isNamed && !/^\d{3}$/.test(name) ? name : `example-${index + 1}`, { value: body }];
  });
  return { examples: Object.fromEntries(examples) as JsonObject };
}
