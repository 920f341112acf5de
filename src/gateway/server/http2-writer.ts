import { constants, type ServerHttp2Stream } from 'node:http2';
import { fieldValuePattern, tokenPattern } from '#base/http-syntax.ts';
import { hopByHopHeaders } from '../http/headers.ts';
import { assertFinalStatus, type ResponseWriter } from '../pipeline/response-writer.ts';

/** An answer over HTTP/2. */
export class Http2Writer implements ResponseWriter {
  readonly #stream: ServerHttp2Stream;
  readonly #stalledMs: number;
  readonly #onFault: (error: Error) => void;
  #stalled: NodeJS.Timeout | undefined;
  /** Not sent yet. */
  #head: { readonly status: number; readonly headers: string[] } | undefined;
  #bodiless = false;
  #waits = false;
  #trailers: readonly string[] | undefined;
  /** Everything was handed over: the end of the stream is not somebody leaving. */
  isComplete = false;
  onDrain: (() => void) | undefined;

  constructor(stream: ServerHttp2Stream, writeTimeoutMs: number, onWriteError: (error: Error) => void) {
    this.#stream = stream;
    this.#stalledMs = writeTimeoutMs;
    this.#onFault = onWriteError;
  }

  writeHead(status: number, headers: string[]): void {
    if (this.#stream.destroyed) return;
    this.#head = { status, headers };
    process.nextTick(flushHead, this);
  }

  /**
   * Deferred HEADERS: sent with the first bytes, with the end, or on the next tick. A response whose end is known by then
   * carries END_STREAM on its HEADERS frame (RFC 9113, 8.1): gRPC takes only that for a Trailers-Only response.
   */
  flush(isEnd = false): void {
    const head = this.#head;
    const stream = this.#stream;
    this.#head = undefined;
    if (!head || stream.destroyed) return;
    const { status } = head;
    this.#bodiless = isEnd || status === 204 || status === 304 || isHeadRequest(stream);
    try {
      assertFinalStatus(status);
      const { flat, hasLength } = buildHead(status, head.headers);
      this.#waits = !hasLength && !this.#bodiless;
      stream.respond(flat as never, { endStream: this.#bodiless, waitForTrailers: this.#waits });
    } catch (error) {
      // A status or header that no answer may have.
      this.#onFault(error as Error);
      if (!stream.headersSent) stream.respond({ ':status': 500 }, { endStream: true });
      this.#bodiless = true;
    }
    if (this.#bodiless) this.isComplete = true;
    if (!this.#waits) return;
    stream.once('wantTrailers', () => {
      stream.sendTrailers(toTrailers(this.#trailers));
      this.#stopBody();
    });
  }

  write(chunk: Uint8Array): boolean {
    const stream = this.#stream;
    this.flush();
    if (this.#bodiless || stream.destroyed || stream.writableEnded) return true;
    const more = stream.write(chunk);
    if (!more) this.#wait();
    return more;
  }

  /** A caller that takes nothing for too long has left, whatever its connection says. */
  #wait(): void {
    if (this.#stalled) {
      this.#stalled.refresh();
      return;
    }
    const stream = this.#stream;
    this.#stalled = setTimeout(() => stream.writableNeedDrain && this.abort(), this.#stalledMs);
    stream.on('drain', () => this.onDrain?.());
    stream.once('close', () => clearTimeout(this.#stalled));
  }

  end(chunk?: Uint8Array, trailers?: readonly string[]): void {
    const stream = this.#stream;
    this.isComplete = true;
    this.#trailers = trailers;
    this.flush(!chunk?.length && !trailers?.length);
    if (!stream.destroyed && !this.#bodiless) {
      if (chunk) stream.end(chunk);
      else stream.end();
    }
    if (!this.#waits) stream.once('finish', () => this.#stopBody());
  }

  /** What the caller still has to send is of no use to anybody. */
  #stopBody(): void {
    const stream = this.#stream;
    if (!stream.endAfterHeaders && !stream.readableEnded && !stream.destroyed)
      setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
  }

  abort(): void {
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

const flushHead = (writer: Http2Writer) => writer.flush();

/** Known to the stream, and not to its type. */
const isHeadRequest = (stream: ServerHttp2Stream & { readonly headRequest?: boolean }) => stream.headRequest === true;

/** Names in lower case, without those that speak of a connection: here they would make the answer malformed. */
function buildHead(status: number, headers: readonly string[]): { flat: string[]; hasLength: boolean } {
  const flat = [':status', String(status)];
  let hasLength = false;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    if (hopByHopHeaders.has(name)) continue;
    if (name === 'content-length') {
      if (status === 204) continue;
      hasLength = true;
    }
    const value = headers[at + 1]!;
    // Left to itself this protocol carries anything, and whoever turns it into lines again is deceived.
    if (!tokenPattern.test(name) || !fieldValuePattern.test(value))
      throw new Error(`${name} is not a header that can be sent`);
    flat.push(name, value);
  }
  return { flat, hasLength };
}

function toTrailers(flat: readonly string[] = []): Record<string, string> {
  const trailers: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) trailers[flat[at]!.toLowerCase()] = flat[at + 1]!;
  return trailers;
}
