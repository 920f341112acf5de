import { isUtf8 } from 'node:buffer';

/** The bytes are no message of Protocol Buffers. */
export class ProtobufError extends Error {}

const twoTo32 = 4_294_967_296;
const maxVarintBytes = 10;

/**
 * Protocol Buffers wire format: reads the fields of one message in order. Bytes are slices of the message. Every length
 * is checked against the end of its message.
 */
export class ProtobufReader {
  #at: number;
  readonly #end: number;
  readonly #bytes: Buffer;
  #wireType = 0;

  constructor(bytes: Buffer, start = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Number of the next field; 0 at the end of the message. */
  readField(): number {
    if (this.#at >= this.#end) return 0;
    const tag = this.#readVarint();
    const field = Math.floor(tag / 8);
    if (field === 0 || field > 0x1fff_ffff) throw new ProtobufError('a field has an invalid number');
    this.#wireType = tag % 8;
    return field;
  }

  /** An enum, a bool or an unsigned integer. */
  readUnsigned(): number {
    this.#expect(0);
    return this.#readVarint();
  }

  readFlag(): boolean {
    return this.readUnsigned() !== 0;
  }

  /** An int32 or int64; one that is not exact as a double is refused. */
  readSigned(): number {
    this.#expect(0);
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < maxVarintBytes * 7; shift += 7) {
      const byte = this.#readByte();
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) {
        const value = high * twoTo32 + (low >>> 0);
        if (!Number.isSafeInteger(value)) throw new ProtobufError('an integer is beyond 2^53');
        return value;
      }
    }
    throw new ProtobufError('an integer has more than ten bytes');
  }

  readDouble(): number {
    this.#expect(1);
    return this.#readDouble();
  }

  /** A repeated double, packed or not: appends to `values`. */
  readDoubles(values: number[]): void {
    if (this.#wireType !== 2) {
      values.push(this.readDouble());
      return;
    }
    const end = this.#readLength();
    if ((end - this.#at) % 8 !== 0) throw new ProtobufError('a packed list of doubles is cut off');
    while (this.#at < end) values.push(this.#readDouble());
  }

  readBytes(): Buffer {
    this.#expect(2);
    const end = this.#readLength();
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  readString(): string {
    const bytes = this.readBytes();
    const text = bytes.toString();
    if (text.includes('\ufffd') && !isUtf8(bytes)) throw new ProtobufError('a string is not UTF-8');
    return text;
  }

  /** Reader of a nested message. */
  readMessage(): ProtobufReader {
    this.#expect(2);
    const end = this.#readLength();
    const nested = new ProtobufReader(this.#bytes, this.#at, end);
    this.#at = end;
    return nested;
  }

  /** Skips a field that the reader does not use. */
  skip(): void {
    if (this.#wireType === 0) this.#readVarint();
    else if (this.#wireType === 1) this.#advance(8);
    else if (this.#wireType === 2) this.#at = this.#readLength();
    else if (this.#wireType === 5) this.#advance(4);
    else throw new ProtobufError(`a field has the wire type ${this.#wireType}`);
  }

  #expect(type: number): void {
    if (this.#wireType !== type) throw new ProtobufError(`a field has the wire type ${this.#wireType}, not ${type}`);
  }

  #readByte(): number {
    if (this.#at >= this.#end) throw new ProtobufError('the message is cut off');
    return this.#bytes[this.#at++]!;
  }

  #readVarint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < maxVarintBytes; count++) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw new ProtobufError('an integer has more than ten bytes');
  }

  #readDouble(): number {
    const at = this.#at;
    this.#advance(8);
    return this.#bytes.readDoubleLE(at);
  }

  /** End of a length-delimited field. */
  #readLength(): number {
    const end = this.#readVarint() + this.#at;
    if (end > this.#end) throw new ProtobufError('the message is cut off');
    return end;
  }

  #advance(size: number): void {
    if (this.#at + size > this.#end) throw new ProtobufError('the message is cut off');
    this.#at += size;
  }
}
