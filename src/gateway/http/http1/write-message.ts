import type { ParsedFields } from './parsed-fields.ts';
import { fieldBytes, tokenBytes } from './syntax.ts';

/** Invalid header: written as it is, it could split the message. */
export class InvalidHeaderError extends Error {
  readonly code = 'GW_HEADER_INVALID';
}

/** Lines of the parsed head that are looked through for the next one: a step removes few in a row. */
const maxSkippedLines = 8;

/**
 * Formats the field lines of a forwarded message. Lines that equal those of the parsed head are copied from its text, as
 * long a run of them as possible: the parser has validated them, and one slice costs less than joining names and values.
 */
export class FieldLines {
  #text = '';
  #parsed: ParsedFields | undefined;
  /** Next entry of the parsed list, and the offset of its line. */
  #next = 0;
  #nextStart = 0;
  /** Run of lines that is not in the text yet. */
  #runStart = 0;
  #runEnd = 0;

  begin(parsed: ParsedFields | undefined): void {
    this.#text = '';
    this.#parsed = parsed;
    this.#next = 0;
    this.#nextStart = this.#runStart = this.#runEnd = parsed === undefined ? 0 : parsed.start;
  }

  /** Throws InvalidHeaderError for what is not a header. */
  add(name: string, value: string): void {
    if (this.#parsed !== undefined && this.#copyLine(this.#parsed.flat, name, value)) return;
    this.addText(formatFieldLine(name, value));
  }

  /** Adds a Content-Length as the decimal number that was read: its value may have leading zeros. */
  addLength(name: string, value: string, length: number): void {
    if (value.length > 1 && value.charCodeAt(0) === zero) this.addText(`${name}: ${length}\r\n`);
    else this.add(name, value);
  }

  /** Adds formatted lines. */
  addText(lines: string): void {
    this.#endRun();
    this.#text += lines;
  }

  end(): string {
    this.#endRun();
    const text = this.#text;
    this.begin(undefined);
    return text;
  }

  #copyLine(flat: readonly string[], name: string, value: string): boolean {
    const end = Math.min(flat.length, this.#next + 2 * maxSkippedLines);
    let start = this.#nextStart;
    for (let i = this.#next; i < end; i += 2) {
      const lineEnd = start + flat[i]!.length + flat[i + 1]!.length + 4;
      if (flat[i] === name && flat[i + 1] === value) {
        if (start !== this.#runEnd) {
          this.#endRun();
          this.#runStart = start;
        }
        this.#runEnd = lineEnd;
        this.#next = i + 2;
        this.#nextStart = lineEnd;
        return true;
      }
      start = lineEnd;
    }
    return false;
  }

  #endRun(): void {
    if (this.#runEnd === this.#runStart) return;
    this.#text += this.#parsed!.text.slice(this.#runStart, this.#runEnd);
    this.#runStart = this.#runEnd;
  }
}

const zero = 48;

/** Field lines of a flat list, each with its CRLF. Throws InvalidHeaderError for what is not a header. */
export function formatFieldLines(flat: readonly string[]): string {
  let text = '';
  for (let i = 0; i < flat.length; i += 2) text += formatFieldLine(flat[i]!, flat[i + 1]!);
  return text;
}

/** Field line with its CRLF. Throws InvalidHeaderError for what is not a header. */
export function formatFieldLine(name: string, value: string): string {
  if (!isToken(name) || !isFieldValue(value)) throw new InvalidHeaderError(`${name} is not a valid header`);
  return `${name}: ${value}\r\n`;
}

export function isToken(name: string): boolean {
  for (let i = 0; i < name.length; i++) if (tokenBytes[name.charCodeAt(i)] !== 1) return false;
  return name.length > 0;
}

/** One character a byte: text beyond latin-1 is encoded before. */
function isFieldValue(value: string): boolean {
  for (let i = 0; i < value.length; i++) if (fieldBytes[value.charCodeAt(i)] !== 1) return false;
  return true;
}

/** Line before the data of a chunk (RFC 9112, 7.1). */
export const formatChunkSize = (byteLength: number): string => `${byteLength.toString(16)}\r\n`;

/** Last chunk and trailer section. */
export const formatLastChunk = (trailers: readonly string[] = []): string =>
  trailers.length === 0 ? '0\r\n\r\n' : `0\r\n${formatFieldLines(trailers)}\r\n`;
