const firstCapacityBytes = 512;

/** Bytes of an incomplete line. Grows by doubling: one-byte reads must not copy all bytes each time. */
export class PendingBytes {
  #buffer: Buffer | undefined;
  length = 0;

  append(bytes: Buffer, start: number, end: number): void {
    const size = this.length + end - start;
    if (this.#buffer === undefined || this.#buffer.length < size) this.#grow(size);
    bytes.copy(this.#buffer!, this.length, start, end);
    this.length = size;
  }

  #grow(size: number): void {
    let capacity = firstCapacityBytes;
    while (capacity < size) capacity *= 2;
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#buffer?.copy(grown, 0, 0, this.length);
    this.#buffer = grown;
  }

  /** Takes all bytes, and releases the memory. There are some. */
  take(): Buffer {
    const bytes = this.#buffer!.subarray(0, this.length);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#buffer = undefined;
    this.length = 0;
  }
}
