import { isUtf8 } from 'node:buffer';
import type { Duplex } from 'node:stream';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { ReceiveBuffer } from './receive-buffer.ts';
import {
  abnormalCode,
  closeOpcode,
  continuationOpcode,
  internalErrorCode,
  invalidPayloadCode,
  normalCode,
  noStatusCode,
  pingOpcode,
  policyViolationCode,
  pongOpcode,
  protocolErrorCode,
  textOpcode,
  tooLargeCode,
  unsupportedDataCode,
} from './websocket-codes.ts';
import { toCloseFrame, toFrame } from './websocket-frames.ts';
import { keepAlive } from './websocket-liveness.ts';
import { maxMessageFrames, readFrame, unmask, type WebSocketFrame } from './websocket-messages.ts';

/** Payload of a control frame (RFC 6455, 5.5). */
const maxControlBytes = 125;
/** Messages that wait for the other end to read: beyond it the connection is closed. */
const maxUnreadBytes = 1_048_576;

export interface WebSocketPeerOptions {
  /** Frames of a client are masked, those of a server are not (RFC 6455, 5.1). */
  readonly isClient: boolean;
  /** A longer message closes the connection. */
  readonly maxMessageBytes: number;
  /** Timeout of the closing handshake; the connection is then destroyed. */
  readonly closeTimeoutMs: number;
  /** Interval of Ping frames; the connection ends where the other end sends nothing for one. 0 for none. */
  readonly pingIntervalMs?: number;
  /** A whole text message. A promise holds back the next one, and the connection is not read. */
  onMessage(text: string): MaybePromise<void>;
  /** `onMessage` failed; the connection is closed. */
  onError(error: unknown): void;
  /** Last call: the code of the first Close frame, 1006 without one. */
  onClose(code: number): void;
}

/**
 * One end of a WebSocket (RFC 6455) with text messages: the gateway as server of a client, or as client of an upstream.
 * A class: one is created per connection.
 */
