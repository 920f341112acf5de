/**
 * Queue between a connection that pushes and a reader that pulls. `push` returns a promise while the reader has not taken
 * what came before: the connection waits for it, so that the queue holds one value.
 */
export class EventQueue<T> {
  #value: { readonly value: T } | undefined;
  #end: { readonly error: Error | undefined } | undefined;
  #onTaken: (() => void) | undefined;
  #onChange: (() => void) | undefined;

  push(value: T): Promise<void> | undefined {
    if (this.#end) return undefined;
    this.#value = { value };
    this.#onChange?.();
    return new Promise(resolve => {
      this.#onTaken = resolve;
    });
  }

  /** End of the queue, with the error that reading throws. A value that waits is read first. */
  end(error?: Error): void {
    if (this.#end) return;
    this.#end = { error };
    this.#onChange?.();
    this.#onTaken?.();
  }

  /** One reader. */
  async *read(): AsyncGenerator<T, void> {
    for (;;) {
      const taken = this.#value;
      if (taken) {
        this.#value = undefined;
        yield taken.value;
        this.#onTaken?.();
        continue;
      }
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>(resolve => {
        this.#onChange = resolve;
      });
    }
  }
}
