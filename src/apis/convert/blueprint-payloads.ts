import { isObject, type JsonObject } from '#base/json-tree.ts';
import { Problem } from '#base/problems.ts';
import { parseDocumentText } from '#operations/body.ts';
import {
  type BlueprintLine,
  createLineProblem,
  joinLines,
  type ListSection,
  shorten,
  splitByItem,
} from './blueprint-lines.ts';
import type { Warnings } from './converted.ts';

/** A request, response or model: what its section contains. */
export interface BlueprintPayload {
  readonly number: number;
  /** Name of a request, status of a response. */
  readonly name: string;
  readonly mediaType: string;
  readonly description: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Example; undefined without a body. */
  readonly body: unknown;
  readonly schema: JsonObject | undefined;
  /** Name of a model in place of a body: `[Name][]`. */
  readonly model: string | undefined;
}

const assetPattern = /^(headers|body|schema|attributes|parameters)\b/i;
/** Assets of a payload are four spaces below it, text and code are deeper. */
const maxAssetIndent = 7;
const codeIndent = 8;
const maxSchemaDepth = 50;

export interface PayloadOptions {
  readonly warnings: Warnings;
  readonly maxBytes: number;
}

export function parsePayload(section: ListSection, options: PayloadOptions): BlueprintPayload {
  const { number, lines } = section;
  const { name, mediaType } = readTitle(section);
  const { description, sections } = splitByItem(lines, title => assetPattern.test(title), maxAssetIndent);
  const findAsset = (kind: string) => sections.find(({ title }) => title.toLowerCase().startsWith(kind));
  for (const kind of ['attributes', 'parameters'])
    if (findAsset(kind))
      options.warnings.add(`line ${findAsset(kind)!.number}: ${kind} of requests and responses are not converted`);
  const headers = readHeaders(findAsset('headers'));
  const isCode = ({ indent, isFenced, text }: BlueprintLine) => isFenced || indent >= codeIndent || text === '';
  const body = findAsset('body');
  const text = joinLines(body ? body.lines : description.filter(isCode));
  const paragraph = joinLines(body ? description : description.filter(line => !isCode(line)));
  const model = /^\[([^\][]{1,200})\]\[\]$/.exec(text || paragraph)?.[1];
  const ownType = mediaType || readMediaType(headers.find(([it]) => it.toLowerCase() === 'content-type')?.[1] ?? '');
  const content = model === undefined && text !== '' ? readBody(text, ownType, number, options) : undefined;
  return {
    number,
    name,
    mediaType: ownType || content?.mediaType || '',
    description: model === undefined ? paragraph : '',
    headers: headers.filter(([it]) => it.toLowerCase() !== 'content-type'),
    body: content?.value,
    schema: readSchema(findAsset('schema'), options),
    model,
  };
}

/** `Response 200 (application/json)`, `Request Name (application/json)`. */
function readTitle({ title, number }: ListSection) {
  const [keyword = ''] = title.split(/[\s(]/, 1);
  const rest = title.slice(keyword.length).trim();
  const open = rest.endsWith(')') ? rest.lastIndexOf('(') : -1;
  const mediaType = open < 0 ? '' : rest.slice(open + 1, -1).trim();
  if (mediaType !== '' && readMediaType(mediaType) === '')
    throw createLineProblem(number, `${shorten(mediaType)} is no media type`);
  const name = (open < 0 ? rest : rest.slice(0, open)).trim();
  if (/^response$/i.test(keyword) && name !== '' && !/^[1-5]\d\d$/.test(name))
    throw createLineProblem(number, `${shorten(name)} is no status of a response`);
  if (/^model$/i.test(keyword) && name !== '') throw createLineProblem(number, 'a model has no name of its own');
  return { name: name.slice(0, 200), mediaType: readMediaType(mediaType) };
}

/** Type without parameters, in lower case; empty for other texts. */
function readMediaType(text: string): string {
  const type = text.split(';', 1)[0]!.trim().toLowerCase();
  return /^[\w!#$&.+^-]{1,100}\/[\w!#$&.+^*-]{1,100}$/.test(type) ? type : '';
}

function readHeaders(section: ListSection | undefined): (readonly [string, string])[] {
  if (!section) return [];
  return section.lines.flatMap(({ text, number }) => {
    const line = text.trim();
    if (line === '' || /^(?:```|~~~)/.test(line)) return [];
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim();
    if (!/^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name)) throw createLineProblem(number, `${shorten(line)} is no header`);
    return [[name, line.slice(colon + 1).trim()] as const];
  });
}

const isJsonType = (type: string) => type === 'application/json' || type.endsWith('+json');

function readBody(text: string, mediaType: string, number: number, { warnings, maxBytes }: PayloadOptions) {
  if (mediaType !== '' && !isJsonType(mediaType)) return { value: text, mediaType };
  const value = parseJson(text, maxBytes);
  if (value !== undefined) return { value, mediaType: mediaType || 'application/json' };
  if (mediaType !== '') warnings.add(`line ${number}: the body is no JSON; it is an example as text`);
  return { value: text, mediaType: mediaType || 'text/plain' };
}

/** Undefined for a text that is no JSON. */
function parseJson(text: string, maxBytes: number): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return parseDocumentText(text, maxBytes);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function readSchema(section: ListSection | undefined, { maxBytes }: PayloadOptions): JsonObject | undefined {
  if (!section) return undefined;
  const schema = parseJson(joinLines(section.lines), maxBytes);
  if (!isObject(schema)) throw createLineProblem(section.number, 'the schema must be an object in JSON');
  return toOpenApiSchema(schema, section.number, 0) as JsonObject;
}

/** Members of JSON Schema that OpenAPI 3.0 does not have. */
const droppedMembers = new Set(['$schema', 'id', '$id', 'definitions', 'patternProperties', '__proto__']);
/** Members whose value is no schema. */
const plainMembers = new Set(['enum', 'default', 'example', 'examples', 'required', 'type']);

type Member = readonly [name: string, value: unknown];

/** JSON Schema draft 4 as OpenAPI 3.0 has it: `null` among the types is `nullable`. */
function toOpenApiSchema(value: unknown, number: number, depth: number): unknown {
  if (depth > maxSchemaDepth) throw createLineProblem(number, `the schema is deeper than ${maxSchemaDepth} levels`);
  const toSchema = (member: unknown) => toOpenApiSchema(member, number, depth + 1);
  if (Array.isArray(value)) return value.map(toSchema);
  if (!isObject(value)) return value;
  if (typeof value.$ref === 'string')
    throw createLineProblem(number, 'references in schemas are not supported: write the schema out');
  const toMember = ([name, member]: Member): Member => {
    if (plainMembers.has(name)) return [name, member];
    if (name !== 'properties' || !isObject(member)) return [name, toSchema(member)];
    const properties = Object.entries(member).filter(([property]) => property !== '__proto__');
    return [name, Object.fromEntries(properties.map(([property, schema]) => [property, toSchema(schema)]))];
  };
  const entries = Object.entries(value).filter(([name]) => !droppedMembers.has(name));
  return withSingleType(Object.fromEntries(entries.map(toMember)));
}

function withSingleType({ type, ...rest }: JsonObject): JsonObject {
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest };
  const types = type.filter(it => it !== 'null');
  return {
    ...(types.length === 1 && { type: types[0] as unknown }),
    ...rest,
    ...(types.length < type.length && { nullable: true }),
  };
}
