import { findUsualName, hashNameByte, toLowerName } from '../header-names.ts';
import { Http1ParseError } from './parse-error.ts';
import type { ParsedFields } from './parsed-fields.ts';
import { carriageReturn, colon, fieldBytes, lineFeed, space, tab, tokenBytes } from './syntax.ts';

/** Options of `Connection` (RFC 9110, 7.6.1), as bits. */
export const connectionClose = 1;
export const connectionKeepAlive = 2;
export const connectionUpgrade = 4;

/** Digits of a Content-Length: a number that every reader counts the same way. */
const maxLengthDigits = 15;

/**
 * Field lines of a message head or trailer section as a flat list, with the fields that frame the message. Lines are
 * scanned once, byte by byte: a line is a name, a colon, a value and CRLF, or it is refused (RFC 9112, 5).
 */
export class FieldBlock {
  /** `[name, value, …]` in order and original case; a new list per message. */
  flat: string[] = [];
  /** -1 without one. */
  contentLength = -1;
  isChunked = false;
  /** Bits of the Connection options. */
  connection = 0;
  /** Values of fields that concern the connection; empty without them, joined by commas where repeated. */
  expect = '';
  upgrade = '';
  te = '';
  keepAlive = '';
  /** Field lines in the text of the head; undefined where it arrived in parts, or a line has not the usual form. */
  parsed: ParsedFields | undefined;
  /** After an incomplete scan: where the first incomplete line begins. */
  resumeAt = 0;
  #hasHost = false;
  readonly #kind: FieldBlockKind;
  readonly #maxHeaders: number;

  constructor(kind: FieldBlockKind, maxHeaders: number) {
    this.#kind = kind;
    this.#maxHeaders = maxHeaders;
  }

  reset(): void {
    this.flat = [];
    this.contentLength = -1;
    this.isChunked = false;
    this.connection = 0;
    this.expect = '';
    this.upgrade = '';
    this.te = '';
    this.keepAlive = '';
    this.parsed = undefined;
    this.#hasHost = false;
  }

  /**
   * Scans lines of `text` from `at`, whose bytes begin at `bytes[start]`: bytes are faster to scan, and values are cut
   * from the text. Returns the offset after the empty line, or -1 when the text ends before it.
   */
  scan(text: string, bytes: Buffer, start: number, at: number): number {
    const { flat } = this;
    const maxLength = 2 * this.#maxHeaders;
    const end = start + text.length;
    let isUsual = flat.length === 0;
    let line = start + at;
    for (;;) {
      this.resumeAt = line - start;
      let i = line;
      let hash = 0;
      while (i < end && tokenBytes[bytes[i]!] === 1) hash = hashNameByte(hash, bytes[i++]!);
      if (i === end) return -1;
      if (i === line) {
        if (!scanEmptyLine(bytes, line, end)) return -1;
        if (isUsual) this.parsed = { text, start: at, flat };
        return line + 2 - start;
      }
      if (bytes[i] !== colon) throw new Http1ParseError('a header name is invalid');
      const nameEnd = i++;
      while (i < end && isWhitespace(bytes[i]!)) i++;
      const valueStart = i;
      while (i < end && fieldBytes[bytes[i]!] === 1) i++;
      if (i === end) return -1;
      if (bytes[i] !== carriageReturn) throw new Http1ParseError('a header value contains a control character');
      if (i + 1 === end) return -1;
      if (bytes[i + 1] !== lineFeed) throw new Http1ParseError('a carriage return is not followed by a line feed');
      let valueEnd = i;
      while (valueEnd > valueStart && isWhitespace(bytes[valueEnd - 1]!)) valueEnd--;
      const name = findUsualName(bytes, line, nameEnd, hash) ?? text.slice(line - start, nameEnd - start);
      const value = text.slice(valueStart - start, valueEnd - start);
      isUsual &&= valueStart === nameEnd + 2 && bytes[nameEnd + 1] === space && valueEnd === i;
      this.#readFraming(name, value, valueEnd < i);
      if (flat.push(name, value) > maxLength) throw new Http1ParseError(`more than ${this.#maxHeaders} headers`, 431);
      line = i + 2;
    }
  }

