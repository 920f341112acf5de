import { FieldBlock } from './field-block.ts';
import type { HeadLimits } from './head-parser.ts';
import { Http1ParseError, toParseError } from './parse-error.ts';
import { PendingBytes } from './pending-bytes.ts';
import { requestFaults } from './request-faults.ts';
import { carriageReturn, fieldBytes, hexDigits, lineFeed, sliceLatin1, tokenBytes } from './syntax.ts';

/** Digits of a chunk size: its value stays a safe integer. */
const maxSizeDigits = 13;

/** Chunk extensions of one message, which nothing reads. */
const maxExtensionBytes = 16_384;

type State =
  | 'size'
  | 'extension-name'
  | 'extension-value'
  | 'extension-quoted'
  | 'extension-escape'
  | 'extension-end'
  | 'size-end'
  | 'data'
  | 'data-end'
  | 'data-line-feed'
  | 'trailers'
  | 'done';

/** Decoder of the chunked coding (RFC 9112, 7.1), resumable at any byte. */
export class ChunkDecoder {
  /** Body bytes that the last `read` found: `bytes.subarray(dataStart, dataEnd)`, possibly none. */
  dataStart = 0;
  dataEnd = 0;
  #state: State = 'size';
  /** Size of the chunk; then what is left of it. */
  #size = 0;
  #digits = 0;
  #extensionBytes = 0;
  /** Bytes of the part of the extension in progress: names and values are not empty. */
  #partBytes = 0;
  #trailers: FieldBlock | undefined;
  readonly #pending = new PendingBytes();
  #trailerBytes = 0;
  readonly #limits: HeadLimits;

  constructor(limits: HeadLimits) {
    this.#limits = limits;
  }

  /** The last chunk and the trailer section were read. */
  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** Trailers as a flat list, once done. */
  get trailers(): string[] {
    return this.#trailers?.flat ?? [];
  }

  /**
   * Reads from `at` up to the end of a run of body bytes, of the coding or of the bytes. Returns the offset after what it
   * used. Throws Http1ParseError.
   */
  read(bytes: Buffer, at: number): number {
    this.dataStart = 0;
    this.dataEnd = 0;
    const { length } = bytes;
    let i = at;
    while (i < length) {
      if (this.#state === 'data') {
        const end = Math.min(length, i + this.#size);
        this.#size -= end - i;
        if (this.#size === 0) this.#state = 'data-end';
        this.dataStart = i;
        this.dataEnd = end;
        return end;
      }
      if (this.#state === 'trailers') return this.#readTrailers(bytes, i);
      if (this.#state === 'done') return i;
      this.#readByte(bytes[i++]!);
    }
    return i;
  }

  #readByte(byte: number): void {
    switch (this.#state) {
      case 'size':
        return this.#readSize(byte);
      case 'size-end':
        expect(byte, lineFeed);
        this.#state = this.#size === 0 ? 'trailers' : 'data';
        return;
      case 'data-end':
        expect(byte, carriageReturn);
        this.#state = 'data-line-feed';
        return;
      case 'data-line-feed':
        expect(byte, lineFeed);
        this.#state = 'size';
        this.#digits = 0;
        return;
      default:
        return this.#readExtension(byte);
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigits[byte]!;
    if (digit < 16) {
      if (++this.#digits > maxSizeDigits) throw new Http1ParseError('a chunk size is too large');
      this.#size = this.#size * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw new Http1ParseError('a chunk size is not a number');
    if (byte === carriageReturn) this.#state = 'size-end';
    else if (byte === semicolon) this.#startPart('extension-name');
    else throw new Http1ParseError('a chunk size is not a number');
  }

  #startPart(state: State): void {
    this.#state = state;
    this.#partBytes = 0;
  }

  /** Chunk extensions (RFC 9112, 7.1.1): checked by their grammar, bounded, dropped. */
  #readExtension(byte: number): void {
    if (++this.#extensionBytes > maxExtensionBytes) throw toParseError(requestFaults.extensionsTooLarge);
    if (this.#state === 'extension-quoted') {
      if (byte === backslash) this.#state = 'extension-escape';
      else if (byte === quote) this.#state = 'extension-end';
      else if (fieldBytes[byte] === 0) throw createExtensionError();
    } else if (this.#state === 'extension-escape') {
      if (fieldBytes[byte] === 0) throw createExtensionError();
      this.#state = 'extension-quoted';
    } else if (this.#state === 'extension-value' && byte === quote && this.#partBytes === 0)
      this.#state = 'extension-quoted';
    else if (this.#state !== 'extension-end' && tokenBytes[byte] === 1) this.#partBytes++;
    else this.#endPart(byte);
  }

  #endPart(byte: number): void {
    if (this.#partBytes === 0 && this.#state !== 'extension-end') throw createExtensionError();
    if (byte === carriageReturn) this.#state = 'size-end';
    else if (byte === semicolon) this.#startPart('extension-name');
    else if (byte === equals && this.#state === 'extension-name') this.#startPart('extension-value');
    else throw createExtensionError();
  }

  /** Trailer section (RFC 9112, 7.1.2), line by line as they become complete. */
  #readTrailers(bytes: Buffer, at: number): number {
    const lineEnd = bytes.indexOf(lineFeed, at);
    const end = lineEnd < 0 ? bytes.length : lineEnd + 1;
    this.#trailerBytes += end - at;
    if (this.#trailerBytes > this.#limits.maxHeaderBytes) throw new Http1ParseError('the trailers are too large', 431);
    this.#pending.append(bytes, at, end);
    if (lineEnd < 0) return end;
    this.#trailers ??= new FieldBlock('trailers', this.#limits.maxHeaders);
    // A line feed ends a line, or it is refused: nothing of the text is left over.
    const line = this.#pending.take();
    if (this.#trailers.scan(sliceLatin1(line, 0, line.length), line, 0, 0) >= 0) this.#state = 'done';
    return end;
  }
}

const semicolon = 59;
const equals = 61;
const quote = 34;
const backslash = 92;

const createExtensionError = () => new Http1ParseError('a chunk extension is invalid');

function expect(byte: number, expected: number): void {
  if (byte !== expected) throw new Http1ParseError('a chunk does not match its size');
}
