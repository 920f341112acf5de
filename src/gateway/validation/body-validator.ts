import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { isJsonType, isUtf8ContentType, parseMediaType } from '#base/media-type.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import type { SchemaCheck, ValidationRun } from '#languages/json-schema/run.ts';
import type { HeaderList } from '../http/headers.ts';
import { type Coercion, compileCoercion } from './coercion.ts';
import { matchMediaType } from './media-types.ts';
import { type FormPart, parseMultipart } from './multipart.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import {
  decodeQueryValue,
  type EncodedPairs,
  InvalidSerialization,
  parseDelimited,
  parseQueryPairs,
  takeSingle,
} from './parameter-styles.ts';

/** Adds the errors of a body to the run; true where there are none. */
export type BodyValidator = (bytes: Buffer, headers: HeaderList, run: ValidationRun) => boolean;

type BodyReader = (bytes: Buffer, contentType: string) => { value: unknown } | { fault: string };

interface MediaValidator {
  /** Undefined where only presence is checked. */
  readonly read: BodyReader | undefined;
  readonly check: SchemaCheck;
}

/** Undefined for an operation without a request body. */
export function compileBodyValidator(
  operation: JsonObject,
  document: OpenApiDocument,
  maxValues: number,
): BodyValidator | undefined {
  if (operation.requestBody === undefined) return undefined;
  const { required, content } = document.dereference(operation.requestBody);
  const validators = new Map(
    Object.entries(objectOrEmpty(content)).map(([type, media]) => [
      parseMediaType(type),
      compileMedia(type, objectOrEmpty(media), document, maxValues),
    ]),
  );
  const types = [...validators.keys()].join(', ');
  return (bytes, headers, run) => {
    if (bytes.length === 0) return required === true ? reportError(run, 'body', 'is required') : true;
    if (validators.size === 0) return true;
    const [contentType = '', another] = headers.all('content-type');
    if (another !== undefined) return reportError(run, 'header.Content-Type', 'must be present exactly once');
    const media = matchMediaType(validators, parseMediaType(contentType));
    if (!media) return reportError(run, 'header.Content-Type', `must be one of ${types}`);
    if (!media.read) return true;
    // A compressed body cannot be validated.
    if (!isIdentityEncoded(headers))
      return reportError(run, 'header.Content-Encoding', 'must be absent where bodies are validated');
    if (!isUtf8ContentType(contentType))
      return reportError(run, 'header.Content-Type', 'must be UTF-8 where bodies are validated');
    const read = media.read(bytes, contentType);
    if ('fault' in read) return reportError(run, 'body', read.fault);
    return run.checkBelow('body', media.check, read.value);
  };
}

const isIdentityEncoded = (headers: HeaderList) =>
  headers.all('content-encoding').every(it => it.trim().toLowerCase() === 'identity');

function reportError(run: ValidationRun, place: string, message: string): false {
  run.path.push(place);
  run.report(message);
  run.path.pop();
  return false;
}

const acceptAny: SchemaCheck = () => true;

function compileMedia(type: string, media: JsonObject, document: OpenApiDocument, maxValues: number): MediaValidator {
  const bare = parseMediaType(type);
  const check = media.schema === undefined ? acceptAny : document.compileSchema(media.schema);
  if (isJsonType(bare)) return { read: bytes => readJsonMedia(bytes, maxValues), check };
  if (media.schema === undefined) return { read: undefined, check };
  const form = compileForm(media, document, maxValues);
  if (bare === 'application/x-www-form-urlencoded') return { read: bytes => form.readUrlEncoded(bytes), check };
  if (bare === 'multipart/form-data')
    return { read: (bytes, contentType) => form.readMultipart(bytes, contentType), check };
  return { read: undefined, check: acceptAny };
}

function readJsonMedia(bytes: Buffer, maxValues: number): ReturnType<BodyReader> {
  const read = parseStrictJson(bytes, maxValues);
  return 'fault' in read ? { fault: `cannot be read: ${read.fault}` } : read;
}

