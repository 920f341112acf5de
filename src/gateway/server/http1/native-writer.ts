import type { Duplex } from 'node:stream';
import { STATUS_CODES } from '#base/node-http.ts';
import { toLowerName } from '../../http/header-names.ts';
import { parseLength } from '../../http/http1/field-block.ts';
import type { BodyFraming } from '../../http/http1/framing.ts';
import type { ParsedFields } from '../../http/http1/parsed-fields.ts';
import { FieldLines, formatChunkSize, formatFieldLines, formatLastChunk } from '../../http/http1/write-message.ts';
import { assertFinalStatus, type ResponseWriter } from '../../pipeline/response-writer.ts';
import type { ConnectionContext } from './connection-context.ts';

/** The connection a response is written to. */
export interface ResponseConnection {
  /** The connection closes after this response. */
  isClosing: boolean;
  /** A response head is about to be written. */
  onResponseHead(): void;
  /** Writes text, bytes and text; false when they have to wait for the client. `isShared`: the bytes are copied. */
  send(before: string, chunk: Uint8Array | undefined, after: string, isShared: boolean): boolean;
  /** The response is written completely. */
  onResponseEnd(): void;
  /** The response cannot be completed. */
  destroy(): void;
  switchProtocol(head: string, goAway: (() => void) | undefined): Duplex;
}

/** Header line of a connection that closes, and the empty line. */
export const closeLines = 'Connection: close\r\n\r\n';

/** Response writer over HTTP/1.1. */
export class NativeWriter implements ResponseWriter {
  readonly takesShared = true;
  readonly #connection: ResponseConnection;
  readonly #context: ConnectionContext;
  readonly #isHeadRequest: boolean;
  readonly #minorVersion: number;
  readonly #acceptsTrailers: boolean;
  #state: 'new' | 'head-pending' | 'body' | 'done' = 'new';
  #head = '';
  #framing: BodyFraming = 'none';
  /** Bytes left of a body with a Content-Length. */
  #remainingBytes = 0;
  onDrain: (() => void) | undefined = undefined;

  constructor(
    connection: ResponseConnection,
    context: ConnectionContext,
    isHeadRequest: boolean,
    minorVersion: number,
    acceptsTrailers: boolean,
  ) {
    this.#connection = connection;
    this.#context = context;
    this.#isHeadRequest = isHeadRequest;
    this.#minorVersion = minorVersion;
    this.#acceptsTrailers = acceptsTrailers;
  }

  /** A response has begun: an error can no longer replace it. */
  get hasHead(): boolean {
    return this.#state !== 'new';
  }

  /** Ends the use of the connection: later calls do nothing. */
  detach(): void {
    this.#state = 'done';
  }

