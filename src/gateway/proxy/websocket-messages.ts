import { isUtf8 } from 'node:buffer';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { MessageDecision } from '../pipeline/exchange.ts';
import { ReceiveBuffer } from './receive-buffer.ts';
import {
  closeOpcode,
  continuationOpcode,
  invalidPayloadCode,
  protocolErrorCode,
  textOpcode,
  tooLargeCode,
  unsupportedDataCode,
} from './websocket-codes.ts';
import { toFrame } from './websocket-frames.ts';

/** Frames of one message: each takes memory of its own, also without payload. */
export const maxMessageFrames = 1024;

export interface MessageGateOptions {
  readonly maxMessageBytes: number;
  /** Decides about a whole text message of the client. */
  check(text: string): MaybePromise<MessageDecision>;
  /** Output of a decision that was waited for, and of the frames behind it. */
  onDecided(output: GateOutput): void;
  /** The check that was waited for failed; nothing is forwarded any more. */
  onError(error: unknown): void;
}

export interface GateOutput {
  /** Whole frames for the upstream. */
  readonly forward: readonly Buffer[];
  /** Close code for both sides; undefined while the connection goes on. */
  readonly closeCode: number | undefined;
  /** A decision is waited for: the client is not read until `onDecided`. */
  readonly isWaiting: boolean;
}

/**
 * Gate of WebSocket messages from a client: holds the frames of a text message until it is complete and was checked.
 * Frames pass unchanged or not at all; control frames pass at once (RFC 6455, 5.4).
 */
export class MessageGate {
  readonly #options: MessageGateOptions;
  readonly #received = new ReceiveBuffer();
  #frames: Buffer[] = [];
  #payloads: Buffer[] = [];
  /** Headers and payloads of `#frames`. */
  #messageBytes = 0;
  #state: 'open' | 'waiting' | 'closed' = 'open';

  constructor(options: MessageGateOptions) {
    this.#options = options;
  }

  /** After a close code, or a check that throws, nothing is forwarded. */
  take(chunk: Buffer): GateOutput {
    if (this.#state !== 'closed') this.#received.append(chunk);
    if (this.#state !== 'open') return { forward: [], closeCode: undefined, isWaiting: this.#state === 'waiting' };
    return this.#run(forward => this.#takeFrames(forward));
  }

  #run(work: (forward: Buffer[]) => number | 'waiting' | undefined): GateOutput {
    const forward: Buffer[] = [];
    this.#state = 'closed';
    const result = work(forward);
    if (result === undefined) this.#state = 'open';
    if (result === 'waiting') this.#state = 'waiting';
    return { forward, closeCode: typeof result === 'number' ? result : undefined, isWaiting: result === 'waiting' };
  }

  #takeFrames(forward: Buffer[]): number | 'waiting' | undefined {
    for (;;) {
      const frame = readFrame(this.#received.bytes);
      if (frame === undefined) return undefined;
      const frameBytes = frame.headBytes + frame.payloadBytes;
      if (frameBytes + this.#messageBytes > this.#options.maxMessageBytes) return tooLargeCode;
      if (this.#received.bytes.length < frameBytes) return undefined;
      const closeCode = this.#takeFrame(frame, this.#received.consume(frameBytes), forward);
      if (closeCode !== undefined) return closeCode;
    }
  }

  #takeFrame(frame: WebSocketFrame, whole: Buffer, forward: Buffer[]): number | 'waiting' | undefined {
    if (frame.hasReservedBits || !frame.isMasked) return protocolErrorCode;
    if (frame.opcode >= closeOpcode) {
      forward.push(whole);
      return undefined;
    }
    const isFirst = this.#frames.length === 0;
    if (isFirst !== (frame.opcode !== continuationOpcode)) return protocolErrorCode;
    if (isFirst && frame.opcode !== textOpcode) return unsupportedDataCode;
    if (this.#frames.length === maxMessageFrames) return tooLargeCode;
    // A copy of a frame that waits: a part of a chunk keeps the whole chunk in memory.
    this.#frames.push(frame.isFinal ? whole : Buffer.from(whole));
    this.#payloads.push(unmask(frame, whole));
    this.#messageBytes += whole.length;
    return frame.isFinal ? this.#decide(forward) : undefined;
  }

  #decide(forward: Buffer[]): number | 'waiting' | undefined {
    const payload = Buffer.concat(this.#payloads);
    // Text is UTF-8 (RFC 6455, 8.1): replacement characters would differ from what the upstream reads.
    if (!isUtf8(payload)) return invalidPayloadCode;
    const decision = this.#options.check(payload.toString());
    if (!(decision instanceof Promise)) return this.#apply(decision, forward);
    const { onDecided, onError } = this.#options;
    decision
      .then(it => onDecided(this.#run(rest => this.#apply(it, rest) ?? this.#takeFrames(rest))))
      .catch((error: unknown) => {
        this.#state = 'closed';
        onError(error);
      });
    return 'waiting';
  }

  #apply(decision: MessageDecision, forward: Buffer[]): number | undefined {
    if (decision === 'forward') for (const frame of this.#frames) forward.push(frame);
    this.#frames = [];
    this.#payloads = [];
    this.#messageBytes = 0;
    return typeof decision === 'object' ? decision.closeCode : undefined;
  }
}

export interface WebSocketFrame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly hasReservedBits: boolean;
  readonly isMasked: boolean;
  readonly headBytes: number;
  readonly payloadBytes: number;
}

/** Undefined until the header is complete. */
export function readFrame(bytes: Buffer): WebSocketFrame | undefined {
  if (bytes.length < 2) return undefined;
  const [first, second] = [bytes[0]!, bytes[1]!];
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const isMasked = (second & 0x80) !== 0;
  const headBytes = 2 + lengthBytes + (isMasked ? 4 : 0);
  if (bytes.length < headBytes) return undefined;
  const payloadBytes =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return {
    opcode: first & 0x0f,
    isFinal: (first & 0x80) !== 0,
    hasReservedBits: (first & 0x70) !== 0,
    isMasked,
    headBytes,
    payloadBytes,
  };
}

export function unmask({ headBytes }: WebSocketFrame, whole: Buffer): Buffer {
  const mask = whole.subarray(headBytes - 4, headBytes);
  const payload = Buffer.from(whole.subarray(headBytes));
  for (let at = 0; at < payload.length; at++) payload[at]! ^= mask[at & 3]!;
  return payload;
}

/** Text frame of a server, which is not masked. */
export const toTextFrame = (text: string): Buffer => toFrame(textOpcode, Buffer.from(text), false);
