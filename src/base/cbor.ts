/**
 * CBOR decoder (RFC 8949) for what authenticators send (CTAP2 canonical form): definite lengths, integers, texts, bytes,
 * lists and maps. Tags, floating-point numbers and indefinite lengths are rejected.
 */
export type CborValue = number | string | boolean | null | Buffer | CborValue[] | CborMap;
export type CborMap = Map<number | string, CborValue>;

/** The bytes are not such CBOR. */
export class CborError extends Error {}

const maxDepth = 8;

/** Decodes the item at `start`; `end` is the index behind it. */
export function decodeCbor(bytes: Buffer, start = 0): { readonly value: CborValue; readonly end: number } {
  const reader = { bytes, at: start };
  const value = readItem(reader, 0);
  return { value, end: reader.at };
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

function take(reader: Reader, length: number): Buffer {
  const end = reader.at + length;
  if (end > reader.bytes.length) throw new CborError('it is truncated');
  const taken = reader.bytes.subarray(reader.at, end);
  reader.at = end;
  return taken;
}

function readItem(reader: Reader, depth: number): CborValue {
  if (depth > maxDepth) throw new CborError('it is nested too deeply');
  const initial = take(reader, 1)[0]!;
  const type = initial >> 5;
  const argument = readArgument(reader, initial & 31);
  if (type === 0) return argument;
  if (type === 1) return -1 - argument;
  if (type === 2) return take(reader, argument);
  if (type === 3) return decodeText(take(reader, argument));
  if (type === 4) return readList(reader, argument, depth);
  if (type === 5) return readMap(reader, argument, depth);
  if (type === 7) return readSimple(initial);
  throw new CborError('it has a tag');
}

/** Argument of the initial byte (RFC 8949, 3): a value or a length. */
function readArgument(reader: Reader, info: number): number {
  if (info < 24) return info;
  if (info === 24) return take(reader, 1).readUInt8();
  if (info === 25) return take(reader, 2).readUInt16BE();
  if (info === 26) return take(reader, 4).readUInt32BE();
  if (info !== 27) throw new CborError('it has an indefinite length');
  const value = take(reader, 8).readBigUInt64BE();
  if (value > Number.MAX_SAFE_INTEGER) throw new CborError('it has a number that is too large');
  return Number(value);
}

const simpleValues = new Map<number, CborValue>([
  [0xf4, false],
  [0xf5, true],
  [0xf6, null],
]);

function readSimple(initial: number): CborValue {
  const value = simpleValues.get(initial);
  if (value === undefined) throw new CborError('it has a value of an unsupported type');
  return value;
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CborError('it has a text that is not UTF-8', { cause });
  }
}

/** Every item has at least one byte, so that the input bounds the number of items. */
function readList(reader: Reader, length: number, depth: number): CborValue[] {
  const items: CborValue[] = [];
  for (let index = 0; index < length; index++) items.push(readItem(reader, depth + 1));
  return items;
}

function readMap(reader: Reader, length: number, depth: number): CborMap {
  const members: CborMap = new Map();
  for (let index = 0; index < length; index++) {
    const key = readItem(reader, depth + 1);
    if (typeof key !== 'number' && typeof key !== 'string') throw new CborError('it has a map key of a wrong type');
    if (members.has(key)) throw new CborError('it has a map key twice');
    members.set(key, readItem(reader, depth + 1));
  }
  return members;
}