  writeHead(status: number, headers: string[], parsed?: ParsedFields, isHeld = false): void {
    if (this.#state !== 'new') return;
    this.#connection.onResponseHead();
    try {
      assertFinalStatus(status);
      this.#head = this.#formatHead(status, headers, parsed);
    } catch (error) {
      // An invalid status or header: written as it is, it could split the response.
      this.#context.options.onWriteError(error as Error);
      this.#head = this.#formatHead(500, ['Content-Length', '0'], undefined);
      this.#framing = 'none';
    }
    this.#state = 'head-pending';
    if (!isHeld) process.nextTick(flushHead, this);
  }

  #formatHead(status: number, headers: readonly string[], parsed: ParsedFields | undefined): string {
    const connection = this.#connection;
    let contentLength = -1;
    let hasDate = false;
    fieldLines.begin(parsed);
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      const value = headers[i + 1]!;
      const { length } = name;
      // Message framing and the connection belong to the transport.
      if (length === 4 || length === 10 || length === 14 || length === 17) {
        const lower = toLowerName(name);
        if (lower === 'date') hasDate = true;
        else if (lower === 'connection') connection.isClosing ||= /\bclose\b/i.test(value);
        else if (lower === 'content-length' && status !== 204) {
          contentLength = readContentLength(contentLength, value);
          fieldLines.addLength(name, value, contentLength);
        }
        if (connectionFields.has(lower)) continue;
      }
      fieldLines.add(name, value);
    }
    this.#setFraming(status, contentLength);
    let text = formatStatusLine(status) + fieldLines.end();
    if (!hasDate) text += this.#context.dateLine();
    if (this.#framing === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
    return text + (connection.isClosing ? closeLines : this.#context.keepAliveLines);
  }

  /** Framing of the body (RFC 9112, 6.3); HTTP/1.0 has no chunked coding. */
  #setFraming(status: number, contentLength: number): void {
    if (this.#isHeadRequest || status === 204 || status === 304) this.#framing = 'none';
    else if (contentLength >= 0) {
      this.#framing = 'length';
      this.#remainingBytes = contentLength;
    } else if (this.#minorVersion === 1) this.#framing = 'chunked';
    else {
      this.#framing = 'close';
      this.#connection.isClosing = true;
    }
  }

  /** Deferred head: sent with the first bytes, by this, or on the next tick. */
  flush(): void {
    if (this.#state === 'head-pending') this.#connection.send(this.#takeHead(), undefined, '', false);
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    this.#state = 'body';
    return head;
  }

  write(chunk: Uint8Array, isShared = false): boolean {
    if (this.#state === 'done' || this.#framing === 'none' || chunk.length === 0) return true;
    if (!this.#countBytes(chunk)) return true;
    const head = this.#state === 'head-pending' ? this.#takeHead() : '';
    if (this.#framing !== 'chunked') return this.#connection.send(head, chunk, '', isShared);
    return this.#connection.send(head + formatChunkSize(chunk.length), chunk, '\r\n', isShared);
  }

  end(chunk?: Uint8Array, trailers?: readonly string[], isShared = false): void {
    if (this.#state === 'done') return;
    const last = chunk !== undefined && chunk.length > 0 && this.#framing !== 'none' ? chunk : undefined;
    if (last !== undefined && !this.#countBytes(last)) return;
    if (this.#framing === 'length' && this.#remainingBytes > 0) return this.abort();
    let text = this.#state === 'head-pending' ? this.#takeHead() : '';
    let after = '';
    if (this.#framing === 'chunked') {
      after = this.#formatLastChunk(trailers);
      if (last !== undefined) {
        text += formatChunkSize(last.length);
        after = `\r\n${after}`;
      }
    }
    this.#state = 'done';
    this.#connection.send(text, last, after, isShared);
    this.#connection.onResponseEnd();
  }

  /** A body of another length than its Content-Length would end inside the next response: the connection closes. */
  #countBytes({ length }: Uint8Array): boolean {
    if (this.#framing !== 'length') return true;
    this.#remainingBytes -= length;
    if (this.#remainingBytes >= 0) return true;
    this.abort();
    return false;
  }

  #formatLastChunk(trailers: readonly string[] | undefined): string {
    if (trailers === undefined || !this.#acceptsTrailers) return formatLastChunk();
    try {
      return formatLastChunk(trailers);
    } catch (error) {
      this.#context.options.onWriteError(error as Error);
      return formatLastChunk();
    }
  }

  abort(): void {
    if (this.#state === 'done') return;
    this.#state = 'done';
    this.#connection.destroy();
  }

  switchProtocol(headers: string[], goAway?: () => void): Duplex {
    const head = `${formatStatusLine(101)}${formatFieldLines(headers)}\r\n`;
    this.#state = 'done';
    return this.#connection.switchProtocol(head, goAway);
  }
}

/** Heads are formatted one at a time. */
const fieldLines = new FieldLines();

const flushHead = (writer: NativeWriter) => writer.flush();

/** Fields that the writer sets itself. */
const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
]);

function readContentLength(before: number, value: string): number {
  if (before >= 0) throw new Error('the Content-Length header is repeated');
  return parseLength(value);
}

const statusLines: string[] = [];

export function formatStatusLine(status: number): string {
  if (!(status >= 100 && status <= 999)) throw new RangeError(`${status} is not a status`);
  statusLines[status] ??= `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`;
  return statusLines[status]!;
}
