const empty = Buffer.alloc(0);

/**
 * Receive buffer: bytes that wait for the rest of a frame. Its capacity doubles, so many small chunks are copied in
 * linear time. Bytes that were handed out are never overwritten.
 */
export class ReceiveBuffer {
  #store: Buffer = empty;
  #start = 0;
  #end = 0;

  get bytes(): Buffer {
    return this.#store.subarray(this.#start, this.#end);
  }

  append(chunk: Buffer): void {
    if (this.#start === this.#end) {
      this.#store = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      return;
    }
    if (this.#end + chunk.length > this.#store.length) this.#grow(chunk.length);
    this.#end += chunk.copy(this.#store, this.#end);
  }

  /** Removes the first bytes and returns them. */
  consume(count: number): Buffer {
    const taken = this.#store.subarray(this.#start, this.#start + count);
    this.#start += count;
    if (this.#start === this.#end) {
      this.#store = empty;
      this.#start = 0;
      this.#end = 0;
    }
    return taken;
  }

  #grow(addedBytes: number): void {
    const { bytes } = this;
    this.#store = Buffer.allocUnsafe(2 * (bytes.length + addedBytes));
    this.#start = 0;
    this.#end = bytes.copy(this.#store);
  }
}
