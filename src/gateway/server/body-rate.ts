import { type Body, bodyFromStream, problem } from '../http/body.ts';

export interface BodyRateOptions {
  /** 0 sets no minimum. */
  readonly minBytesPerSecond: number;
  /** How much waiting the rate is measured over. */
  readonly windowMs: number;
}

/** How many times in a window the slow ones are looked for. */
const checksPerWindow = 4;

/**
 * Minimum rate of request bodies. Only the time in which the gateway waits for the client counts: a client whose upstream
 * reads slowly is not slow. One timer for all bodies of a transport that are waited for, which runs while there are some.
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
    /** A body whose reader gets `body.too_slow` when its sender falls below the rate. */
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
  readonly #forget: (it: RatedStream) => void;
  #source: AsyncIterator<Uint8Array> | undefined;
  #lifted = false;
  /** Since when the reader waits for a chunk. */
  #waitsSince = 0;
  #waitedMs = 0;
  #bytes = 0;
  #fail: ((error: Error) => void) | undefined;

  constructor(stream: AsyncIterable<Uint8Array>, watch: (it: RatedStream) => void, forget: (it: RatedStream) => void) {
    this.#stream = stream;
    this.#watch = watch;
    this.#forget = forget;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  lift(): void {
    this.#lifted = true;
    this.#forget(this);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    this.#source ??= this.#stream[Symbol.asyncIterator]();
    if (this.#lifted) return this.#source.next();
    const source = this.#source;
    this.#watch(this);
    this.#waitsSince = performance.now();
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      source.next().then(
        part => {
          this.#arrived(part);
          resolve(part);
        },
        error => {
          this.#forget(this);
          reject(error);
        },
      );
    });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#forget(this);
    return this.#source?.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  #arrived({ done, value }: IteratorResult<Uint8Array>): void {
    this.#waitedMs += performance.now() - this.#waitsSince;
    this.#forget(this);
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
    this.#forget(this);
    this.#fail?.(problem.too_slow());
    // Settles after the read that is under way, and leaves the rest of the body to the connection.
    this.#source?.return?.().catch(() => undefined);
  }
}
