import type { ParsedFields } from '../../http/http1/parsed-fields.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';

/** Callbacks of a response. */
export interface ResponseEvents {
  /** Returns additional headers as a flat list. */
  onStart(status: number): readonly string[];
  onEnd(): void;
}

/** Response writer that adds headers. A class, since the proxy sets `onDrain` on it. */
export class ExplainedWriter implements ResponseWriter {
  readonly #inner: ResponseWriter;
  readonly #watching: ResponseEvents;
  readonly switchProtocol?: NonNullable<ResponseWriter['switchProtocol']>;

  constructor(inner: ResponseWriter, events: ResponseEvents) {
    this.#inner = inner;
    this.#watching = events;
    const { switchProtocol } = inner;
    if (switchProtocol)
      this.switchProtocol = (headers, goAway) =>
        switchProtocol.call(inner, [...headers, ...events.onStart(101)], goAway);
  }

  get onDrain(): ResponseWriter['onDrain'] {
    return this.#inner.onDrain;
  }

  set onDrain(drained: ResponseWriter['onDrain']) {
    this.#inner.onDrain = drained;
  }

  writeHead(status: number, headers: string[], parsed?: ParsedFields, isHeld?: boolean): void {
    this.#inner.writeHead(status, [...headers, ...this.#watching.onStart(status)], parsed, isHeld);
  }

  flush(): void {
    this.#inner.flush?.();
  }

  get takesShared(): boolean | undefined {
    return this.#inner.takesShared;
  }

  write(chunk: Uint8Array, isShared?: boolean): boolean {
    return this.#inner.write(chunk, isShared);
  }

  end(chunk?: Uint8Array, trailers?: readonly string[], isShared?: boolean): void {
    this.#watching.onEnd();
    this.#inner.end(chunk, trailers, isShared);
  }

  abort(): void {
    this.#watching.onEnd();
    this.#inner.abort();
  }
}
