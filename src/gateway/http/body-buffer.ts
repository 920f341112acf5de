/** Parts that are put together as they come. */
const compactAfter = 1000;

/**
 * The bytes of a body in the order they came. Each part takes far more room than its bytes: whoever sends one byte at a
 * time must not fill the memory with a body that is small.
 */
export class BodyBuffer {
  readonly #whole: Buffer[] = [];
  #parts: Uint8Array[] = [];
  readonly #maxParts: number;

  constructor(maxParts = compactAfter) {
    this.#maxParts = maxParts;
  }

  add(part: Uint8Array): void {
    if (this.#parts.push(part) < this.#maxParts) return;
    this.#whole.push(Buffer.concat(this.#parts));
    this.#parts = [];
  }

  /** How many pieces of memory it takes. */
  get pieces(): number {
    return this.#whole.length + this.#parts.length;
  }

  bytes(): Buffer {
    return Buffer.concat([...this.#whole, ...this.#parts]);
  }
}
