/** Parts that are put together as they come. */
const compactAfter = 1000;

/**
 * The bytes of a body in the order they came. Each part takes far more room than its bytes: whoever sends one byte at a
 * time must not fill the memory with a body that is small.
 */
export class BodyBuffer {
  readonly #compacted: Buffer[] = [];
  #chunks: Uint8Array[] = [];
  readonly #maxChunks: number;

  constructor(maxChunks = compactAfter) {
    this.#maxChunks = maxChunks;
  }

  add(chunk: Uint8Array): void {
    if (this.#chunks.push(chunk) < this.#maxChunks) return;
    this.#compacted.push(Buffer.concat(this.#chunks));
    this.#chunks = [];
  }

  /** How many pieces of memory it takes. */
  get chunkCount(): number {
    return this.#compacted.length + this.#chunks.length;
  }

  bytes(): Buffer {
    return Buffer.concat([...this.#compacted, ...this.#chunks]);
  }
}
