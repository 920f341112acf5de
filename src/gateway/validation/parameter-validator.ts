import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { isJsonType, parseMediaType } from '#base/media-type.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import type { SchemaCheck, ValidationRun } from '#languages/json-schema/run.ts';
import type { HeaderList } from '../http/headers.ts';
import { type Coercion, compileCoercion, type SerializedValue } from './coercion.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import {
  decodeQueryValue,
  type EncodedPairs,
  InvalidSerialization,
  type ParameterStyle,
  parseDelimited,
  parsePathStyle,
  parseQueryStyle,
  percentDecode,
} from './parameter-styles.ts';
import type { SchemaInfo } from './schema-info.ts';

/** The parameters of a request, still serialized. */
export interface ParameterSources {
  /** Undefined where a pattern of the definition matched a path of another shape than the document's. */
  readonly path: Readonly<Record<string, string>> | undefined;
  readonly query: EncodedPairs;
  readonly headers: HeaderList;
  readonly cookies: EncodedPairs;
}

/** Adds the errors of one parameter to the run; true where there are none. */
export type ParameterValidator = (sources: ParameterSources, run: ValidationRun) => boolean;

const defaultStyles: Readonly<Record<string, string>> = {
  path: 'simple',
  header: 'simple',
  query: 'form',
  cookie: 'form',
};
/** Header parameters that OpenAPI ignores: the document describes them elsewhere. */
const ignoredHeaders = new Set(['accept', 'content-type', 'authorization']);

/** The parameters of an operation, and those of its path item that it does not override. */
export function collectParameters(item: JsonObject, operation: JsonObject, document: OpenApiDocument): JsonObject[] {
  const parameters = new Map<string, JsonObject>();
  for (const reference of [...arrayOrEmpty(item.parameters), ...arrayOrEmpty(operation.parameters)]) {
    const it = document.dereference(reference);
    if (typeof it.name !== 'string' || typeof it.in !== 'string' || !Object.hasOwn(defaultStyles, it.in)) continue;
    const name = it.in === 'header' ? it.name.toLowerCase() : it.name;
    if (it.in !== 'header' || !ignoredHeaders.has(name)) parameters.set(`${it.in} ${name}`, it);
  }
  return [...parameters.values()];
}

export function compileParameterValidator(it: JsonObject, document: OpenApiDocument): ParameterValidator {
  const [name, place] = [it.name as string, it.in as string];
  const required = it.required === true || place === 'path';
  const { read, check } = it.content === undefined ? compileStyled(it, document) : compileContent(it, document);
  return (sources, run) => {
    if (place === 'path' && !sources.path) return true;
    run.path.push(place, name);
    const holds = validate(sources, run);
    run.path.length -= 2;
    return holds;
  };

  function validate(sources: ParameterSources, run: ValidationRun): boolean {
    let parsed: { value: unknown } | undefined;
    try {
      parsed = read(sources);
    } catch (error) {
      if (error instanceof InvalidSerialization) return run.report(error.message);
      throw error;
    }
    if (parsed === undefined) return required ? run.report('is required') : true;
    return check(parsed.value, run, undefined);
  }
}

interface ParameterReader {
  read(sources: ParameterSources): { value: unknown } | undefined;
  check: SchemaCheck;
}

function compileStyled(it: JsonObject, document: OpenApiDocument): ParameterReader {
  const schema = it.schema ?? {};
  const coercion: Coercion = compileCoercion(schema, document);
  const members = new Set(coercion.info.properties.keys());
  const place = it.in as string;
  const style = typeof it.style === 'string' ? it.style : defaultStyles[place]!;
  const explode = typeof it.explode === 'boolean' ? it.explode : style === 'form';
  const how: ParameterStyle = { name: it.name as string, style, explode, kind: getKind(coercion.info) };
  const mayBeEmpty = it.allowEmptyValue === true;
  const check = document.compileSchema(schema);
  return {
    check: (value, run, seen) => (mayBeEmpty && value === '') || check(value, run, seen),
    read(sources) {
      const written = readSerialized(place, sources, how, members);
      return written === undefined ? undefined : { value: coercion.coerce(written) };
    },
  };
}

function readSerialized(
  place: string,
  sources: ParameterSources,
  how: ParameterStyle,
  members: ReadonlySet<string>,
): SerializedValue | undefined {
  if (place === 'query') return parseQueryStyle(sources.query, how, members);
  if (place === 'cookie') return parseQueryStyle(sources.cookies, how, members);
  if (place === 'header') {
    const text = joinHeaderValues(sources.headers, how.name);
    return text === undefined ? undefined : parseDelimited(text, how, ',', trim);
  }
  const text = sources.path && Object.hasOwn(sources.path, how.name) ? sources.path[how.name] : undefined;
  return text === undefined ? undefined : parsePathStyle(text, how);
}

const trim = (text: string) => text.trim();

/** Repeated fields are one list (RFC 9110, section 5.3). */
function joinHeaderValues(headers: HeaderList, name: string): string | undefined {
  const values = headers.all(name.toLowerCase());
  return values.length === 0 ? undefined : values.join(',');
}

const getKind = ({ types }: SchemaInfo): ParameterStyle['kind'] => {
  const isPlain = ['string', 'number', 'integer', 'boolean'].some(type => types.has(type));
  if (isPlain) return 'plain';
  return types.has('array') ? 'array' : types.has('object') ? 'object' : 'plain';
};

/** A parameter with `content`: JSON is parsed, any other media type is a text. */
function compileContent(it: JsonObject, document: OpenApiDocument): ParameterReader {
  const [[type, media] = ['', {}]] = Object.entries(objectOrEmpty(it.content));
  const check = document.compileSchema(objectOrEmpty(media).schema ?? {});
  const isJson = isJsonType(parseMediaType(type));
  const how: ParameterStyle = { name: it.name as string, style: 'form', explode: true, kind: 'plain' };
  return {
    read(sources) {
      const written = readRaw(it.in as string, sources, how.name);
      if (written === undefined) return undefined;
      if (!isJson) return { value: written };
      const read = parseStrictJson(Buffer.from(written));
      if ('fault' in read) throw new InvalidSerialization(`cannot be read: ${read.fault}`);
      return read;
    },
    check,
  };
}

function readRaw(place: string, { path, query, headers, cookies }: ParameterSources, name: string): string | undefined {
  if (place === 'header') return joinHeaderValues(headers, name);
  const text = place === 'path' ? path?.[name] : (place === 'query' ? query : cookies).get(name)?.[0];
  if (text === undefined) return undefined;
  return place === 'path' ? percentDecode(text) : decodeQueryValue(text);
}
