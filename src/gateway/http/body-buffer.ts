/** Chunks before compaction. */
const compactAfter = 1000;

/**
 * Buffers a body. Concatenates every 1,000 chunks: a Buffer object costs far more than one byte, so one-byte chunks
 * would multiply the memory of a small body.
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

  /** Buffers held in memory. */
  get chunkCount(): number {
    return this.#compacted.length + this.#chunks.length;
  }

  bytes(): Buffer {
    return Buffer.concat([...this.#compacted, ...this.#chunks]);
  }
}
