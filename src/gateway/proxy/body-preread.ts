import type { Body } from '../http/body.ts';
import { BodyBuffer } from '../http/body-buffer.ts';

/** Chunks before compaction: one-byte chunks would multiply the memory of a body. */
const maxChunks = 64;

/**
 * Request buffering: reads the first bytes of a body before the request takes a connection, so that a slow client holds
 * none. `maxTotalBytes` bounds the buffers of all requests of the thread; beyond it a body streams on with what was
 * read, as a large one does.
 */
export function createPreread(maxBytes: number, maxTotalBytes: number) {
  let bufferedBytes = 0;
  return {
    get bufferedBytes(): number {
      return bufferedBytes;
    },
    /** Reads a body to its end or `maxBytes`. The bytes count as buffered until released. */
    async read(body: Body): Promise<ReleasePreread> {
      const source = body.stream![Symbol.asyncIterator]();
      const buffer = new BodyBuffer(maxChunks);
      let size = 0;
      try {
        while (size < maxBytes && bufferedBytes < maxTotalBytes) {
          const { done, value } = await source.next();
          if (done) {
            body.replace(buffer.bytes());
            return () => {
              bufferedBytes -= size;
              size = 0;
            };
          }
          size += value.byteLength;
          bufferedBytes += value.byteLength;
          buffer.add(value);
        }
      } catch (error) {
        bufferedBytes -= size;
        throw error;
      }
      const resumed = new ResumedBody(buffer.bytes(), source);
      body.stream = resumed;
      return isSent => {
        bufferedBytes -= size;
        size = 0;
        if (!isSent) void resumed.return();
      };
    },
  };
}

/**
 * Releases the buffered bytes when the request is sent or abandoned; the rest of the body then stays on its connection.
 */
export type ReleasePreread = (isSent: boolean) => void;

export type Preread = ReturnType<typeof createPreread>;

/** Body that continues after its preread bytes. */
class ResumedBody implements AsyncIterableIterator<Uint8Array> {
  #first: Buffer | undefined;
  readonly #rest: AsyncIterator<Uint8Array>;

  constructor(first: Buffer, rest: AsyncIterator<Uint8Array>) {
    this.#first = first.length > 0 ? first : undefined;
    this.#rest = rest;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#first;
    if (value === undefined) return this.#rest.next();
    this.#first = undefined;
    return Promise.resolve({ done: false, value });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#first = undefined;
    return this.#rest.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
