/** Memory beyond which the connection is not read until the response in progress is complete. */
const maxReadAheadBytes = 65_536;

/** Memory of a read beyond its bytes: one-byte reads would multiply the memory of a connection. */
const readOverheadBytes = 256;

/**
 * Read-ahead of pipelined requests (RFC 9112, 9.3.2): their bytes wait, unparsed, for the response in progress. What
 * does not fit waits in the network: the connection is paused, and every request is answered in its turn.
 */
export class ReadAhead {
  #chunks: Buffer[] = [];
  byteLength = 0;

  get isFull(): boolean {
    return this.byteLength + this.#chunks.length * readOverheadBytes > maxReadAheadBytes;
  }

  hold(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.byteLength += bytes.length;
  }

  /** Takes all bytes; the connection holds those after the next request again. */
  take(): Buffer {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.byteLength = 0;
    return bytes;
  }
}
