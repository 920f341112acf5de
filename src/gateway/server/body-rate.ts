import { type Body, bodyFromStream, problem } from '../http/body.ts';

export interface BodyRateOptions {
  /** 0 sets no minimum. */
  readonly minBytesPerSecond: number;
  /** Waiting time over which the rate is measured. */
  readonly windowMs: number;
}

/** Rate checks in one window. */
const checksPerWindow = 4;

/**
 * Minimum rate of request bodies. Only time spent waiting for the client counts: a client whose upstream reads slowly
 * is not slow. One timer per transport, running only while bodies are awaited.
 */
export function createBodyRate({ minBytesPerSecond, windowMs }: BodyRateOptions) {
  const watched = new Set<RatedStream>();
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    const now = performance.now();
    for (const stream of watched) stream.check(now, windowMs, minBytesPerSecond);
    if (watched.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  function watch(stream: RatedStream): void {
    watched.add(stream);
    timer ??= setInterval(check, Math.max(1, windowMs / checksPerWindow)).unref();
  }

  return {
    /** Wraps a body; its reader gets `body.too_slow` when the client falls below the rate. */
    body(stream: AsyncIterable<Uint8Array>, length: number | undefined): Body {
      if (minBytesPerSecond === 0) return bodyFromStream(stream, length);
      const rated = new RatedStream(stream, watch, it => watched.delete(it));
      const body = bodyFromStream(rated, length);
      body.liftMinRate = () => rated.lift();
      return body;
    },
  };
}

export type BodyRate = ReturnType<typeof createBodyRate>;

class RatedStream implements AsyncIterableIterator<Uint8Array> {
  readonly #stream: AsyncIterable<Uint8Array>;
  readonly #watch: (it: RatedStream) => void;
  readonly #unwatch: (it: RatedStream) => void;
  #source: AsyncIterator<Uint8Array> | undefined;
  #isLifted = false;
  /** Start of the current wait for a chunk. */
  #waitsSince = 0;
  #waitedMs = 0;
  #bytes = 0;
  #fail: ((error: Error) => void) | undefined;

  constructor(stream: AsyncIterable<Uint8Array>, watch: (it: RatedStream) => void, unwatch: (it: RatedStream) => void) {
    this.#stream = stream;
    this.#watch = watch;
    this.#unwatch = unwatch;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  lift(): void {
    this.#isLifted = true;
    this.#unwatch(this);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    this.#source ??= this.#stream[Symbol.asyncIterator]();
    if (this.#isLifted) return this.#source.next();
    const source = this.#source;
    this.#watch(this);
    this.#waitsSince = performance.now();
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      source.next().then(
        part => {
          this.#countChunk(part);
          resolve(part);
        },
        error => {
          this.#unwatch(this);
          reject(error);
        },
      );
    });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#unwatch(this);
    return this.#source?.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  #countChunk({ done, value }: IteratorResult<Uint8Array>): void {
    this.#waitedMs += performance.now() - this.#waitsSince;
    this.#unwatch(this);
    if (!done) this.#bytes += value.byteLength;
  }

  check(now: number, windowMs: number, minBytesPerSecond: number): void {
    const waitedMs = this.#waitedMs + now - this.#waitsSince;
    if (waitedMs < windowMs) return;
    const isSlow = this.#bytes < (waitedMs / 1000) * minBytesPerSecond;
    this.#waitedMs = 0;
    this.#bytes = 0;
    this.#waitsSince = now;
    if (!isSlow) return;
    this.#unwatch(this);
    this.#fail?.(problem.too_slow());
    // Settles after the read in progress; the connection drains the rest of the body.
    this.#source?.return?.().catch(() => undefined);
  }
}
