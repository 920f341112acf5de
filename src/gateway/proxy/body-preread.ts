import type { Body } from '../http/body.ts';
import { BodyBuffer } from '../http/body-buffer.ts';

/** Chunks are joined at this number: a body that comes byte by byte must not take a multiple of its size. */
const maxChunks = 64;

/**
 * Request buffering: the first bytes of a body are read before the request asks for a connection, so that a slow sender
 * holds none. `maxTotalBytes` bounds what all requests of the thread hold this way; where it is used up, a body goes on
 * with what there is and the rest of it streams, as a large one does.
 */
export function createPreread(maxBytes: number, maxTotalBytes: number) {
  let bufferedBytes = 0;
  return {
    get bufferedBytes(): number {
      return bufferedBytes;
    },
    /** Reads a body to its end or `maxBytes`. The bytes count as held until they are let go. */
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

/** Called when the request is sent, or will not be: what is left of its body then stays with its connection. */
export type ReleasePreread = (isSent: boolean) => void;

export type Preread = ReturnType<typeof createPreread>;

/** A body that was begun: what was read of it, then the rest from where reading stopped. */
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
