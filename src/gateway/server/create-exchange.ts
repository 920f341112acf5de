import { plainTextHeaders } from '#base/page-guard.ts';
import type { Body } from '../http/body.ts';
import type { HeaderList } from '../http/headers.ts';
import { canonicalizePath, isInvalidPath, maxPathLength, splitTarget } from '../http/path.ts';
import { type InvalidRequest, isAuthority, readHostHeader, validateHead } from '../http/request-head.ts';
import { Exchange, type Peer } from '../pipeline/exchange.ts';
import type { TransportLimits, TransportOptions } from './transport.ts';

/** A request head as the protocol delivers it. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: HeaderList;
  readonly peer: Peer;
  /** Requested upgrade; empty or absent without one. */
  readonly upgrade?: string;
  /** HTTP/1.0: Host may be absent. */
  readonly mayOmitHost: boolean;
  /** Absent for HTTP/1. */
  readonly protocol?: string;
  body(headers: HeaderList): Body;
}

/** Dependencies of request head validation. */
export type CreateExchangeOptions = Pick<
  TransportOptions,
  'clock' | 'paths' | 'clientAddress' | 'isClientClaim' | 'requestIds'
> & {
  readonly limits: Pick<TransportLimits, 'maxHeaders'>;
};

const toInvalidRequest = (fault: string, status = 400): InvalidRequest => ({ status, fault });

/** TRACE-like methods would echo headers the gateway adds; CONNECT would open a tunnel. */
const refusedMethods: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK', 'SOURCE']);
const maxMethodLength = 31;

/** Capital letters, and hyphens between them. */
function isMethod(method: string): boolean {
  const { length } = method;
  for (let i = 0; i < length; i++) {
    const code = method.charCodeAt(i);
    if ((code < 65 || code > 90) && (code !== 45 || i === 0)) return false;
  }
  return length > 0 && length <= maxMethodLength;
}

/** Validates a request head and creates its exchange; shared by all protocols. */
export function createExchange(raw: RawRequest, options: CreateExchangeOptions): Exchange | InvalidRequest {
  const { headers, peer } = raw;
  if (!isMethod(raw.method)) return toInvalidRequest('the method is not a token', 400);
  if (refusedMethods.has(raw.method)) return toInvalidRequest('the method is not supported', 405);
  const fault = validateHead(headers, peer.isTrusted === true, options.limits.maxHeaders, options.isClientClaim);
  if (fault) return fault;
  const target = splitTarget(raw.target);
  if (isInvalidPath(target)) return toInvalidRequest(target.fault);
  const hostHeader = headers.get('host');
  const host = hostHeader === undefined ? '' : readHostHeader(hostHeader);
  if (host === undefined || (hostHeader === undefined && !raw.mayOmitHost))
    return toInvalidRequest('the Host header is missing or invalid');
  if (target.host !== undefined && (!isAuthority(target.host) || !equalsIgnoringCase(target.host, hostHeader)))
    return toInvalidRequest('the Host header differs from the request target');
  if (target.path.length > maxPathLength)
    return toInvalidRequest(`the path is longer than ${maxPathLength} bytes`, 414);
  const path = canonicalizePath(target.path, options.paths);
  if (isInvalidPath(path)) return toInvalidRequest(path.fault);
  const call = new Exchange({
    method: raw.method,
    target: raw.target,
    path,
    query: target.query,
    host,
    headers,
    body: raw.body(headers),
    upgrade: raw.upgrade ?? '',
    peer,
    protocol: raw.protocol ?? (raw.mayOmitHost ? 'HTTP/1.0' : 'HTTP/1.1'),
    clientAddress: options.clientAddress.resolve(peer, headers),
    receivedAtMs: options.clock.now(),
    startedAt: performance.now(),
  });
  options.requestIds?.assign(call);
  return call;
}

const equalsIgnoringCase = (one: string, other: string | undefined) => one.toLowerCase() === other?.toLowerCase();

const plainTextHeaderList = Object.entries(plainTextHeaders).flat();

/** Plain text: content negotiation has not happened when a head is invalid. */
export function createBadRequestResponse({ status, fault }: InvalidRequest): { headers: string[]; body: Buffer } {
  const body = Buffer.from(`${reasonPhrases[status] ?? 'Bad Request'}: ${fault}`);
  return { headers: [...plainTextHeaderList, 'Content-Length', String(body.length)], body };
}

const reasonPhrases: Readonly<Record<number, string>> = {
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  505: 'HTTP Version Not Supported',
};