  /** Fields that frame the message or concern the connection, recognised by length first. */
  #readFraming(name: string, value: string, isPadded: boolean): void {
    switch (name.length) {
      case 2:
      case 4:
      case 6:
      case 7:
      case 10:
      case 14:
      case 17:
        if (this.#kind === 'trailers') refuseFramingTrailer(toLowerName(name));
        else this.#setFraming(toLowerName(name), value, isPadded);
    }
  }

  #setFraming(name: string, value: string, isPadded: boolean): void {
    if (name === 'host' && this.#kind === 'request') {
      if (this.#hasHost) throw new Http1ParseError('the Host header is repeated');
      this.#hasHost = true;
    } else if (name === 'connection') this.connection |= readConnection(value);
    else if (name === 'content-length') this.#setContentLength(value);
    else if (name === 'transfer-encoding') this.#setTransferEncoding(value, isPadded);
    else if (name === 'te') this.te = joinValues(this.te, value);
    else if (name === 'expect') this.expect = joinValues(this.expect, value);
    else if (name === 'upgrade') this.upgrade = joinValues(this.upgrade, value);
    else if (name === 'keep-alive') this.keepAlive = joinValues(this.keepAlive, value);
  }

  #setContentLength(value: string): void {
    if (this.contentLength >= 0) throw new Http1ParseError('the Content-Length header is repeated');
    this.contentLength = parseLength(value);
  }

  /** Only `chunked`, once, with no whitespace behind it: readers disagree about all else (RFC 9112, 6.1). */
  #setTransferEncoding(value: string, isPadded: boolean): void {
    if (this.isChunked) throw new Http1ParseError('the Transfer-Encoding header is repeated');
    if (isPadded || value.toLowerCase() !== 'chunked')
      throw new Http1ParseError('the Transfer-Encoding is not chunked', 501);
    this.isChunked = true;
  }
}

export type FieldBlockKind = 'request' | 'response' | 'trailers';

const isWhitespace = (code: number) => code === space || code === tab;

const joinValues = (before: string, value: string) => (before === '' ? value : `${before}, ${value}`);

/** End of a block: CRLF (false: incomplete), and neither a folded line (RFC 9112, 5.2) nor a line without a name. */
function scanEmptyLine(bytes: Buffer, at: number, end: number): boolean {
  if (bytes[at] !== carriageReturn) throw new Http1ParseError('a header line has no name');
  if (at + 1 === end) return false;
  if (bytes[at + 1] !== lineFeed) throw new Http1ParseError('a carriage return is not followed by a line feed');
  return true;
}

/** Content-Length: digits only (RFC 9112, 6.2). */
export function parseLength(value: string): number {
  const { length } = value;
  let number = 0;
  let isNumber = length > 0 && length <= maxLengthDigits;
  for (let i = 0; isNumber && i < length; i++) {
    const digit = value.charCodeAt(i) - 48;
    isNumber = digit >= 0 && digit <= 9;
    number = number * 10 + digit;
  }
  if (!isNumber) throw new Http1ParseError('the Content-Length is not a number');
  return number;
}

/** Trailers that would change where a message ends or goes to, after that was decided (RFC 9110, 6.5.1). */
function refuseFramingTrailer(name: string): void {
  if (name === 'content-length' || name === 'transfer-encoding' || name === 'host')
    throw new Http1ParseError(`${name} is not allowed as a trailer`);
}

function readConnection(value: string): number {
  if (value === 'keep-alive') return connectionKeepAlive;
  if (value === 'close') return connectionClose;
  let bits = 0;
  for (const option of value.toLowerCase().split(',')) bits |= connectionBits.get(option.trim()) ?? 0;
  return bits;
}

const connectionBits: ReadonlyMap<string, number> = new Map([
  ['close', connectionClose],
  ['keep-alive', connectionKeepAlive],
  ['upgrade', connectionUpgrade],
]);
