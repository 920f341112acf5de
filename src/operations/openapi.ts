import { z } from 'zod';
import type { Json } from '#base/json.ts';
import { publishMembers } from '#base/members-schema.ts';
import { isRevised } from '#storage/revision-log.ts';
import { buildExample } from './body-example.ts';
import { changeNoteAbout, changeNoteHeader } from './change-note.ts';
import { csvType } from './csv.ts';
import { type AnyOperation, type BodyKind, isMutation, listPermissions } from './operation.ts';
import { problem } from './problems.ts';
import { ndjsonType } from './success-response.ts';
import { type SurfaceName, surfaces } from './surfaces.ts';

type JsonObject = { [name: string]: Json };

/** OpenAPI 3.1 document generated from operation declarations. */
export function buildOpenApi(
  operations: readonly AnyOperation[],
  names: readonly SurfaceName[],
  version: string,
): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const it of operations) {
    paths[it.path] = { ...paths[it.path], [it.method.toLowerCase()]: describeOperation(it) };
  }
  const schemes = names.flatMap(toSecuritySchemes);
  return {
    openapi: '3.1.0',
    info: { title: `Gatewright: ${names.map(name => surfaces[name].title).join(', ')}`, version },
    paths,
    components: {
      schemas: Object.fromEntries(names.map(name => [errorSchemaName(name), toErrorSchema(name)])),
      securitySchemes: Object.fromEntries(schemes) as JsonObject,
    },
  };
}

const errorSchemaName = (name: SurfaceName) => `${name}_error`;

/** Schema of the error envelope of a surface, from a rendered error. */
function toErrorSchema(name: SurfaceName): JsonObject {
  const rendered = surfaces[name].render('message') as JsonObject;
  const toMember = (value: Json): JsonObject => {
    if (Array.isArray(value)) return { type: 'array', items: { type: 'string' } };
    return value === null ? {} : { type: 'string' };
  };
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(rendered).map(([member, value]) => [member, toMember(value)])),
    required: Object.keys(rendered),
  };
}

const sessionScheme = (name: SurfaceName) => `${name}_session`;

function toSecuritySchemes(name: SurfaceName): [string, JsonObject][] {
  const { credentialHeader, sessionCookie, about, prefix } = surfaces[name];
  const header = { type: 'apiKey', in: 'header', name: credentialHeader, description: about };
  if (!sessionCookie) return [[name, header]];
  const description = `Browser session; writes also need csrf_token of GET ${prefix}/session in X-CSRF-Token.`;
  return [
    [name, header],
    [sessionScheme(name), { type: 'apiKey', in: 'cookie', name: sessionCookie, description }],
  ];
}

/** Alternatives (OpenAPI 3.1, Security Requirement Object); none for a public operation. */
function toSecurity({ permission, surface }: AnyOperation): JsonObject[] {
  if (permission === 'public') return [];
  return [{ [surface]: [] }, ...(surfaces[surface].sessionCookie ? [{ [sessionScheme(surface)]: [] }] : [])];
}

/** Operation Object (OpenAPI 3.1). */
export function describeOperation(it: AnyOperation): JsonObject {
  const success = {
    description: 'Success',
    ...toSuccessHeaders(it),
    content: {
      ...toResponseContent(it),
      ...(it.toCsv ? { [csvType]: { schema: { type: 'string' } } } : {}),
      ...(it.toNdjson ? { [ndjsonType]: { schema: { type: 'string' } } } : {}),
    },
  };
  return {
    operationId: it.name,
    tags: [it.noun],
    summary: it.about,
    security: toSecurity(it),
    parameters: [
      ...toPathParameters(it),
      ...toParameters(it.query, 'query'),
      ...toWaitParameter(it),
      ...toHeaderParameters(it),
    ],
    ...(it.body
      ? { requestBody: { required: true, content: toBodyContent(it.accepts ?? 'json', describeBody(it)) } }
      : {}),
    responses: { [String(it.status ?? 200)]: success, ...toFailureResponses(it) },
    'x-gw-permission': listPermissions(it).join(', '),
  };
}

const documentTypes = ['application/json', 'application/yaml'];

const fileForm: JsonObject = {
  'multipart/form-data': { schema: { type: 'object', properties: { file: { type: 'string', format: 'binary' } } } },
};

/** Example of the request body: the declared one, or one that is built from the schema. */
export const buildBodyExample = (
  { body, example }: Pick<AnyOperation, 'body' | 'example'>,
  schema = toJsonSchema(body!, 'input', publishMembers),
): Json => example ?? buildExample(schema);

function describeBody(it: AnyOperation): JsonObject {
  const schema = toJsonSchema(it.body!, 'input', publishMembers);
  return { schema: addEnvelope(schema, it.envelope), example: buildBodyExample(it, schema) };
}

function toBodyContent(kind: BodyKind, described: JsonObject): JsonObject {
  if (kind === 'text') return { 'text/plain': { schema: { type: 'string' } } };
  if (kind === 'upload') return fileForm;
  if (kind === 'form') return { 'application/x-www-form-urlencoded': described };
  const types = typeof kind === 'object' ? kind.only : kind === 'document' ? documentTypes : ['application/json'];
  const plain = Object.fromEntries(types.map(type => [type, described]));
  return kind === 'document' ? { ...plain, ...fileForm } : plain;
}

const listResponseTypes = ({ produces = 'application/json', offersYaml }: AnyOperation): string[] =>
  offersYaml ? [produces, 'application/yaml'] : [produces];

