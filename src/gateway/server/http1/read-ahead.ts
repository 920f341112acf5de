import { readRequestFraming } from '../../http/http1/framing.ts';
import { type HeadLimits, HeadParser } from '../../http/http1/head-parser.ts';

/** Pipelining: requests that may wait for the one in progress. */
const maxPipelinedRequests = 100;

/** Bytes beyond which the connection is not read until the response in progress is complete. */
export const maxReadAheadBytes = 65_536;

/**
 * Read-ahead of pipelined requests (RFC 9112, 9.3.2): their bytes wait, unparsed, for the response in progress. A
 * second parser counts them, up to the first one with a body.
 */
export class ReadAhead {
  readonly #limits: HeadLimits;
  #chunks: Buffer[] = [];
  byteLength = 0;
  #requests = 0;
  /** Undefined until there is something to count, and when counting has stopped. */
  #counter: HeadParser | undefined;
  #isCounting = true;

  constructor(limits: HeadLimits) {
    this.#limits = limits;
  }

  /** Returns false when more requests wait than may. */
  add(bytes: Buffer): boolean {
    this.hold(bytes);
    if (this.#isCounting) this.#countRequests(bytes);
    return this.#requests <= maxPipelinedRequests;
  }

  /** Holds bytes that are no requests. */
  hold(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.byteLength += bytes.length;
  }

  /** Takes all bytes; those after the next request are restored. */
  take(): Buffer {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.byteLength = 0;
    return bytes;
  }

  restore(bytes: Buffer): void {
    this.hold(bytes);
    this.#requests--;
  }

  /** All bytes were taken, and none is left to restore. */
  reset(): void {
    this.#requests = 0;
    this.#counter = undefined;
    this.#isCounting = true;
  }

  #countRequests(bytes: Buffer): void {
    this.#counter ??= new HeadParser('request', this.#limits);
    const counter = this.#counter;
    try {
      let at = 0;
      while (at < bytes.length) {
        at = counter.parse(bytes, at);
        if (at < 0) return;
        this.#requests++;
        if (readRequestFraming(counter) !== 'none') break;
        counter.reset();
      }
      if (at === bytes.length) return;
    } catch {
      // Answered in its turn.
    }
    this.#isCounting = false;
    this.#counter = undefined;
  }
}
