import type { HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { parseCacheControl, parseDeltaSeconds } from './cache-control.ts';
import type { CacheEntry } from './cache-entry.ts';
import { hasMethodOverride } from './client-headers.ts';

/** The request body is part of the cache key. */
const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

export const isKeyedByBody = ({ method }: Pick<Exchange, 'method'>): boolean => bodyMethods.has(method);

/** Range requests, and conditions on the current state of the resource. */
const uncacheableConditionHeaders = ['range', 'if-range', 'if-match', 'if-unmodified-since'];

/** True where the request may be answered from the cache and its response be stored. */
export function isCacheableRequest(call: Exchange): boolean {
  const { headers, method, receivedMethod } = call;
  if (call.upgrade !== '' || call.rewrittenTarget?.address?.loop) return false;
  // A response without a body must not be stored as one with a body, nor the reverse.
  if ((method === 'HEAD') !== (receivedMethod === 'HEAD')) return false;
  if (call.upstreamMethod !== undefined && (call.upstreamMethod === 'HEAD') !== (method === 'HEAD')) return false;
  // A body that is not in the cache key could change the response.
  if (!bodyMethods.has(method) && !call.body.isEmpty) return false;
  if (/^application\/grpc/i.test(headers.get('content-type') ?? '')) return false;
  if (hasMethodOverride(headers)) return false;
  for (const name of uncacheableConditionHeaders) if (headers.has(name)) return false;
  return !parseCacheControl(headers).has('no-store');
}

/** Request directives (RFC 9111, section 5.2.1), honoured where `cache.honour_request_cache_control` is on. */
export interface RequestCacheControl {
  readonly noCache: boolean;
  readonly onlyIfCached: boolean;
  readonly maxAgeSeconds: number;
  readonly minFreshSeconds: number;
}

export function parseRequestCacheControl(headers: HeaderList): RequestCacheControl {
  const directives = parseCacheControl(headers);
  const pragma = directives.size === 0 && /\bno-cache\b/i.test(headers.get('pragma') ?? '');
  return {
    noCache: pragma || directives.has('no-cache'),
    onlyIfCached: directives.has('only-if-cached'),
    maxAgeSeconds: parseDeltaSeconds(directives.get('max-age')) ?? Number.POSITIVE_INFINITY,
    minFreshSeconds: parseDeltaSeconds(directives.get('min-fresh')) ?? 0,
  };
}

export const isFreshEnough = (entry: CacheEntry, directives: RequestCacheControl, nowMs: number): boolean =>
  !directives.noCache &&
  computeAge(entry, nowMs) <= directives.maxAgeSeconds &&
  // `max-age=0` requires a new response, also where the age rounds to 0.
  directives.maxAgeSeconds > 0 &&
  entry.expiresAtMs - nowMs >= directives.minFreshSeconds * 1000;

/** The `Age` header in whole seconds. */
export const computeAge = ({ storedAtMs, ageSeconds }: CacheEntry, nowMs: number): number =>
  ageSeconds + Math.max(0, Math.floor((nowMs - storedAtMs) / 1000));
