import { createPublicId } from '#base/ids.ts';

/** Longest head of a frame (RFC 6455, 5.2): two bytes, eight of a length, four of a mask. */
const maxHeadBytes = 14;
const closeOpcode = 8;

/** Follows the frames of one direction of a WebSocket (RFC 6455, 5.2) without looking at their payload. */
export class FrameTracker {
  readonly #head = new Uint8Array(maxHeadBytes);
  #headBytes = 0;
  #payloadLeft = 0;
  /** A Close frame has begun: nothing may follow it in this direction. */
  hasClose = false;

  /** Between two frames: only here another frame may be put in. */
  get isBetweenFrames(): boolean {
    return this.#headBytes === 0 && this.#payloadLeft === 0;
  }

  /** Takes a chunk, or its part up to the next end of a frame. Returns the number of bytes taken. */
  take(chunk: Uint8Array, stopsBetweenFrames = false): number {
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const step = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= step;
        at += step;
      } else this.#takeHead(chunk[at++]!);
      if (stopsBetweenFrames && this.isBetweenFrames) break;
    }
    return at;
  }

  #takeHead(byte: number): void {
    const head = this.#head;
    head[this.#headBytes++] = byte;
    if (this.#headBytes < 2) return;
    const short = head[1]! & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (this.#headBytes < 2 + lengthBytes + (head[1]! & 0x80 ? 4 : 0)) return;
    let length = lengthBytes === 0 ? short : 0;
    for (let at = 2; at < 2 + lengthBytes; at++) length = length * 256 + head[at]!;
    if ((head[0]! & 0x0f) === closeOpcode) this.hasClose = true;
    this.#payloadLeft = length;
    this.#headBytes = 0;
  }
}

/** A Close frame with a status code; frames of clients are masked with an unpredictable key (RFC 6455, 5.3). */
export function toCloseFrame(code: number, isClient: boolean): Buffer {
  const payload = [code >> 8, code & 0xff];
  const mask = isClient ? Buffer.from(createPublicId().slice(0, 8), 'hex') : Buffer.alloc(0);
  const masked = payload.map((byte, at) => (isClient ? byte ^ mask[at]! : byte));
  return Buffer.from([0x80 | closeOpcode, payload.length | (isClient ? 0x80 : 0), ...mask, ...masked]);
}
