import type { Sink } from '../../pipeline/response-writer.ts';

/** What happens to an answer on its way. */
export interface Watching {
  /** More headers for it, as a flat list. */
  onStart(status: number): readonly string[];
  onEnd(): void;
}

/** The same sink, with more in the head of what goes through it. A class, since the engine sets `onDrain` on it. */
export class ExplainedSink implements Sink {
  readonly #inner: Sink;
  readonly #watching: Watching;
  readonly switchProtocol?: NonNullable<Sink['switchProtocol']>;

  constructor(inner: Sink, watching: Watching) {
    this.#inner = inner;
    this.#watching = watching;
    const { switchProtocol } = inner;
    if (switchProtocol)
      this.switchProtocol = (headers, goAway) =>
        switchProtocol.call(inner, [...headers, ...watching.onStart(101)], goAway);
  }

  get onDrain(): Sink['onDrain'] {
    return this.#inner.onDrain;
  }

  set onDrain(drained: Sink['onDrain']) {
    this.#inner.onDrain = drained;
  }

  start(status: number, headers: string[]): void {
    this.#inner.start(status, [...headers, ...this.#watching.onStart(status)]);
  }

  write(chunk: Uint8Array): boolean {
    return this.#inner.write(chunk);
  }

  finish(chunk?: Uint8Array, trailers?: readonly string[]): void {
    this.#watching.onEnd();
    this.#inner.finish(chunk, trailers);
  }

  abort(): void {
    this.#watching.onEnd();
    this.#inner.abort();
  }
}
