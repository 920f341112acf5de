import type { HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { hasMethodOverride } from './client-headers.ts';
import { parseCacheControl, parseDeltaSeconds } from './directives.ts';
import type { CacheEntry } from './entry.ts';

/** Their body says what they ask for. */
const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

export const isKeyedByBody = ({ method }: Pick<Exchange, 'method'>): boolean => bodyMethods.has(method);

/** They ask for a part, or want to know how things are now. */
const uncacheableConditionHeaders = ['range', 'if-range', 'if-match', 'if-unmodified-since'];

/** Whether a call can be answered from what is kept, and its answer be kept, at all. */
export function isCacheableRequest(call: Exchange): boolean {
  const { headers, method, receivedMethod } = call;
  if (call.upgrade !== '' || call.rewrittenTarget?.address?.loop) return false;
  // What is only a head must not pass for a whole answer, nor the other way round.
  if ((method === 'HEAD') !== (receivedMethod === 'HEAD')) return false;
  if (call.upstreamMethod !== undefined && (call.upstreamMethod === 'HEAD') !== (method === 'HEAD')) return false;
  // A body that is in no name could change the answer unnoticed.
  if (!bodyMethods.has(method) && !call.body.isEmpty) return false;
  if (/^application\/grpc/i.test(headers.get('content-type') ?? '')) return false;
  if (hasMethodOverride(headers)) return false;
  for (const name of uncacheableConditionHeaders) if (headers.has(name)) return false;
  return !parseCacheControl(headers).has('no-store');
}

/** What callers may ask of kept answers, where they are listened to. */
export interface RequestCacheControl {
  /** Nothing kept is good enough. */
  readonly noCache: boolean;
  readonly onlyIfCached: boolean;
  readonly maxAgeSeconds: number;
  readonly minFreshSeconds: number;
}

export function parseRequestCacheControl(headers: HeaderList): RequestCacheControl {
  const said = parseCacheControl(headers);
  const pragma = said.size === 0 && /\bno-cache\b/i.test(headers.get('pragma') ?? '');
  return {
    noCache: pragma || said.has('no-cache'),
    onlyIfCached: said.has('only-if-cached'),
    maxAgeSeconds: parseDeltaSeconds(said.get('max-age')) ?? Number.POSITIVE_INFINITY,
    minFreshSeconds: parseDeltaSeconds(said.get('min-fresh')) ?? 0,
  };
}

export const isFreshEnough = (entry: CacheEntry, wants: RequestCacheControl, nowMs: number): boolean =>
  !wants.noCache &&
  computeAge(entry, nowMs) <= wants.maxAgeSeconds &&
  // Nothing has an age of less than no time: that asks for a new one.
  wants.maxAgeSeconds > 0 &&
  entry.expiresAtMs - nowMs >= wants.minFreshSeconds * 1000;

/** In whole seconds, as it is told. */
export const computeAge = ({ storedAtMs, ageSeconds }: CacheEntry, nowMs: number): number =>
  ageSeconds + Math.max(0, Math.floor((nowMs - storedAtMs) / 1000));
