import { Http1ParseError, toParseError } from './parse-error.ts';
import { requestFaults } from './request-faults.ts';
import { carriageReturn, fieldBytes, space, targetBytes, tokenBytes } from './syntax.ts';

/**
 * Registered methods, as in Node's parser. A request line that begins with another word is more likely another
 * protocol than a new method.
 */
const methods: readonly string[] = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'QUERY', 'CONNECT', 'TRACE', 'SOURCE', 'PURGE'],
  ...['COPY', 'LOCK', 'MKCOL', 'MOVE', 'PROPFIND', 'PROPPATCH', 'SEARCH', 'UNLOCK', 'BIND', 'REBIND', 'UNBIND', 'ACL'],
  ...['REPORT', 'MKACTIVITY', 'CHECKOUT', 'MERGE', 'M-SEARCH', 'NOTIFY', 'SUBSCRIBE', 'UNSUBSCRIBE', 'MKCALENDAR'],
  ...['LINK', 'UNLINK'],
];
const maxMethodLength = 11;
const methodsByLength: readonly (readonly string[])[] = Array.from({ length: maxMethodLength + 1 }, (_none, length) =>
  methods.filter(method => method.length === length),
);

/** The known method between two offsets, as the same string object each time. */
function findMethod(text: string, start: number, end: number): string | undefined {
  const candidates = methodsByLength[end - start];
  if (candidates !== undefined) for (const method of candidates) if (text.startsWith(method, start)) return method;
  return undefined;
}

/** Fields of a request line. */
export interface RequestLine {
  method: string;
  target: string;
  minorVersion: number;
}

/** Fields of a status line. */
export interface StatusLine {
  status: number;
  minorVersion: number;
}

/**
 * Request line (RFC 9112, 3): method, target and version with one space between them, then CRLF. Returns the offset after
 * it, or -1 when the text ends before.
 */
export function scanRequestLine(text: string, at: number, line: RequestLine): number {
  const { length } = text;
  let i = at;
  while (i < length && isMethodCode(text.charCodeAt(i))) i++;
  if (i === length) {
    if (i - at > maxMethodLength) throw createMethodError(text, at);
    return -1;
  }
  // An empty line whose end has not arrived.
  if (i === at && i + 1 === length && text.charCodeAt(i) === carriageReturn) return -1;
  const method = findMethod(text, at, i);
  if (text.charCodeAt(i) !== space || method === undefined) throw createMethodError(text, at);
  const targetStart = ++i;
  while (i < length && targetBytes[text.charCodeAt(i)] === 1) i++;
  if (i === length) return -1;
  const target = text.slice(targetStart, i);
  if (!(method === 'CONNECT' ? isAuthorityForm(target) : isTarget(target)))
    throw new Http1ParseError('the request target is invalid');
  if (text.charCodeAt(i) === carriageReturn) throw createVersionError();
  if (text.charCodeAt(i) !== space) throw new Http1ParseError('the request target is invalid');
  const end = scanVersion(text, i + 1, line);
  line.method = method;
  line.target = target;
  return end;
}

/** Version and CRLF; refused as soon as they can be nothing else, since what follows may never arrive. */
function scanVersion(text: string, at: number, line: RequestLine): number {
  const isComplete = text.length >= at + versionEnd11.length;
  for (let minor = 0; minor <= 1; minor++) {
    const expected = minor === 1 ? versionEnd11 : versionEnd10;
    if (isComplete ? text.startsWith(expected, at) : expected.startsWith(text.slice(at))) {
      line.minorVersion = minor;
      return isComplete ? at + expected.length : -1;
    }
  }
  if (text.startsWith('HTTP/', at)) throw createVersionError();
  throw new Http1ParseError('the request line does not end in a version');
}

const versionEnd11 = 'HTTP/1.1\r\n';
const versionEnd10 = 'HTTP/1.0\r\n';

/**
 * Status line (RFC 9112, 4): version, three digits, and a reason phrase that may be absent. Returns the offset after it,
 * or -1 when the text ends before.
 */
export function scanStatusLine(text: string, line: StatusLine): number {
  const end = text.indexOf('\n') + 1;
  if (end === 0) {
    if (!text.startsWith('HTTP/1.') && !'HTTP/1.'.startsWith(text))
      throw new Http1ParseError('the response is not HTTP');
    return -1;
  }
  const minor = text.charCodeAt(7) - zero;
  const status = readStatus(text);
  if (!text.startsWith('HTTP/1.') || minor < 0 || minor > 1 || status < 100 || !isReasonPhrase(text, 12, end - 2))
    throw new Http1ParseError('the status line is invalid');
  line.minorVersion = minor;
  line.status = status;
  return end;
}

const zero = 48;

/** Three digits between a space and either a space or CR; 0 for anything else. */
function readStatus(text: string): number {
  const hundreds = text.charCodeAt(9) - zero;
  const tens = text.charCodeAt(10) - zero;
  const ones = text.charCodeAt(11) - zero;
  const isNumber = hundreds > 0 && hundreds <= 9 && tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9;
  return isNumber && text.charCodeAt(8) === space ? hundreds * 100 + tens * 10 + ones : 0;
}

/** Reason phrase, which may be absent: a space and the bytes of a field value; then CR. */
function isReasonPhrase(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(end) !== carriageReturn) return false;
  for (let i = start; i < end; i++) if (fieldBytes[text.charCodeAt(i)] !== 1) return false;
  return start === end || (start < end && text.charCodeAt(start) === space);
}

/** A word that may be a method elsewhere, or bytes that are none. */
function createMethodError(text: string, at: number): Http1ParseError {
  let i = at;
  while (i < text.length && tokenBytes[text.charCodeAt(i)] === 1) i++;
  const isMethod = i > at && (i === text.length || text.charCodeAt(i) === space);
  return isMethod ? toParseError(requestFaults.method) : new Http1ParseError('the method is not a token');
}

const createVersionError = () => toParseError(requestFaults.version);

/** Capital letters, and the hyphen of `M-SEARCH`. */
const isMethodCode = (code: number) => (code >= 65 && code <= 90) || code === 45;

/** Origin form, asterisk form, or absolute form (RFC 9112, 3.2). */
const isTarget = (target: string) => target.charCodeAt(0) === 47 || target === '*' || absoluteForm.test(target);

const absoluteForm = /^[A-Za-z]+:\/\/[\w.~[\]:-]+(?:[/?]|$)/;

/** Authority form (RFC 9112, 3.2.3), which only CONNECT has; the gateway refuses it with a status of its own. */
const isAuthorityForm = (target: string) => /^[\w.~[\]:-]+$/.test(target);
