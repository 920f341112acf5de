import { sharedReadBytes } from '../../http/http1/shared-read.ts';

/** Bytes of one read, and room for the head and the chunk framing around them. */
const writeBufferBytes = sharedReadBytes + 32_768;

/** Buffers that wait for their next use; a write to a slow client holds one, and there may be more of these. */
const maxFreeBuffers = 8;

/**
 * Write buffers of a transport. Bytes of a shared read are copied into one and written from there; the buffer is used
 * again when they are sent. New ones for each write would be garbage outside of the heap, which costs V8 as much time as
 * all else that a large response does.
 */
export class WriteBuffers {
  readonly #free: Buffer[] = [];

  /** Joins text, bytes and text. `release` after the write, unless it failed. */
  join(before: string, chunk: Uint8Array, after: string): Buffer {
    const length = before.length + chunk.length + after.length;
    const buffer = length > writeBufferBytes ? Buffer.allocUnsafeSlow(length) : this.#take();
    buffer.write(before, 0, 'latin1');
    buffer.set(chunk, before.length);
    buffer.write(after, before.length + chunk.length, 'latin1');
    return buffer.subarray(0, length);
  }

  #take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(writeBufferBytes);
  }

  release({ buffer, byteOffset }: Buffer): void {
    if (buffer.byteLength !== writeBufferBytes || this.#free.length === maxFreeBuffers) return;
    this.#free.push(Buffer.from(buffer, byteOffset, writeBufferBytes));
  }
}
