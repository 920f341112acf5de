import { continuationOpcode, textOpcode } from './websocket-codes.ts';
import { readFrame, type WebSocketFrame } from './websocket-messages.ts';

/** A longer message is not observed: its bytes are not kept. */
const maxObservedBytes = 65_536;
const noBytes = Buffer.alloc(0);

/** Observer of the text messages of a server, whose frames pass unchanged. A class: one is created per connection. */
export class MessageObserver {
  readonly #onMessage: (payload: Buffer) => void;
  /** Start of a frame whose header is incomplete. */
  #head: Buffer = noBytes;
  #frame: WebSocketFrame | undefined;
  #remainingPayload = 0;
  #parts: Buffer[] = [];
  #messageBytes = 0;
  #isObserved = false;

  constructor(onMessage: (payload: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  take(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (!this.#frame) {
        const bytes = this.#head.length === 0 ? rest : Buffer.concat([this.#head, rest]);
        const frame = readFrame(bytes);
        if (!frame) {
          this.#head = Buffer.from(bytes);
          return;
        }
        this.#head = noBytes;
        this.#begin(frame);
        rest = bytes.subarray(frame.headBytes);
      }
      const part = rest.subarray(0, this.#remainingPayload);
      rest = rest.subarray(part.length);
      this.#takePayload(part);
    }
  }

  #begin(frame: WebSocketFrame): void {
    this.#frame = frame;
    this.#remainingPayload = frame.payloadBytes;
    if (!isData(frame)) return;
    if (frame.opcode !== continuationOpcode) {
      this.#drop();
      this.#isObserved = frame.opcode === textOpcode && !frame.hasReservedBits;
    }
    this.#messageBytes += frame.payloadBytes;
    if (this.#messageBytes > maxObservedBytes) this.#drop();
  }

  #takePayload(part: Buffer): void {
    const frame = this.#frame!;
    this.#remainingPayload -= part.length;
    // A copy: a part of a chunk keeps the whole chunk in memory.
    if (this.#isObserved && isData(frame) && part.length > 0) this.#parts.push(Buffer.from(part));
    if (this.#remainingPayload > 0) return;
    this.#frame = undefined;
    if (!isData(frame) || !frame.isFinal || !this.#isObserved) return;
    const payload = Buffer.concat(this.#parts);
    this.#drop();
    this.#onMessage(payload);
  }

  #drop(): void {
    this.#parts = [];
    this.#messageBytes = 0;
    this.#isObserved = false;
  }
}

const isData = ({ opcode }: WebSocketFrame): boolean => opcode <= 2;
