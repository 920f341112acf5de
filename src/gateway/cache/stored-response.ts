import { Body, bodyFromBytes, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { CacheEntry } from './cache-entry.ts';
import { computeAge } from './request-cache-control.ts';

/** Headers of a 304 response (RFC 9110, section 15.4.5). */
const notModifiedHeaders = new Set([
  'cache-control',
  'content-location',
  'date',
  'etag',
  'expires',
  'last-modified',
  'vary',
]);
const cachedResponseHeader = 'x-gw-cached-response';

/** The part of a request that decides between a stored response and 304. */
export type ConditionalRequest = Pick<Exchange, 'method' | 'headers'>;

/** The response to a cache hit: the stored one, or 304 where the client has it. Response steps ran before it was stored. */
export function buildStoredResponse(
  entry: CacheEntry,
  call: ConditionalRequest,
  nowMs: number,
  origin: '1' | 'stale' | 'validated' = '1',
): GatewayResponse {
  const storedHeaders = new HeaderList(entry.headers as string[]);
  const response = isNotModified(entry, storedHeaders, call)
    ? buildNotModifiedResponse(storedHeaders)
    : buildFullResponse(entry, storedHeaders, call.method);
  response.headers.append('Age', String(computeAge(entry, nowMs)));
  response.headers.append(cachedResponseHeader, origin);
  response.skipsResponseSteps = true;
  return response;
}

function buildFullResponse(entry: CacheEntry, stored: HeaderList, method: string): GatewayResponse {
  const headers = new HeaderList(stored.flat.slice());
  if (entry.body.length > 0) return new GatewayResponse(entry.status, headers, bodyFromBytes(entry.body));
  // The Content-Length of a HEAD response is that of the GET response.
  const length = method === 'HEAD' ? stored.get('content-length') : '0';
  return new GatewayResponse(
    entry.status,
    headers,
    new Body(undefined, undefined, length === undefined ? length : Number(length)),
  );
}

function buildNotModifiedResponse(stored: HeaderList): GatewayResponse {
  const headers = new HeaderList();
  for (const [name, value] of stored) if (notModifiedHeaders.has(name.toLowerCase())) headers.append(name, value);
  return new GatewayResponse(304, headers, noBody());
}

function isNotModified({ status }: CacheEntry, stored: HeaderList, { method, headers }: ConditionalRequest): boolean {
  if (status !== 200 || (method !== 'GET' && method !== 'HEAD')) return false;
  const tags = headers.all('if-none-match');
  if (tags.length > 0) return matchesEtag(tags.join(','), stored.get('etag'));
  const since = Date.parse(headers.get('if-modified-since') ?? '');
  const changed = Date.parse(stored.get('last-modified') ?? '');
  return changed <= since;
}

const etagPattern = /(?:W\/)?"[^"]*"|[^\s,]+/g;
/** `If-None-Match` uses weak comparison (RFC 9110, section 13.1.2). */
export const stripWeakPrefix = (text: string) => text.replace(/^W\//, '');

function matchesEtag(list: string, etag: string | undefined): boolean {
  if (list.trim() === '*') return true;
  return (
    etag !== undefined &&
    (list.match(etagPattern) ?? []).some(it => stripWeakPrefix(it) === stripWeakPrefix(etag.trim()))
  );
}
