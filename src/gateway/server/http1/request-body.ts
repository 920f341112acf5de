import { ChunkDecoder } from '../../http/http1/chunk-decoder.ts';
import type { HeadLimits } from '../../http/http1/head-parser.ts';

/** The connection a body arrives on. */
export interface BodySource {
  /** First demand of the reader for bytes. */
  onBodyRead(): void;
  /** The reader took what was buffered. */
  onBodyDrain(): void;
}

/** Memory of a buffered chunk beyond its bytes: one-byte reads would multiply the memory of a body. */
const chunkOverheadBytes = 256;

type Part = IteratorResult<Uint8Array, undefined>;

/** Request body: decodes what arrives and buffers it until it is read. One reader, one read at a time. */
export class RequestBody implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: BodySource;
  /** Bytes left of a body with a Content-Length. */
  #remainingBytes: number;
  readonly #decoder: ChunkDecoder | undefined;
  #chunks: Buffer[] = [];
  /** Memory of the buffered chunks. */
  bufferedBytes = 0;
  /** All of it has arrived. */
  isComplete = false;
  /** The reader has returned: what arrives is discarded. */
  isAbandoned = false;
  #hasReader = false;
  #isInvalid = false;
  #error: Error | undefined;
  #waiting: { resolve(part: Part): void; reject(error: Error): void } | undefined;

  /** `contentLength` is undefined for the chunked coding. */
  constructor(source: BodySource, contentLength: number | undefined, limits: HeadLimits) {
    this.#source = source;
    this.#remainingBytes = contentLength ?? 0;
    this.#decoder = contentLength === undefined ? new ChunkDecoder(limits) : undefined;
  }

  /** Decodes bytes from `at`; returns the offset after the body or all bytes. Throws Http1ParseError. */
  receive(bytes: Buffer, at: number): number {
    const end = this.#decoder === undefined ? this.#receiveLength(bytes, at) : this.#receiveChunks(bytes, at);
    if (this.isComplete) this.#resolveWaiting();
    return end;
  }

  /** Discards bytes after the response; true at the end of the body. Where an invalid one ends is unknown. */
  discard(bytes: Buffer): boolean {
    try {
      if (!this.#isInvalid) this.receive(bytes, 0);
    } catch {
      this.#isInvalid = true;
    }
    return this.isComplete;
  }

  #receiveLength(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#remainingBytes);
    this.#remainingBytes -= end - at;
    this.isComplete = this.#remainingBytes === 0;
    this.#push(bytes, at, end);
    return end;
  }

  #receiveChunks(bytes: Buffer, at: number): number {
    const decoder = this.#decoder!;
    let end = at;
    let dataStart = at;
    let dataEnd = at;
    while (end < bytes.length && !decoder.isDone) {
      end = decoder.read(bytes, end);
      if (decoder.dataEnd === decoder.dataStart) continue;
      // The chunks of one read become one, in place: tiny ones would multiply the memory of a body.
      if (dataEnd === dataStart) dataStart = dataEnd = decoder.dataStart;
      else bytes.copyWithin(dataEnd, decoder.dataStart, decoder.dataEnd);
      dataEnd += decoder.dataEnd - decoder.dataStart;
    }
    this.isComplete = decoder.isDone;
    this.#push(bytes, dataStart, dataEnd);
    return end;
  }

  #push(bytes: Buffer, start: number, end: number): void {
    if (end === start || this.isAbandoned) return;
    const part = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    // A small part does not hold the memory of a large read.
    const chunk = part.length * 2 < bytes.length ? Buffer.from(part) : part;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.resolve({ done: false, value: chunk });
    else {
      this.#chunks.push(chunk);
      this.bufferedBytes += chunk.length + chunkOverheadBytes;
    }
  }

  fail(error: Error): void {
    if (this.isComplete) return;
    this.#error = error;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Part> {
    if (!this.#hasReader) {
      this.#hasReader = true;
      if (!this.isComplete) this.#source.onBodyRead();
    }
    const value = this.#chunks.shift();
    if (value !== undefined) {
      this.bufferedBytes -= value.length + chunkOverheadBytes;
      if (this.#chunks.length === 0) this.#source.onBodyDrain();
      return Promise.resolve({ done: false, value });
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.isComplete || this.isAbandoned) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<Part> {
    this.isAbandoned = true;
    this.#chunks = [];
    this.bufferedBytes = 0;
    this.#resolveWaiting();
    return Promise.resolve({ done: true, value: undefined });
  }

  #resolveWaiting(): void {
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
  }
}
