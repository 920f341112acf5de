import type { Body } from '../http/body.ts';
import { BodyBuffer } from '../http/body-buffer.ts';

/** Chunks before compaction: one-byte chunks would multiply the memory of a body. */
const maxChunks = 64;

/** Bytes of one body that are read while its request is queued. */
const maxQueuedBodyBytes = 4_194_304;

/** Part of the total for them: the rest is left for the first bytes of other requests. */
const maxQueuedShare = 0.5;

/**
 * Request buffering: reads the first bytes of a body before the request takes a connection, so that a slow client holds
 * none. `maxTotalBytes` bounds the buffers of all requests of the thread; beyond it a body streams on with what was
 * read, as a large one does.
 */
export function createPreread(maxBytes: number, maxTotalBytes: number) {
  const total: BufferedTotal = { bytes: 0, maxQueuedBytes: maxTotalBytes * maxQueuedShare };
  return {
    get bufferedBytes(): number {
      return total.bytes;
    },
    /** Reads a body to its end or `maxBytes`. The bytes count as buffered until released. */
    async read(body: Body): Promise<PrereadBody> {
      const preread = new PrereadBody(body.stream!, total);
      try {
        await preread.fill(maxBytes, maxTotalBytes);
      } catch (error) {
        preread.release(true);
        throw error;
      }
      if (preread.isComplete) body.replace(preread.takeBytes());
      else body.stream = preread;
      return preread;
    },
    /** Reads nothing of a body unless its request is queued. */
    hold(body: Body): PrereadBody {
      const preread = new PrereadBody(body.stream!, total);
      body.stream = preread;
      return preread;
    },
  };
}

export type Preread = ReturnType<typeof createPreread>;

interface BufferedTotal {
  bytes: number;
  readonly maxQueuedBytes: number;
}

/** Body whose first bytes are buffered until its request is sent. */
export class PrereadBody implements AsyncIterableIterator<Uint8Array> {
  /** The buffer has all of the body. */
  isComplete = false;
  readonly #stream: AsyncIterable<Uint8Array>;
  readonly #total: BufferedTotal;
  #source: AsyncIterator<Uint8Array> | undefined;
  #buffer: BodyBuffer | undefined = new BodyBuffer(maxChunks);
  #size = 0;
  /** Read that is in progress or ended the body: its result belongs to the reader of the body. */
  #lastRead: Promise<IteratorResult<Uint8Array>> | undefined;
  #isReleased = false;

  constructor(stream: AsyncIterable<Uint8Array>, total: BufferedTotal) {
    this.#stream = stream;
    this.#total = total;
  }

  /** Buffers until the body ends or a bound is reached. */
  async fill(maxBytes: number, maxTotalBytes: number): Promise<void> {
    const total = this.#total;
    while (this.#size < maxBytes && total.bytes < maxTotalBytes) {
      this.#lastRead = this.#readSource();
      const { done, value } = await this.#lastRead;
      if (this.#isReleased) return;
      if (done) {
        this.isComplete = true;
        return;
      }
      this.#lastRead = undefined;
      this.#size += value.byteLength;
      total.bytes += value.byteLength;
      this.#buffer!.add(value);
    }
  }

  /**
   * Reads on while the request is queued: the end of a client that disconnects is behind the bytes it has sent. A body
   * beyond the bounds waits in the network, and its end is recognised when it is read.
   */
  readWhileQueued(onError: (error: Error) => void): void {
    if (this.isComplete) return;
    this.fill(maxQueuedBodyBytes, this.#total.maxQueuedBytes).catch(error => {
      if (!this.#isReleased) onError(error as Error);
    });
  }

  /** Ends the buffering when the request is sent or abandoned; the rest of the body then stays on its connection. */
  release(isSent: boolean): void {
    this.#isReleased = true;
    this.#total.bytes -= this.#size;
    this.#size = 0;
    if (!isSent && !this.isComplete) void this.return();
  }

  takeBytes(): Buffer {
    const buffer = this.#buffer;
    this.#buffer = undefined;
    return buffer?.bytes() ?? Buffer.alloc(0);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#buffer !== undefined) {
      const value = this.takeBytes();
      if (value.length > 0) return Promise.resolve({ done: false, value });
    }
    const read = this.#lastRead ?? this.#readSource();
    this.#lastRead = undefined;
    return read;
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#buffer = undefined;
    return this.#source?.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #readSource(): Promise<IteratorResult<Uint8Array>> {
    this.#source ??= this.#stream[Symbol.asyncIterator]();
    return this.#source.next();
  }
}
