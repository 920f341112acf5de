import { problems } from '#base/problems.ts';
import { BodyBuffer } from './body-buffer.ts';

export const problem = problems('body', {
  too_large: { status: 413, message: 'Request Entity Too Large' },
  too_slow: { status: 408, message: 'Request Timeout' },
  client_disconnected: { status: 499, message: 'Client closed request' },
});

/**
 * Request or response body: empty, buffered bytes, or a stream that is read at most once. Steps that need all of it
 * `read` it, within a bound; otherwise it streams through.
 */
export class Body {
  stream: AsyncIterable<Uint8Array> | undefined;
  bytes: Buffer | undefined;
  /** Content-Length; undefined without one. */
  length: number | undefined;
  /** Lifts the minimum transfer rate of the sender; absent where there is none. */
  liftMinRate: (() => void) | undefined = undefined;

  constructor(stream: AsyncIterable<Uint8Array> | undefined, bytes: Buffer | undefined, length: number | undefined) {
    this.stream = stream;
    this.bytes = bytes;
    this.length = length;
  }

  get isEmpty(): boolean {
    return this.stream === undefined && (this.bytes === undefined || this.bytes.length === 0);
  }

  /** Buffers the whole body; a second read returns the same bytes. */
  async read(maxBytes: number): Promise<Buffer> {
    if (this.stream === undefined) return this.bytes ?? noBytes;
    if (this.length !== undefined && this.length > maxBytes) throw problem.too_large();
    if (this.replaceReceived()) return this.bytes!;
    const buffer = new BodyBuffer();
    let size = 0;
    for await (const chunk of this.stream) {
      size += chunk.byteLength;
      if (size > maxBytes) throw problem.too_large();
      buffer.add(chunk);
    }
    const bytes = buffer.bytes();
    this.replace(bytes);
    return bytes;
  }

  /** Replaces a stream of bytes that were received with the request head by these bytes; false for other streams. */
  replaceReceived(): boolean {
    if (!(this.stream instanceof ReceivedBytes)) return false;
    this.replace(this.stream.bytes);
    return true;
  }

  replace(bytes: Buffer): void {
    this.stream = undefined;
    this.bytes = bytes;
    this.length = bytes.length;
  }
}

/** Stream of bytes that are there already: unlike buffered bytes, no reader has applied its bound to them. */
class ReceivedBytes implements AsyncIterable<Uint8Array> {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    yield this.bytes;
  }
}

export const bodyFromReceived = (bytes: Buffer): Body => new Body(new ReceivedBytes(bytes), undefined, bytes.length);
export const noBytes: Buffer = Buffer.alloc(0);
export const noBody = (): Body => new Body(undefined, undefined, 0);
export const bodyFromBytes = (bytes: Buffer): Body => new Body(undefined, bytes, bytes.length);
export const bodyFromStream = (stream: AsyncIterable<Uint8Array>, length: number | undefined): Body =>
  new Body(stream, undefined, length);