function toResponseContent(it: AnyOperation): JsonObject {
  const fileTypes = it.producesFile ?? it.streamsFile;
  const types = fileTypes ?? listResponseTypes(it);
  const schema = fileTypes ? { type: 'string', format: 'binary' } : toJsonSchema(it.returns, 'output');
  return Object.fromEntries(types.map(type => [type, { schema }]));
}

/** OpenAPI ignores header parameters named Accept, Content-Type and Authorization (3.1, Parameter Object). */
const toHeaderParameters = (it: AnyOperation): JsonObject[] =>
  Object.entries({ ...it.headers, ...listConditions(it), ...listRepetition(it), ...listNote(it) })
    .filter(([name]) => name !== 'content-type')
    .map(([name, description]) => ({ name, in: 'header', required: false, description, schema: { type: 'string' } }));

/** Headers of conditional requests (RFC 9110, 13.1). */
function listConditions(it: AnyOperation): Readonly<Record<string, string>> {
  if (!it.versioned) return {};
  const ifMatch = 'Entity tags of versions, or *: any other version, or none, gives 412';
  return isMutation(it)
    ? { 'if-match': ifMatch, 'if-none-match': 'Entity tags of versions, or *: these versions, or any, give 412' }
    : { 'if-match': ifMatch, 'if-none-match': 'Entity tags of responses, or *: a response with one of them is 304' };
}

const listRepetition = ({ isRepeatable }: AnyOperation): Readonly<Record<string, string>> =>
  isRepeatable ? { 'idempotency-key': 'A repetition with the same key gets the response of the first request' } : {};

const listNote = (it: AnyOperation): Readonly<Record<string, string>> =>
  isMutation(it) && it.versioned && isRevised(it.versioned) ? { [changeNoteHeader]: changeNoteAbout } : {};

const toWaitParameter = ({ changesTraffic }: AnyOperation): JsonObject[] => (changesTraffic ? [waitParameter] : []);
const waitParameter: JsonObject = {
  name: 'wait',
  in: 'query',
  required: false,
  description: 'applied: the response is sent once all traffic threads serve the change; x-gw-applied has the result',
  schema: { type: 'string', enum: ['applied'] },
};

/** Entity tag of the object, where the operation has one. */
const toSuccessHeaders = ({ versioned }: AnyOperation): JsonObject =>
  versioned ? { headers: { ETag: { description: 'Version of the object', schema: { type: 'string' } } } } : {};

/** Path parameters under the names of the path, which may have hyphens. */
const toPathParameters = ({ path, params }: AnyOperation): JsonObject[] => {
  const names = new Map([...path.matchAll(/\{([\w-]+)\}/g)].map(([, name]) => [name!.replaceAll('-', '_'), name!]));
  return toParameters(params, 'path').map(it => ({ ...it, name: names.get(String(it.name)) ?? it.name! }));
};

function toParameters(shape: z.ZodType | undefined, place: 'path' | 'query'): JsonObject[] {
  if (!shape) return [];
  const schema = toJsonSchema(shape, 'input');
  const required = new Set((schema.required as string[] | undefined) ?? []);
  return Object.entries((schema.properties ?? {}) as { [name: string]: JsonObject }).map(([name, rule]) => ({
    name,
    in: place,
    required: place === 'path' || required.has(name),
    ...(rule.description === undefined ? {} : { description: rule.description }),
    schema: rule,
  }));
}

function toFailureResponses(it: AnyOperation): JsonObject {
  const byStatus = new Map<number, string[]>();
  const conditional = it.versioned ? [problem.version_changed, problem.malformed_tag] : [];
  const repeated = it.isRepeatable ? [problem.idempotency_key_reused, problem.idempotency_key_invalid] : [];
  if (it.isRepeatable === 'without password') repeated.push(problem.idempotency_key_with_password);
  const waiting = it.changesTraffic ? [problem.too_many_waits] : [];
  for (const { status, message } of [...(it.problems ?? []), ...conditional, ...repeated, ...waiting])
    byStatus.set(status, [...(byStatus.get(status) ?? []), message]);
  if (it.permission !== 'public')
    byStatus.set(surfaces[it.surface].unauthorizedStatus, ['Missing or wrong credential']);
  const schema = { $ref: `#/components/schemas/${errorSchemaName(it.surface)}` };
  const content = { [surfaces[it.surface].contentType]: { schema } };
  const unchanged: JsonObject =
    it.versioned && !isMutation(it) ? { 304: { description: 'The client has this version' } } : {};
  const failures = [...byStatus].map(
    ([status, messages]) => [String(status), { description: messages.join('; '), content }] as const,
  );
  return { ...unchanged, ...Object.fromEntries(failures) };
}

/** Alternatives of a body that is accepted inside the envelope of reads too. */
function addEnvelope(schema: JsonObject, envelope: AnyOperation['envelope']): JsonObject {
  if (!envelope) return schema;
  const beside = Object.fromEntries(envelope.beside.map(name => [name, { readOnly: true }]));
  const enveloped = { [envelope.body]: schema, ...beside };
  return {
    anyOf: [schema, { type: 'object', properties: enveloped, required: [envelope.body], additionalProperties: false }],
  };
}

/** Members of a request body are closed, with `null` for optional ones, where `override` publishes their rules. */
function toJsonSchema(shape: z.ZodType, io: 'input' | 'output', override?: typeof publishMembers): JsonObject {
  const options = { io, unrepresentable: 'any', reused: 'inline', ...(override && { override }) } as const;
  const { $schema: _ignored, ...schema } = z.toJSONSchema(shape, options);
  return schema as JsonObject;
}
