import { plainTextHeaders } from '#base/page-guard.ts';
import type { Body } from '../http/body.ts';
import type { HeaderList } from '../http/headers.ts';
import { canonicalizePath, isInvalidPath, maxPathLength, splitTarget } from '../http/path.ts';
import { type InvalidRequest, isAuthority, normalizeHostHeader, validateHead } from '../http/request-head.ts';
import { Exchange, type Peer } from '../pipeline/exchange.ts';
import type { Limits, TransportOptions } from './transport.ts';

/** The head of a call as a protocol delivers it. */
export interface Arriving {
  readonly method: string;
  readonly target: string;
  readonly headers: HeaderList;
  readonly peer: Peer;
  readonly upgrade?: string;
  /** Whether the protocol lets a call name no host. */
  readonly mayOmitHost: boolean;
  body(headers: HeaderList): Body;
}

/** What it takes to tell. */
export type ArrivalOptions = Pick<TransportOptions, 'clock' | 'paths' | 'clientAddress' | 'isClientClaim'> & {
  readonly limits: Pick<Limits, 'headers'>;
};

const bad = (fault: string, status = 400): InvalidRequest => ({ status, fault });

/** Would show a caller what the gateway adds on the way, or open a tunnel to anywhere. */
const refusedMethods: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK', 'SOURCE']);
const method = /^[A-Z][A-Z-]{0,30}$/;

/** Makes an exchange of a head, or says what is wrong with it. The same for every protocol. */
export function arrive(given: Arriving, options: ArrivalOptions): Exchange | InvalidRequest {
  const { headers, peer } = given;
  if (!method.test(given.method)) return bad('the method is not one', 400);
  if (refusedMethods.has(given.method)) return bad('the method is not available', 405);
  const fault = validateHead(headers, peer.isTrusted === true, options.limits.headers, options.isClientClaim);
  if (fault) return fault;
  const target = splitTarget(given.target);
  if (isInvalidPath(target)) return bad(target.fault);
  const named = headers.get('host');
  if (named === undefined ? !given.mayOmitHost : !isAuthority(named)) return bad('no Host, or none that is a name');
  if (target.host !== undefined && (!isAuthority(target.host) || !isSame(target.host, named)))
    return bad('the Host and the request target disagree');
  if (target.path.length > maxPathLength) return bad(`the path is longer than ${maxPathLength} bytes`, 414);
  const path = canonicalizePath(target.path, options.paths);
  if (isInvalidPath(path)) return bad(path.fault);
  return new Exchange({
    method: given.method,
    target: given.target,
    path,
    query: target.query,
    host: normalizeHostHeader(named ?? ''),
    headers,
    body: given.body(headers),
    ...(given.upgrade ? { upgrade: given.upgrade } : {}),
    peer,
    clientAddress: options.clientAddress.resolve(peer, headers),
    receivedAtMs: options.clock.now(),
    startedAt: performance.now(),
  });
}

const isSame = (one: string, other: string | undefined) => one.toLowerCase() === other?.toLowerCase();

const plainText = Object.entries(plainTextHeaders).flat();

/** Said in plain text: what is refused here has not told us its notation yet. */
export function badHeadAnswer({ status, fault }: InvalidRequest): { headers: string[]; body: Buffer } {
  const body = Buffer.from(`${reasons[status] ?? 'Bad Request'}: ${fault}`);
  return { headers: [...plainText, 'Content-Length', String(body.length)], body };
}

const reasons: Readonly<Record<number, string>> = {
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  505: 'HTTP Version Not Supported',
};
