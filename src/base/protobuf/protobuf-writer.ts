/** Wire types of Protocol Buffers. */
const varintType = 0;
const fixed64Type = 1;
const bytesType = 2;
const fixed32Type = 5;

const defaultCapacityBytes = 16_384;
/** From this length on a native call costs less than a loop. */
const minNativeCharacters = 24;
const minNativeBytes = 40;
const twoTo32 = 4_294_967_296;

/** Values of the characters of hexadecimal text, in either case. */
const hexDigits = new Uint8Array(128);
for (let value = 0; value < 16; value++) {
  hexDigits[value.toString(16).charCodeAt(0)] = value;
  hexDigits[value.toString(16).toUpperCase().charCodeAt(0)] = value;
}

/**
 * Protocol Buffers wire format: appends fields to a growing buffer. A nested message is written in place, behind one byte
 * for its length; a longer one is moved by the bytes that its length needs.
 */
export class ProtobufWriter {
  length = 0;
  #bytes: Buffer<ArrayBuffer>;
  #view: DataView;

  constructor(capacityBytes: number = defaultCapacityBytes) {
    const buffer = new ArrayBuffer(capacityBytes);
    this.#bytes = Buffer.from(buffer);
    this.#view = new DataView(buffer);
  }

  get capacityBytes(): number {
    return this.#bytes.length;
  }

  /** Copy of what was written; the writer is empty afterwards and keeps its buffer. */
  drain(): Uint8Array<ArrayBuffer> {
    const written = new Uint8Array(this.length);
    written.set(this.#bytes.subarray(0, this.length));
    this.length = 0;
    return written;
  }

  /** Starts a nested message; `endMessage` gets the returned position. */
  beginMessage(field: number): number {
    this.#reserve(16);
    this.#writeVarint((field << 3) | bytesType);
    return ++this.length;
  }

  endMessage(start: number): void {
    const size = this.length - start;
    if (size < 0x80) {
      this.#bytes[start - 1] = size;
      return;
    }
    const moved = countVarintBytes(size) - 1;
    this.#reserve(moved);
    this.#bytes.copyWithin(start + moved, start, this.length);
    this.length = start - 1;
    this.#writeVarint(size);
    this.length += size;
  }

  /** Tag and length of a message whose content is elsewhere. */
  writeMessageHead(field: number, size: number): void {
    this.#reserve(16);
    this.#writeVarint((field << 3) | bytesType);
    this.#writeVarint(size);
  }

  writeString(field: number, text: string): void {
    const { length } = text;
    this.#reserve(length * 3 + 16);
    this.#writeVarint((field << 3) | bytesType);
    const bytes = this.#bytes;
    const start = this.length + countVarintBytes(length);
    if (length >= minNativeCharacters) {
      if (bytes.write(text, start, 'utf8') !== length) return this.#writeUtf8(text);
      this.#writeVarint(length);
      this.length = start + length;
      return;
    }
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return this.#writeUtf8(text);
      bytes[start + i] = code;
    }
    this.#writeVarint(length);
    this.length = start + length;
  }