export class WebSocketPeer {
  readonly #stream: Duplex;
  readonly #options: WebSocketPeerOptions;
  readonly #received = new ReceiveBuffer();
  #payloads: Buffer[] = [];
  #messageBytes = 0;
  #sentBytes = 0;
  /** `closing` reads up to the Close frame of the other end, `failed` reads nothing. */
  #state: 'open' | 'closing' | 'failed' | 'closed' = 'open';
  /** A message is being handled. */
  #isHeld = false;
  #closeCode: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Duplex, options: WebSocketPeerOptions) {
    this.#stream = stream;
    this.#options = options;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    const stopPings = keepAlive(stream, { intervalMs: options.pingIntervalMs ?? 0, ping: () => this.#ping() });
    stream.once('end', () => stream.end());
    stream.on('error', () => stream.destroy());
    stream.once('close', () => {
      this.#state = 'closed';
      stopPings();
      clearTimeout(this.#timer);
      options.onClose(this.#closeCode ?? abnormalCode);
    });
  }

  /** Messages can be sent: no Close frame was sent or received. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Payloads of the messages that were sent. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Sends a message; one that is sent after `close` is dropped. */
  send(text: string): void {
    if (this.#state !== 'open') return;
    const payload = Buffer.from(text);
    this.#sentBytes += payload.length;
    this.#stream.write(toFrame(textOpcode, payload, this.#options.isClient));
  }

  /** Sends an answer that the other end causes: where it reads none, it must not fill the memory. */
  reply(text: string): void {
    if (this.#stream.writableLength > maxUnreadBytes) this.close(policyViolationCode);
    else this.send(text);
  }

  /** Backpressure: resolves when the other end has read what was sent; undefined where it has. */
  waitForDrain(): Promise<void> | undefined {
    const stream = this.#stream;
    if (!stream.writableNeedDrain || stream.destroyed) return undefined;
    return new Promise(resolve => {
      const settle = () => {
        stream.off('drain', settle);
        stream.off('close', settle);
        resolve();
      };
      stream.on('drain', settle);
      stream.on('close', settle);
    });
  }

  close(code = normalCode): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#closeCode ??= code;
    this.#stream.write(toCloseFrame(code, this.#options.isClient));
    this.#timer = setTimeout(() => this.#stream.destroy(), this.#options.closeTimeoutMs);
    this.#stream.resume();
    // Frames that waited for a handler: the Close frame of the other end may be one of them.
    if (this.#isHeld) this.#takeFrames();
  }

  destroy(): void {
    this.#stream.destroy();
  }

  #ping(): void {
    if (this.#state !== 'open') return;
    this.#stream.write(toFrame(pingOpcode, Buffer.alloc(0), this.#options.isClient));
  }

  #take(chunk: Buffer): void {
    if (this.#state === 'failed' || this.#state === 'closed') return;
    this.#received.append(chunk);
    this.#takeFrames();
  }

  /** Backpressure holds back messages of an open connection; those of a closing one are discarded. */
  #takeFrames(): void {
    while (this.#state === 'closing' || (this.#state === 'open' && !this.#isHeld)) {
      const frame = readFrame(this.#received.bytes);
      if (frame === undefined) return;
      const frameBytes = frame.headBytes + frame.payloadBytes;
      if (frameBytes + this.#messageBytes > this.#options.maxMessageBytes) return this.#fail(tooLargeCode);
      if (this.#received.bytes.length < frameBytes) return;
      this.#takeFrame(frame, this.#received.consume(frameBytes));
    }
  }

  #takeFrame(frame: WebSocketFrame, whole: Buffer): void {
    const { opcode, isFinal, isMasked, payloadBytes } = frame;
    const isControl = opcode >= closeOpcode;
    if (frame.hasReservedBits || isMasked === this.#options.isClient) return this.#fail(protocolErrorCode);
    if (isControl && (!isFinal || payloadBytes > maxControlBytes)) return this.#fail(protocolErrorCode);
    const payload = isMasked ? unmask(frame, whole) : Buffer.from(whole.subarray(frame.headBytes));
    if (isControl) return this.#takeControl(opcode, payload);
    if (this.#state !== 'open') return;
    const isFirst = this.#payloads.length === 0;
    if (isFirst !== (opcode !== continuationOpcode)) return this.#fail(protocolErrorCode);
    if (isFirst && opcode !== textOpcode) return this.#fail(unsupportedDataCode);
    if (this.#payloads.length === maxMessageFrames) return this.#fail(tooLargeCode);
    this.#payloads.push(payload);
    this.#messageBytes += payload.length;
    if (isFinal) this.#deliver();
  }

  #deliver(): void {
    const payload = Buffer.concat(this.#payloads);
    this.#payloads = [];
    this.#messageBytes = 0;
    if (!isUtf8(payload)) return this.#fail(invalidPayloadCode);
    try {
      const handled = this.#options.onMessage(payload.toString());
      if (handled instanceof Promise) this.#hold(handled);
    } catch (error) {
      // An error in a listener would end the thread with all its connections.
      this.#options.onError(error);
      this.close(internalErrorCode);
    }
  }

  #hold(handled: Promise<void>): void {
    this.#isHeld = true;
    if (this.#state === 'open') this.#stream.pause();
    handled
      .catch(error => {
        this.#options.onError(error);
        this.close(internalErrorCode);
      })
      .then(() => {
        this.#isHeld = false;
        this.#takeFrames();
        if (!this.#isHeld && !this.#stream.destroyed) this.#stream.resume();
      });
  }

  #takeControl(opcode: number, payload: Buffer): void {
    if (opcode === closeOpcode) return this.#takeClose(payload);
    if (opcode !== pingOpcode || this.#state !== 'open') return;
    if (this.#stream.writableLength > maxUnreadBytes) return this.close(policyViolationCode);
    this.#stream.write(toFrame(pongOpcode, payload, this.#options.isClient));
  }

  /** The closing handshake is complete with a Close frame each way; the connection ends with it. */
  #takeClose(payload: Buffer): void {
    const code = payload.length >= 2 ? payload.readUInt16BE(0) : noStatusCode;
    this.#closeCode ??= code;
    this.close(code === noStatusCode ? normalCode : code);
    this.#state = 'closed';
    this.#stream.end(() => this.#stream.destroy());
  }

  /** Fails the connection (RFC 6455, 7.1.7): what follows a violation is discarded, also a Close frame. */
  #fail(code: number): void {
    this.close(code);
    this.#state = 'failed';
    this.#received.consume(this.#received.bytes.length);
    this.#stream.end();
  }
}
