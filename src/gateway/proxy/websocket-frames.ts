import { createPublicId } from '#base/ids.ts';
import { closeOpcode } from './websocket-codes.ts';

/** Longest frame header (RFC 6455, 5.2): two bytes, eight of length, four of mask. */
const maxHeadBytes = 14;

/** Tracks the frame boundaries of one direction (RFC 6455, 5.2) without reading payloads. */
export class FrameTracker {
  readonly #head = new Uint8Array(maxHeadBytes);
  #headBytes = 0;
  #remainingPayload = 0;
  /** A Close frame began: no frame may follow it. */
  hasClose = false;

  /** Between two frames, where another frame may be inserted. */
  get isBetweenFrames(): boolean {
    return this.#headBytes === 0 && this.#remainingPayload === 0;
  }

  /** Consumes a chunk, or up to the next frame end. Returns the bytes consumed. */
  take(chunk: Uint8Array, stopsBetweenFrames = false): number {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#remainingPayload > 0) {
        const step = Math.min(this.#remainingPayload, chunk.length - offset);
        this.#remainingPayload -= step;
        offset += step;
      } else this.#takeHead(chunk[offset++]!);
      if (stopsBetweenFrames && this.isBetweenFrames) break;
    }
    return offset;
  }

  #takeHead(byte: number): void {
    const head = this.#head;
    head[this.#headBytes++] = byte;
    if (this.#headBytes < 2) return;
    const short = head[1]! & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (this.#headBytes < 2 + lengthBytes + (head[1]! & 0x80 ? 4 : 0)) return;
    let length = lengthBytes === 0 ? short : 0;
    for (let offset = 2; offset < 2 + lengthBytes; offset++) length = length * 256 + head[offset]!;
    if ((head[0]! & 0x0f) === closeOpcode) this.hasClose = true;
    this.#remainingPayload = length;
    this.#headBytes = 0;
  }
}

/** A Close frame with a status code. */
export const toCloseFrame = (code: number, isClient: boolean): Buffer =>
  toFrame(closeOpcode, Buffer.from([code >> 8, code & 0xff]), isClient);

/** A whole frame; those of clients are masked with an unpredictable key (RFC 6455, 5.3). */
export function toFrame(opcode: number, payload: Buffer, isClient: boolean): Buffer {
  const { length } = payload;
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + lengthBytes);
  head[0] = 0x80 | opcode;
  head[1] = (isClient ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(length, 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(length), 2);
  if (!isClient) return Buffer.concat([head, payload]);
  const mask = Buffer.from(createPublicId().slice(0, 8), 'hex');
  const masked = Buffer.from(payload);
  for (let at = 0; at < length; at++) masked[at]! ^= mask[at & 3]!;
  return Buffer.concat([head, mask, masked]);
}
