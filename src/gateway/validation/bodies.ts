import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { isJsonType, isUtf8ContentType, parseMediaType } from '#base/media-type.ts';
import { readJson } from '#languages/json-schema/json-body.ts';
import type { Check, Run } from '#languages/json-schema/run.ts';
import type { HeaderList } from '../http/headers.ts';
import { type Coercion, coercionOf } from './coercion.ts';
import type { OpenApi } from './document.ts';
import { declaredFor } from './media-types.ts';
import { type Part, partsOf } from './multipart.ts';
import { delimited, Miswritten, only, type Pairs, pairsOf, queryDecoded } from './styles.ts';

/** Tells the run what is wrong with a body; whether nothing is. */
export type BodyCheck = (bytes: Buffer, headers: HeaderList, run: Run) => boolean;

type Reader = (bytes: Buffer, contentType: string) => { value: unknown } | { fault: string };

interface Media {
  /** Undefined where being there is all that is asked. */
  readonly read: Reader | undefined;
  readonly check: Check;
}

/** Undefined where an operation says nothing of bodies. */
export function bodyCheck(operation: JsonObject, document: OpenApi, maxValues: number): BodyCheck | undefined {
  if (operation.requestBody === undefined) return undefined;
  const { required, content } = document.follow(operation.requestBody);
  const declared = new Map(
    Object.entries(objectOrEmpty(content)).map(([type, media]) => [
      parseMediaType(type),
      mediaOf(type, objectOrEmpty(media), document, maxValues),
    ]),
  );
  const types = [...declared.keys()].join(', ');
  return (bytes, headers, run) => {
    if (bytes.length === 0) return required === true ? told(run, 'body', 'is required') : true;
    if (declared.size === 0) return true;
    const [contentType = '', another] = headers.all('content-type');
    if (another !== undefined) return told(run, 'header.Content-Type', 'must be given once');
    const media = declaredFor(declared, parseMediaType(contentType));
    if (!media) return told(run, 'header.Content-Type', `must be one of ${types}`);
    if (!media.read) return true;
    // What is packed would be checked as something else than it is.
    if (!isPlain(headers)) return told(run, 'header.Content-Encoding', 'must not be there where bodies are checked');
    if (!isUtf8ContentType(contentType))
      return told(run, 'header.Content-Type', 'must be in UTF-8 where bodies are checked');
    const read = media.read(bytes, contentType);
    if ('fault' in read) return told(run, 'body', read.fault);
    return run.below('body', media.check, read.value);
  };
}

const isPlain = (headers: HeaderList) =>
  headers.all('content-encoding').every(it => it.trim().toLowerCase() === 'identity');

function told(run: Run, place: string, message: string): false {
  run.path.push(place);
  run.fault(message);
  run.path.pop();
  return false;
}

const anything: Check = () => true;

function mediaOf(type: string, media: JsonObject, document: OpenApi, maxValues: number): Media {
  const bare = parseMediaType(type);
  const check = media.schema === undefined ? anything : document.check(media.schema);
  if (isJsonType(bare)) return { read: bytes => readJsonMedia(bytes, maxValues), check };
  if (media.schema === undefined) return { read: undefined, check };
  const form = formOf(media, document, maxValues);
  if (bare === 'application/x-www-form-urlencoded') return { read: bytes => form.ofPairs(bytes), check };
  if (bare === 'multipart/form-data') return { read: (bytes, contentType) => form.ofParts(bytes, contentType), check };
  return { read: undefined, check: anything };
}

function readJsonMedia(bytes: Buffer, maxValues: number): ReturnType<Reader> {
  const read = readJson(bytes, maxValues);
  return 'fault' in read ? { fault: `cannot be read: ${read.fault}` } : read;
}

interface Form {
  ofPairs(bytes: Buffer): ReturnType<Reader>;
  ofParts(bytes: Buffer, contentType: string): ReturnType<Reader>;
}

function formOf({ schema, encoding }: JsonObject, document: OpenApi, maxValues: number): Form {
  const coercion = coercionOf(schema, document);
  const { properties, additional } = coercion.facts;
  const members = new Map(
    [...properties].map(([name, it]) => [name, memberOf(it, objectOrEmpty(objectOrEmpty(encoding)[name]), document)]),
  );
  const others = memberOf(additional ?? {}, {}, document);
  const memberCalled = (name: string) => members.get(name) ?? others;
  return {
    ofPairs: bytes =>
      written(() => {
        if (hasMore(bytes, '&', mostFields)) throw new Miswritten('is one of too many');
        const pairs: Pairs = pairsOf(bytes.toString('latin1'));
        return Object.fromEntries([...pairs].map(([name, texts]) => [name, memberCalled(name).ofTexts(texts)]));
      }),
    ofParts(bytes, contentType) {
      const parts = partsOf(bytes, contentType);
      if (!parts) return { fault: 'is not a form in parts' };
      const byName = Map.groupBy(parts, ({ name }) => name);
      // The bound is of the whole body: parts share it.
      const maxPartValues = Math.ceil(maxValues / Math.max(1, parts.length));
      return written(() =>
        Object.fromEntries(
          [...byName].map(([name, given]) => [name, memberCalled(name).ofParts(given, maxPartValues)]),
        ),
      );
    },
  };
}

const mostFields = 10_000;

function hasMore(bytes: Buffer, mark: string, most: number): boolean {
  let found = 0;
  for (let at = bytes.indexOf(mark); at >= 0 && found <= most; at = bytes.indexOf(mark, at + 1)) found++;
  return found > most;
}

function written(read: () => unknown): ReturnType<Reader> {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof Miswritten) return { fault: `has a field that ${error.message}` };
    throw error;
  }
}

interface Member {
  ofTexts(encoded: readonly string[]): unknown;
  ofParts(parts: readonly Part[], maxPartValues: number): unknown;
}

/** One field of a form: several of one name are a list where a list is asked for. */
function memberOf(schema: unknown, encoding: JsonObject, document: OpenApi): Member {
  const coercion: Coercion = coercionOf(schema, document, 1);
  const { types } = coercion.facts;
  const isList = types.has('array');
  const isObject = types.has('object');
  const explode = encoding.explode !== false;
  const style = { name: '', style: 'form', explode: false, kind: 'array' } as const;
  const readPart = (part: Part, maxPartValues: number): unknown => {
    const declared = typeof encoding.contentType === 'string' ? parseMediaType(encoding.contentType) : '';
    if (isJsonType(part.type || declared) || (isObject && part.type === '')) {
      const read = readJson(part.bytes, maxPartValues);
      return 'fault' in read ? part.bytes.toString() : read.value;
    }
    // Of a file only its length can be checked: a character for every byte.
    return part.isFile ? part.bytes.toString('latin1') : part.bytes.toString();
  };
  const settled = (value: unknown) => (typeof value === 'string' ? coercion.value(value) : value);
  return {
    ofTexts(encoded) {
      if (!isList) return coercion.value(queryDecoded(only(encoded)));
      const texts =
        explode || encoded.length > 1 ? encoded.map(queryDecoded) : delimited(encoded[0]!, style, ',', queryDecoded);
      return coercion.value(texts);
    },
    ofParts(parts, maxPartValues) {
      const values = parts.map(part => readPart(part, maxPartValues));
      if (!isList) return settled(only(values));
      return values.every(value => typeof value === 'string')
        ? coercion.value(values)
        : values.length === 1
          ? values[0]
          : values;
    },
  };
}
