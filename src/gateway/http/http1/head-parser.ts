import { FieldBlock } from './field-block.ts';
import { Http1ParseError, toParseError } from './parse-error.ts';
import { PendingBytes } from './pending-bytes.ts';
import { requestFaults } from './request-faults.ts';
import { scanRequestLine, scanStatusLine } from './start-line.ts';
import { carriageReturn, lineFeed, sliceLatin1 } from './syntax.ts';

export interface HeadLimits {
  /** Start line, field lines and line ends together. */
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
}

/** Text that is sliced from a read at first: most heads are shorter, and a body behind one need not become text. */
const firstSliceBytes = 4096;

/**
 * Message head parser (RFC 9112, 2 to 5), resumable at any byte. One object per connection: the fields below are those
 * of the last complete head, valid until `reset`.
 */
export class HeadParser {
  /** Of a request. */
  method = '';
  target = '';
  /** Of a response. */
  status = 0;
  /** HTTP/1.1 or HTTP/1.0. */
  minorVersion = 1;
  readonly fields: FieldBlock;
  readonly #isRequest: boolean;
  readonly #maxHeaderBytes: number;
  readonly #pending = new PendingBytes();
  #hasStartLine = false;
  /** Offset of the first incomplete line in the text scanned last. */
  #resumeAt = 0;
  /** Bytes of the complete lines so far. */
  #scannedBytes = 0;

  constructor(kind: 'request' | 'response', { maxHeaderBytes, maxHeaders }: HeadLimits) {
    this.#isRequest = kind === 'request';
    this.#maxHeaderBytes = maxHeaderBytes;
    this.fields = new FieldBlock(kind, maxHeaders);
  }

  /** True when bytes of a head have arrived and it is incomplete. */
  get hasBegun(): boolean {
    return this.#hasStartLine || this.#pending.length > 0;
  }

  /** Prepares for the next head on the connection. */
  reset(): void {
    this.target = '';
    this.#hasStartLine = false;
    this.#scannedBytes = 0;
    this.#pending.clear();
    this.fields.reset();
  }

  /**
   * Parses bytes from `at`. Returns the offset after the head, or -1 when it took all bytes and needs more. Throws
   * Http1ParseError.
   */
  parse(bytes: Buffer, at: number): number {
    if (this.#pending.length > 0) return this.#parsePending(bytes, at);
    const sliceEnd = Math.min(bytes.length, at + firstSliceBytes);
    const end = this.#scan(bytes, at, sliceEnd);
    if (end >= 0) return at + end;
    const rest = at + this.#resumeAt;
    if (sliceEnd < bytes.length) return this.#parseLong(bytes, rest);
    this.#keep(bytes, rest, bytes.length);
    return -1;
  }

  #parseLong(bytes: Buffer, at: number): number {
    const sliceEnd = Math.min(bytes.length, at + this.#maxHeaderBytes + 1);
    const end = this.#scan(bytes, at, sliceEnd);
    if (end >= 0) return at + end;
    this.#keep(bytes, at + this.#resumeAt, sliceEnd);
    return -1;
  }

  /** Continues an incomplete line; it is scanned again only when its end may have arrived. */
  #parsePending(bytes: Buffer, at: number): number {
    const lineEnd = bytes.indexOf(lineFeed, at);
    const sliceEnd = lineEnd < 0 ? bytes.length : lineEnd + 1;
    this.#keep(bytes, at, sliceEnd);
    if (lineEnd < 0) return -1;
    // A line feed ends a line, or it is refused: nothing of the text is left over.
    const line = this.#pending.take();
    if (this.#scan(line, 0, line.length) >= 0) return sliceEnd;
    return sliceEnd < bytes.length ? this.parse(bytes, sliceEnd) : -1;
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    if (this.#scannedBytes + this.#pending.length + end - start > this.#maxHeaderBytes) throw this.#createSizeError();
    if (end > start) this.#pending.append(bytes, start, end);
  }

  /** Scans complete lines; on -1 `#resumeAt` is the offset of the first incomplete one. */
  #scan(bytes: Buffer, start: number, sliceEnd: number): number {
    const text = sliceLatin1(bytes, start, sliceEnd);
    let at = 0;
    if (!this.#hasStartLine) {
      at = this.#scanStartLine(text);
      if (at < 0) return -1;
    }
    const end = this.fields.scan(text, bytes, start, at);
    const scanned = end < 0 ? this.fields.resumeAt : end;
    this.#resumeAt = scanned;
    this.#scannedBytes += scanned;
    if (this.#scannedBytes > this.#maxHeaderBytes) throw this.#createSizeError();
    return end;
  }

  #scanStartLine(text: string): number {
    const start = this.#isRequest ? skipEmptyLines(text) : 0;
    const end = this.#isRequest ? scanRequestLine(text, start, this) : scanStatusLine(text, this);
    if (end < 0) {
      this.#resumeAt = start;
      this.#scannedBytes += start;
    } else this.#hasStartLine = true;
    return end;
  }

  #createSizeError(): Http1ParseError {
    return this.#isRequest
      ? toParseError(requestFaults.headTooLarge)
      : new Http1ParseError('the response head is too large');
  }
}

/** Empty lines before a request are ignored (RFC 9112, 2.2). */
function skipEmptyLines(text: string): number {
  let at = 0;
  while (text.charCodeAt(at) === carriageReturn && text.charCodeAt(at + 1) === lineFeed) at += 2;
  return at;
}
