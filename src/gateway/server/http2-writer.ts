import { constants, type ServerHttp2Stream } from 'node:http2';
import { fieldValuePattern, tokenPattern } from '#base/http-syntax.ts';
import { hopByHopHeaders } from '../http/headers.ts';
import { assertFinalStatus, type ResponseWriter } from '../pipeline/response-writer.ts';

/** Response writer over HTTP/2. */
export class Http2Writer implements ResponseWriter {
  readonly #stream: ServerHttp2Stream;
  readonly #writeTimeoutMs: number;
  readonly #onWriteError: (error: Error) => void;
  #writeTimer: NodeJS.Timeout | undefined;
  /** Head not sent yet. */
  #head: { readonly status: number; readonly headers: string[] } | undefined;
  #isBodiless = false;
  #waitsForTrailers = false;
  #trailers: readonly string[] | undefined;
  /** The response was handed over: the stream's close is not a client disconnect. */
  isComplete = false;
  onDrain: (() => void) | undefined;

  constructor(stream: ServerHttp2Stream, writeTimeoutMs: number, onWriteError: (error: Error) => void) {
    this.#stream = stream;
    this.#writeTimeoutMs = writeTimeoutMs;
    this.#onWriteError = onWriteError;
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
    this.#isBodiless = isEnd || status === 204 || status === 304 || isHeadRequest(stream);
    try {
      assertFinalStatus(status);
      const { flat, hasLength } = buildHead(status, head.headers);
      this.#waitsForTrailers = !hasLength && !this.#isBodiless;
      stream.respond(flat as never, { endStream: this.#isBodiless, waitForTrailers: this.#waitsForTrailers });
    } catch (error) {
      // An invalid status or header.
      this.#onWriteError(error as Error);
      if (!stream.headersSent) stream.respond({ ':status': 500 }, { endStream: true });
      this.#isBodiless = true;
    }
    if (this.#isBodiless) this.isComplete = true;
    if (!this.#waitsForTrailers) return;
    stream.once('wantTrailers', () => {
      stream.sendTrailers(toTrailers(this.#trailers));
      this.#stopBody();
    });
  }

  write(chunk: Uint8Array): boolean {
    const stream = this.#stream;
    this.flush();
    if (this.#isBodiless || stream.destroyed || stream.writableEnded) return true;
    const more = stream.write(chunk);
    if (!more) this.#startWriteTimer();
    return more;
  }

  /** Write timeout: a client that reads nothing for so long counts as disconnected. */
  #startWriteTimer(): void {
    if (this.#writeTimer) {
      this.#writeTimer.refresh();
      return;
    }
    const stream = this.#stream;
    this.#writeTimer = setTimeout(() => stream.writableNeedDrain && this.abort(), this.#writeTimeoutMs);
    stream.on('drain', () => this.onDrain?.());
    stream.once('close', () => clearTimeout(this.#writeTimer));
  }

  end(chunk?: Uint8Array, trailers?: readonly string[]): void {
    const stream = this.#stream;
    this.isComplete = true;
    this.#trailers = trailers;
    this.flush(!chunk?.length && !trailers?.length);
    if (!stream.destroyed && !this.#isBodiless) {
      if (chunk) stream.end(chunk);
      else stream.end();
    }
    if (!this.#waitsForTrailers) stream.once('finish', () => this.#stopBody());
  }

  /** Closes the stream with NO_ERROR, so that the client stops sending its body (RFC 9113, 8.1). */
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

/** Set by Node, missing in its types. */
const isHeadRequest = (stream: ServerHttp2Stream & { readonly headRequest?: boolean }) => stream.headRequest === true;

/** Lower-case names without connection-specific headers, which would make the response malformed (RFC 9113, 8.2). */
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
    // HTTP/2 framing carries any bytes: a downstream HTTP/1.1 conversion would be open to header injection.
    if (!tokenPattern.test(name) || !fieldValuePattern.test(value))
      throw new Error(`${name} is not a valid response header`);
    flat.push(name, value);
  }
  return { flat, hasLength };
}

function toTrailers(flat: readonly string[] = []): Record<string, string> {
  const trailers: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) trailers[flat[at]!.toLowerCase()] = flat[at + 1]!;
  return trailers;
}
