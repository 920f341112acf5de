import { Body, bodyFromBytes, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { CacheEntry } from './entry.ts';
import { computeAge } from './request-cache-control.ts';

/** What is said again of an answer the caller has already. */
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

/** The answer that was kept, or that the caller has it already. No step sees it again. */
export function buildStoredResponse(entry: CacheEntry, call: Exchange, nowMs: number): GatewayResponse {
  const storedHeaders = new HeaderList(entry.headers as string[]);
  const response = isNotModified(entry, storedHeaders, call)
    ? buildNotModifiedResponse(storedHeaders)
    : buildFullResponse(entry, storedHeaders, call.method);
  response.headers.append('Age', String(computeAge(entry, nowMs)));
  response.headers.append(cachedResponseHeader, '1');
  response.skipsResponseSteps = true;
  return response;
}

function buildFullResponse(entry: CacheEntry, kept: HeaderList, method: string): GatewayResponse {
  const headers = new HeaderList(kept.flat.slice());
  if (entry.body.length > 0) return new GatewayResponse(entry.status, headers, bodyFromBytes(entry.body));
  // The head of an answer says how long its body would be.
  const length = method === 'HEAD' ? kept.get('content-length') : '0';
  return new GatewayResponse(
    entry.status,
    headers,
    new Body(undefined, undefined, length === undefined ? length : Number(length)),
  );
}

function buildNotModifiedResponse(kept: HeaderList): GatewayResponse {
  const headers = new HeaderList();
  for (const [name, value] of kept) if (notModifiedHeaders.has(name.toLowerCase())) headers.append(name, value);
  return new GatewayResponse(304, headers, noBody());
}

function isNotModified({ status }: CacheEntry, kept: HeaderList, { method, headers }: Exchange): boolean {
  if (status !== 200 || (method !== 'GET' && method !== 'HEAD')) return false;
  const tags = headers.all('if-none-match');
  if (tags.length > 0) return matchesEtag(tags.join(','), kept.get('etag'));
  const since = Date.parse(headers.get('if-modified-since') ?? '');
  const changed = Date.parse(kept.get('last-modified') ?? '');
  return changed <= since;
}

const etagPattern = /(?:W\/)?"[^"]*"|[^\s,]+/g;
/** Whether it is weak makes no difference to somebody who would get the same again. */
const stripWeakPrefix = (text: string) => text.replace(/^W\//, '');

function matchesEtag(list: string, etag: string | undefined): boolean {
  if (list.trim() === '*') return true;
  return (
    etag !== undefined &&
    (list.match(etagPattern) ?? []).some(it => stripWeakPrefix(it) === stripWeakPrefix(etag.trim()))
  );
}
