/** The broker, or the bytes that it sent, cannot be used. `isFinal`: another attempt would fail the same way. */
export class KafkaError extends Error {
  readonly isFinal: boolean;

  constructor(message: string, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

const createMalformed = () => new KafkaError('a message of the broker is malformed', true);

/** Values of requests (Kafka protocol, versions without compact forms). */
export const encode = {
  int8: (value: number): Buffer => Buffer.from([value & 0xff]),
  int16(value: number): Buffer {
    const bytes = Buffer.alloc(2);
    bytes.writeInt16BE(value);
    return bytes;
  },
  int32(value: number): Buffer {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  },
  int64(value: bigint): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(value);
    return bytes;
  },
  text(value: string): Buffer {
    const bytes = Buffer.from(value);
    return Buffer.concat([encode.int16(bytes.length), bytes]);
  },
  bytes: (value: Buffer): Buffer => Buffer.concat([encode.int32(value.length), value]),
  list: <T>(items: readonly T[], write: (item: T) => Buffer): Buffer =>
    Buffer.concat([encode.int32(items.length), ...items.map(write)]),
};

/** Reads values of a response or of a record. Throws `KafkaError` beyond the end. */
export class KafkaReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  take(length: number): Buffer {
    if (length < 0 || length > this.remaining) throw createMalformed();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  int8 = (): number => this.take(1).readInt8();
  int16 = (): number => this.take(2).readInt16BE();
  int32 = (): number => this.take(4).readInt32BE();
  int64 = (): bigint => this.take(8).readBigInt64BE();

  /** Empty for null. */
  text(): string {
    const length = this.int16();
    return length < 0 ? '' : this.take(length).toString();
  }

  /** Undefined for null. */
  bytes(): Buffer | undefined {
    const length = this.int32();
    return length < 0 ? undefined : this.take(length);
  }

  list<T>(read: () => T): T[] {
    const length = this.int32();
    // Every item has a byte at least: the length of a hostile response allocates nothing.
    if (length > this.remaining) throw createMalformed();
    const items: T[] = [];
    for (let at = 0; at < length; at++) items.push(read());
    return items;
  }

  /** Zigzag integer of variable length, of at most 32 bits. */
  varint(): number {
    return Number(this.varlong());
  }

  varlong(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.take(1)[0]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return (value >> 1n) ^ -(value & 1n);
    }
    throw createMalformed();
  }
}
