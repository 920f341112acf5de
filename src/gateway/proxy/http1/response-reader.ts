import { ChunkDecoder } from '../../http/http1/chunk-decoder.ts';
import { isPersistent, readResponseFraming } from '../../http/http1/framing.ts';
import { type HeadLimits, HeadParser } from '../../http/http1/head-parser.ts';
import { Http1ParseError } from '../../http/http1/parse-error.ts';
import type { UpstreamHandler } from '../upstream-dispatcher.ts';

/** Part that is read next; `none` outside of a response. */
export type ReaderState = 'none' | 'head' | 'length' | 'chunked' | 'close' | 'complete';

/**
 * Reads the responses of one connection, one after the other, and calls the handler of the request. Resumable at any
 * byte; stops where the handler pauses.
 */
export class ResponseReader {
  state: ReaderState = 'none';
  /** The handler returned false: the rest of the bytes waits for `resume`. */
  isPaused = false;
  /** The upstream keeps the connection open after this response. */
  isPersistent = false;
  trailers: string[] = [];
  readonly #head: HeadParser;
  readonly #limits: HeadLimits;
  readonly #resume: () => void;
  /** Called after each interim response. */
  readonly #onInterim: () => void;
  #handler: UpstreamHandler | undefined;
  #method = '';
  #remainingBytes = 0;
  #chunks: ChunkDecoder | undefined;

  constructor(limits: HeadLimits, resume: () => void, onInterim: () => void) {
    this.#limits = limits;
    this.#head = new HeadParser('response', limits);
    this.#resume = resume;
    this.#onInterim = onInterim;
  }

  begin(handler: UpstreamHandler, method: string): void {
    this.#handler = handler;
    this.#method = method;
    this.#head.reset();
    this.state = 'head';
    this.isPaused = false;
    this.isPersistent = false;
  }

  /** Ends reading, also within a callback of the handler. */
  stop(): void {
    this.state = 'none';
    this.#handler = undefined;
    this.#chunks = undefined;
    if (this.trailers.length > 0) this.trailers = [];
  }

  /** `Keep-Alive: timeout=` in milliseconds; -1 without one. */
  readKeepAliveMs(): number {
    const { keepAlive } = this.#head.fields;
    if (keepAlive === '') return -1;
    const found = /timeout=(\d{1,9})/i.exec(keepAlive);
    return found ? Number(found[1]) * 1000 : -1;
  }

  /**
   * Reads from `at` until the response is complete, the handler pauses or the bytes end; returns the offset after what
   * was read. `isShared`: the bytes are overwritten by the next read. Throws Http1ParseError.
   */
  read(bytes: Buffer, at: number, isShared: boolean): number {
    let i = at;
    while (i < bytes.length && !this.isPaused) {
      switch (this.state) {
        case 'head':
          i = this.#readHead(bytes, i);
          break;
        case 'length':
          i = this.#readLength(bytes, i, isShared);
          break;
        case 'chunked':
          i = this.#readChunks(bytes, i, isShared);
          break;
        case 'close':
          this.#handData(bytes, i, bytes.length, isShared);
          i = bytes.length;
          break;
        default:
          return i;
      }
    }
    return i;
  }

  /** Completes a body that ended with its last data while the handler paused. */
  completeIfRead(): void {
    if (this.state === 'length' && this.#remainingBytes === 0) this.state = 'complete';
  }

  #readHead(bytes: Buffer, at: number): number {
    const head = this.#head;
    const next = head.parse(bytes, at);
    if (next < 0) return bytes.length;
    const { status } = head;
    if (status === 101) throw new Http1ParseError('the upstream switches protocols without being asked to');
    const handler = this.#handler!;
    const framing = readResponseFraming(head, this.#method);
    const { flat, parsed } = head.fields;
    if (status < 200) {
      if (!isPersistent(head)) throw new Http1ParseError('an interim response closes the connection');
      head.reset();
      handler.onHead(status, flat, this.#resume);
      this.#onInterim();
      return next;
    }
    // Announced bytes of a response without a body (204, 304) may still come: the next request would get them.
    const mayContinue = framing === 'none' && (head.fields.isChunked || head.fields.contentLength > 0);
    this.isPersistent = framing !== 'close' && !mayContinue && isPersistent(head);
    this.#remainingBytes = head.fields.contentLength;
    if (framing === 'chunked') this.#chunks = new ChunkDecoder(this.#limits);
    this.state = framing === 'none' ? 'complete' : framing;
    if (!handler.onHead(status, flat, this.#resume, parsed)) this.isPaused = true;
    return next;
  }

  #readLength(bytes: Buffer, at: number, isShared: boolean): number {
    const end = Math.min(bytes.length, at + this.#remainingBytes);
    this.#remainingBytes -= end - at;
    this.#handData(bytes, at, end, isShared);
    if (!this.isPaused) this.completeIfRead();
    return end;
  }

  #readChunks(bytes: Buffer, at: number, isShared: boolean): number {
    const chunks = this.#chunks!;
    const next = chunks.read(bytes, at);
    if (chunks.dataEnd > chunks.dataStart) this.#handData(bytes, chunks.dataStart, chunks.dataEnd, isShared);
    else if (chunks.isDone) {
      this.trailers = chunks.trailers;
      this.state = 'complete';
    }
    return next;
  }

  #handData(bytes: Buffer, start: number, end: number, isShared: boolean): void {
    if (!this.#handler!.onData(bytes.subarray(start, end), isShared)) this.isPaused = true;
  }
}
