import { toLowerName } from '../../http/header-names.ts';
import { parseLength } from '../../http/http1/field-block.ts';
import { targetBytes } from '../../http/http1/syntax.ts';
import { FieldLines, formatFieldLine, isToken } from '../../http/http1/write-message.ts';
import type { UpstreamRequestOptions } from '../upstream-dispatcher.ts';
import { createUpstreamError } from './errors.ts';

/** Methods whose requests declare that they have no content (RFC 9110, 8.6). */
const contentMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);

export const expectsContent = (method: string): boolean => contentMethods.has(method);

/** Length of the request body: of bytes, or as declared for a stream; undefined for chunks. */
export type RequestBodyLength = number | undefined;

/**
 * Formats a request head up to its framing: `formatFraming` completes it. `Host` comes first; a Content-Length among the
 * headers is left out, because the framing has it. Throws for what is not a header or target.
 */
export function formatRequestHead({ method, path, headers: flat, parsed }: UpstreamRequestOptions): string {
  checkTarget(method, path);
  let host = '';
  fieldLines.begin(parsed);
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    if (isConnectionField(name)) {
      if (name.length === 14) continue;
      if (host !== '') throw createUpstreamError('requestInvalid', 'the Host header is repeated');
      host = formatFieldLine('host', flat[i + 1]!);
    } else fieldLines.add(name, flat[i + 1]!);
  }
  if (host === '') throw createUpstreamError('requestInvalid', 'the Host header is missing');
  // After a HEAD the connection is closed: an upstream that sends a body anyway would answer the next request with it.
  const connection = method === 'HEAD' ? 'close' : 'keep-alive';
  return `${method} ${path} HTTP/1.1\r\n${host}connection: ${connection}\r\n${fieldLines.end()}`;
}

/** Heads are formatted one at a time. */
const fieldLines = new FieldLines();

/** Framing field and the end of the head; none for a request without content. */
export function formatFraming(length: RequestBodyLength, method: string): string {
  if (length === undefined) return 'transfer-encoding: chunked\r\n\r\n';
  return length === 0 && !expectsContent(method) ? '\r\n' : `content-length: ${length}\r\n\r\n`;
}

/** Declared length of a streamed body. */
export function readBodyLength(headers: readonly string[]): RequestBodyLength {
  let length: number | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.length !== 14 || headers[i]!.toLowerCase() !== 'content-length') continue;
    const value = headers[i + 1]!;
    if (length !== undefined) throw createUpstreamError('requestInvalid', 'the Content-Length header is repeated');
    length = parseLength(value);
  }
  return length;
}

function checkTarget(method: string, path: string): void {
  if (!isToken(method)) throw createUpstreamError('requestInvalid', 'the method is not a token');
  let isValid = path.charCodeAt(0) === 47 || path.startsWith('http://') || path.startsWith('https://');
  for (let i = 0; isValid && i < path.length; i++) isValid = targetBytes[path.charCodeAt(i)] === 1;
  if (!isValid) throw createUpstreamError('requestInvalid', 'the request target is invalid');
}

/** True for Host and Content-Length; throws for other fields of the connection, which only the engine writes. */
function isConnectionField(name: string): boolean {
  switch (name.length) {
    case 4:
      return toLowerName(name) === 'host';
    case 14:
      return toLowerName(name) === 'content-length';
    case 6:
    case 7:
    case 10:
    case 17:
      if (ownFields.has(toLowerName(name)))
        throw createUpstreamError('requestInvalid', `${name} is not a header of a request, but of its connection`);
  }
  return false;
}

const ownFields: ReadonlySet<string> = new Set(['expect', 'upgrade', 'connection', 'keep-alive', 'transfer-encoding']);