interface FormReader {
  readUrlEncoded(bytes: Buffer): ReturnType<BodyReader>;
  readMultipart(bytes: Buffer, contentType: string): ReturnType<BodyReader>;
}

function compileForm({ schema, encoding }: JsonObject, document: OpenApiDocument, maxValues: number): FormReader {
  const coercion = compileCoercion(schema, document);
  const { properties, additional } = coercion.info;
  const fields = new Map(
    [...properties].map(([name, it]) => [
      name,
      compileField(it, objectOrEmpty(objectOrEmpty(encoding)[name]), document),
    ]),
  );
  const additionalField = compileField(additional ?? {}, {}, document);
  const getField = (name: string) => fields.get(name) ?? additionalField;
  return {
    readUrlEncoded: bytes =>
      readOrFault(() => {
        if (exceedsCount(bytes, '&', maxFormFields))
          throw new InvalidSerialization('is beyond the maximum number of form fields');
        const pairs: EncodedPairs = parseQueryPairs(bytes.toString('latin1'));
        return Object.fromEntries([...pairs].map(([name, texts]) => [name, getField(name).fromPairs(texts)]));
      }),
    readMultipart(bytes, contentType) {
      const parts = parseMultipart(bytes, contentType);
      if (!parts) return { fault: 'is not a multipart form' };
      const byName = Map.groupBy(parts, ({ name }) => name);
      // The parts share the bound of the body.
      const maxPartValues = Math.ceil(maxValues / Math.max(1, parts.length));
      return readOrFault(() =>
        Object.fromEntries([...byName].map(([name, given]) => [name, getField(name).fromParts(given, maxPartValues)])),
      );
    },
  };
}

const maxFormFields = 10_000;

function exceedsCount(bytes: Buffer, mark: string, max: number): boolean {
  let count = 0;
  for (let at = bytes.indexOf(mark); at >= 0 && count <= max; at = bytes.indexOf(mark, at + 1)) count++;
  return count > max;
}

function readOrFault(read: () => unknown): ReturnType<BodyReader> {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof InvalidSerialization) return { fault: `has a field that ${error.message}` };
    throw error;
  }
}

interface FormField {
  fromPairs(encoded: readonly string[]): unknown;
  fromParts(parts: readonly FormPart[], maxPartValues: number): unknown;
}

/** A form field: repeated values are an array where the schema has one. */
function compileField(schema: unknown, encoding: JsonObject, document: OpenApiDocument): FormField {
  const coercion: Coercion = compileCoercion(schema, document, 1);
  const { types } = coercion.info;
  const isList = types.has('array');
  const isObject = types.has('object');
  const explode = encoding.explode !== false;
  const style = { name: '', style: 'form', explode: false, kind: 'array' } as const;
  const readPart = (part: FormPart, maxPartValues: number): unknown => {
    const declared = typeof encoding.contentType === 'string' ? parseMediaType(encoding.contentType) : '';
    if (isJsonType(part.type || declared) || (isObject && part.type === '')) {
      const read = parseStrictJson(part.bytes, maxPartValues);
      return 'fault' in read ? part.bytes.toString() : read.value;
    }
    // Only the length of a file can be validated: one character per byte.
    return part.isFile ? part.bytes.toString('latin1') : part.bytes.toString();
  };
  const coerce = (value: unknown) => (typeof value === 'string' ? coercion.coerce(value) : value);
  return {
    fromPairs(encoded) {
      if (!isList) return coercion.coerce(decodeQueryValue(takeSingle(encoded)));
      const texts =
        explode || encoded.length > 1
          ? encoded.map(decodeQueryValue)
          : parseDelimited(encoded[0]!, style, ',', decodeQueryValue);
      return coercion.coerce(texts);
    },
    fromParts(parts, maxPartValues) {
      const values = parts.map(part => readPart(part, maxPartValues));
      if (!isList) return coerce(takeSingle(values));
      return values.every(value => typeof value === 'string')
        ? coercion.coerce(values)
        : values.length === 1
          ? values[0]
          : values;
    },
  };
}
