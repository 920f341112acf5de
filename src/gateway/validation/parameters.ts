import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { isJsonType, parseMediaType } from '#base/media-type.ts';
import { parseJsonBody } from '#languages/json-schema/json-body.ts';
import type { SchemaCheck, ValidationRun } from '#languages/json-schema/run.ts';
import type { HeaderList } from '../http/headers.ts';
import { type Coercion, compileCoercion, type SerializedValue } from './coercion.ts';
import type { OpenApiDocument } from './document.ts';
import type { SchemaInfo } from './schema-info.ts';
import {
  decodeQueryValue,
  type EncodedPairs,
  InvalidSerialization,
  type ParameterStyle,
  parseDelimited,
  parsePathStyle,
  parseQueryStyle,
  percentDecode,
} from './styles.ts';

/** Where the parameters of one call stand. */
export interface ParameterSources {
  /** Undefined where the path has another shape than the document gives it; it was matched by a pattern then. */
  readonly path: Readonly<Record<string, string>> | undefined;
  readonly query: EncodedPairs;
  readonly headers: HeaderList;
  readonly cookies: EncodedPairs;
}

/** Tells the run what is wrong with one parameter; whether nothing is. */
export type ParameterValidator = (places: ParameterSources, run: ValidationRun) => boolean;

const defaultStyles: Readonly<Record<string, string>> = {
  path: 'simple',
  header: 'simple',
  query: 'form',
  cookie: 'form',
};
/** What these say is for the gateway and the transport; documents have other words for them. */
const ignoredHeaders = new Set(['accept', 'content-type', 'authorization']);

/** The parameters of an operation: its own, and those of its path that it does not declare anew. */
export function collectParameters(item: JsonObject, operation: JsonObject, document: OpenApiDocument): JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const given of [...arrayOrEmpty(item.parameters), ...arrayOrEmpty(operation.parameters)]) {
    const it = document.dereference(given);
    if (typeof it.name !== 'string' || typeof it.in !== 'string' || !Object.hasOwn(defaultStyles, it.in)) continue;
    const name = it.in === 'header' ? it.name.toLowerCase() : it.name;
    if (it.in !== 'header' || !ignoredHeaders.has(name)) found.set(`${it.in} ${name}`, it);
  }
  return [...found.values()];
}

export function compileParameterValidator(it: JsonObject, document: OpenApiDocument): ParameterValidator {
  const [name, place] = [it.name as string, it.in as string];
  const required = it.required === true || place === 'path';
  const { read, check } = it.content === undefined ? compileStyled(it, document) : compileContent(it, document);
  return (places, run) => {
    if (place === 'path' && !places.path) return true;
    run.path.push(place, name);
    const holds = validate(places, run);
    run.path.length -= 2;
    return holds;
  };

  function validate(places: ParameterSources, run: ValidationRun): boolean {
    let found: { value: unknown } | undefined;
    try {
      found = read(places);
    } catch (error) {
      if (error instanceof InvalidSerialization) return run.report(error.message);
      throw error;
    }
    if (found === undefined) return required ? run.report('is required') : true;
    return check(found.value, run, undefined);
  }
}

interface ParameterReader {
  read(places: ParameterSources): { value: unknown } | undefined;
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
    read(places) {
      const written = readSerialized(place, places, how, members);
      return written === undefined ? undefined : { value: coercion.coerce(written) };
    },
  };
}

function readSerialized(
  place: string,
  places: ParameterSources,
  how: ParameterStyle,
  members: ReadonlySet<string>,
): SerializedValue | undefined {
  if (place === 'query') return parseQueryStyle(places.query, how, members);
  if (place === 'cookie') return parseQueryStyle(places.cookies, how, members);
  if (place === 'header') {
    const text = joinHeaderValues(places.headers, how.name);
    return text === undefined ? undefined : parseDelimited(text, how, ',', trim);
  }
  const text = places.path && Object.hasOwn(places.path, how.name) ? places.path[how.name] : undefined;
  return text === undefined ? undefined : parsePathStyle(text, how);
}

const trim = (text: string) => text.trim();

/** Sent several times, they are one list. */
function joinHeaderValues(headers: HeaderList, name: string): string | undefined {
  const values = headers.all(name.toLowerCase());
  return values.length === 0 ? undefined : values.join(',');
}

const getKind = ({ types }: SchemaInfo): ParameterStyle['kind'] => {
  const isPlain = ['string', 'number', 'integer', 'boolean'].some(type => types.has(type));
  if (isPlain) return 'plain';
  return types.has('array') ? 'array' : types.has('object') ? 'object' : 'plain';
};

/** A parameter that is a document of its own: JSON is read, anything else is a text. */
function compileContent(it: JsonObject, document: OpenApiDocument): ParameterReader {
  const [[type, media] = ['', {}]] = Object.entries(objectOrEmpty(it.content));
  const check = document.compileSchema(objectOrEmpty(media).schema ?? {});
  const isJson = isJsonType(parseMediaType(type));
  const how: ParameterStyle = { name: it.name as string, style: 'form', explode: true, kind: 'plain' };
  return {
    read(places) {
      const written = readRaw(it.in as string, places, how.name);
      if (written === undefined) return undefined;
      if (!isJson) return { value: written };
      const read = parseJsonBody(Buffer.from(written));
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
