import { fieldBytes, tokenBytes } from './syntax.ts';

/** Invalid header: written as it is, it could split the message. */
export class InvalidHeaderError extends Error {
  readonly code = 'GW_HEADER_INVALID';
}

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