  /** Text outside ASCII. Lone surrogates become U+FFFD: a string field holds well-formed UTF-8. */
  #writeUtf8(text: string): void {
    const encoded = utf8.encode(text);
    this.#writeVarint(encoded.length);
    this.#bytes.set(encoded, this.length);
    this.length += encoded.length;
  }

  /** A bytes field from hexadecimal text, in lower case. */
  writeHex(field: number, hex: string): void {
    const size = hex.length >> 1;
    this.#reserve(size + 16);
    this.#writeVarint((field << 3) | bytesType);
    this.#writeVarint(size);
    // A loop: a native call costs more for the ids of spans.
    const bytes = this.#bytes;
    let at = this.length;
    for (let i = 0; i < size; i++)
      bytes[at++] = (hexDigits[hex.charCodeAt(2 * i)]! << 4) | hexDigits[hex.charCodeAt(2 * i + 1)]!;
    this.length = at;
  }

  /** A bytes field. */
  writeBytes(field: number, bytes: Uint8Array): void {
    this.writeMessageHead(field, bytes.length);
    this.writeEncoded(bytes);
  }

  /** Fields that were encoded before. */
  writeEncoded(encoded: Uint8Array): void {
    const { length } = encoded;
    this.#reserve(length);
    const bytes = this.#bytes;
    const at = this.length;
    if (length >= minNativeBytes) bytes.set(encoded, at);
    else for (let i = 0; i < length; i++) bytes[at + i] = encoded[i]!;
    this.length = at + length;
  }

  /** A varint field: an unsigned integer, an enum or a bool. */
  writeUnsigned(field: number, value: number): void {
    this.#reserve(24);
    this.#writeVarint((field << 3) | varintType);
    this.#writeVarint(value);
  }

  /** A varint field of int32 or int64: ten bytes for a negative number. */
  writeSigned(field: number, value: number): void {
    if (value >= 0) return this.writeUnsigned(field, value);
    this.#reserve(24);
    this.#writeVarint((field << 3) | varintType);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest >= 0x80n; rest >>= 7n) this.#bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.length++] = Number(rest);
  }

  writeFixed32(field: number, value: number): void {
    this.#reserve(16);
    this.#writeVarint((field << 3) | fixed32Type);
    this.#view.setUint32(this.length, value, true);
    this.length += 4;
  }

  /** A fixed64 field from a whole number that is exact as a double. */
  writeFixed64(field: number, value: number): void {
    this.#reserve(16);
    this.#writeVarint((field << 3) | fixed64Type);
    this.#putFixed64(value % twoTo32, Math.floor(value / twoTo32));
  }

  writeDouble(field: number, value: number): void {
    this.#reserve(16);
    this.#writeVarint((field << 3) | fixed64Type);
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** A fixed64 field in nanoseconds since 1970 from milliseconds, whose product a double cannot hold. */
  writeNanoseconds(field: number, atMs: number): void {
    this.#reserve(16);
    this.#writeVarint((field << 3) | fixed64Type);
    const wholeMs = Math.floor(atMs);
    const upper = Math.floor(wholeMs / 0x10000) * 1_000_000;
    const lower = (upper % 0x10000) * 0x10000 + (wholeMs % 0x10000) * 1_000_000 + toNanoseconds(atMs - wholeMs);
    this.#putFixed64(lower % twoTo32, Math.floor(upper / 0x10000) + Math.floor(lower / twoTo32));
  }

  /** A packed repeated field of fixed64. */
  writePackedFixed64(field: number, values: ArrayLike<number>): void {
    this.#beginPacked(field, values.length);
    for (let i = 0; i < values.length; i++) this.#putFixed64(values[i]! % twoTo32, Math.floor(values[i]! / twoTo32));
  }

  /** A packed repeated field of double. */
  writePackedDouble(field: number, values: ArrayLike<number>): void {
    this.#beginPacked(field, values.length);
    for (let i = 0; i < values.length; i++) {
      this.#view.setFloat64(this.length, values[i]!, true);
      this.length += 8;
    }
  }

  #beginPacked(field: number, count: number): void {
    this.#reserve(count * 8 + 16);
    this.#writeVarint((field << 3) | bytesType);
    this.#writeVarint(count * 8);
  }

  #putFixed64(lower: number, upper: number): void {
    this.#view.setUint32(this.length, lower, true);
    this.#view.setUint32(this.length + 4, upper, true);
    this.length += 8;
  }

  #writeVarint(value: number): void {
    if (value < 0x80) {
      this.#bytes[this.length++] = value;
      return;
    }
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.length++] = rest;
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#bytes.length) return;
    const buffer = new ArrayBuffer(Math.max(needed, this.#bytes.length * 2));
    const grown = Buffer.from(buffer);
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
    this.#view = new DataView(buffer);
  }
}

const utf8 = new TextEncoder();

const countVarintBytes = (value: number): number => {
  if (value < 0x80) return 1;
  let count = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) count++;
  return count;
};

/** Nanoseconds of a fraction of a millisecond, below 1,000,000. */
const toNanoseconds = (fraction: number): number => Math.min(999_999, Math.round(fraction * 1_000_000));

/** Nanoseconds since 1970 as decimal digits, the JSON form of a fixed64 field. */
export function formatNanoseconds(atMs: number): string {
  const wholeMs = Math.floor(atMs);
  const nanoseconds = String(toNanoseconds(atMs - wholeMs));
  return wholeMs === 0 ? nanoseconds : `${wholeMs}${nanoseconds.padStart(6, '0')}`;
}
