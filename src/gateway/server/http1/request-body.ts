import { ChunkDecoder } from '../../http/http1/chunk-decoder.ts';
import type { HeadLimits } from '../../http/http1/head-parser.ts';

/** The connection a body arrives on. */
export interface BodySource {
  /** The reader asks for bytes, the first time. */
  onBodyRead(): void;
  /** The reader took what was buffered. */
  onBodyDrain(): void;
}

type Part = IteratorResult<Uint8Array, undefined>;

/** Request body: decodes what arrives and buffers it until it is read. One reader, one read at a time. */
export class RequestBody implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: BodySource;
  /** Bytes left of a body with a Content-Length. */
  #remainingBytes: number;
  readonly #decoder: ChunkDecoder | undefined;
  #chunks: Buffer[] = [];
  bufferedBytes = 0;
  /** All of it has arrived. */
  isComplete = false;
  /** The reader has returned: what arrives is discarded. */
  isAbandoned = false;
  #hasReader = false;
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
    while (end < bytes.length && !decoder.isDone) {
      end = decoder.read(bytes, end);
      this.#push(bytes, decoder.dataStart, decoder.dataEnd);
    }
    this.isComplete = decoder.isDone;
    return end;
  }

  #push(bytes: Buffer, start: number, end: number): void {
    if (end === start || this.isAbandoned) return;
    const chunk = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.resolve({ done: false, value: chunk });
    else {
      this.#chunks.push(chunk);
      this.bufferedBytes += chunk.length;
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
      this.bufferedBytes -= value.length;
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
