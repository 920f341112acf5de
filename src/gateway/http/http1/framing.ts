import { connectionClose, connectionKeepAlive } from './field-block.ts';
import type { HeadParser } from './head-parser.ts';
import { Http1ParseError, toParseError } from './parse-error.ts';
import { requestFaults } from './request-faults.ts';

/** How the end of a body is found (RFC 9112, 6.3). */
export type BodyFraming = 'none' | 'length' | 'chunked' | 'close';

/** Framing of a request body. Throws where two readers could find two ends. */
export function readRequestFraming(head: HeadParser): BodyFraming {
  checkFraming(head);
  const { isChunked, contentLength } = head.fields;
  if (isChunked) return 'chunked';
  return contentLength > 0 ? 'length' : 'none';
}

/** Framing of the body of a final response to `method`. */
export function readResponseFraming(head: HeadParser, method: string): BodyFraming {
  checkFraming(head);
  const { status } = head;
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return 'none';
  const { isChunked, contentLength } = head.fields;
  if (isChunked) return 'chunked';
  if (contentLength < 0) return 'close';
  return contentLength > 0 ? 'length' : 'none';
}

/** The connection may carry another message after this one (RFC 9112, 9.3). */
export function isPersistent({ minorVersion, fields: { connection } }: HeadParser): boolean {
  if ((connection & connectionClose) !== 0) return false;
  return minorVersion === 1 || (connection & connectionKeepAlive) !== 0;
}

function checkFraming({ minorVersion, fields: { isChunked, contentLength } }: HeadParser): void {
  if (!isChunked) return;
  if (contentLength >= 0) throw new Http1ParseError('the head has both Content-Length and Transfer-Encoding');
  if (minorVersion === 0) throw toParseError(requestFaults.codingInHttp10);
}
