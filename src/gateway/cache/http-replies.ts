import type { GatewayResponse } from '../http/response.ts';
import { createRateLimitHeaders } from '../limits/rate-limit-headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { CacheEntry } from './cache-entry.ts';
import { type CacheOutcome, formatCacheStatus } from './cache-status.ts';
import type { HttpPending } from './http-exchange.ts';
import { computeCurrentAgeMs } from './http-freshness.ts';
import type { CacheServices } from './services.ts';
import { buildStoredResponse, type ConditionalRequest } from './stored-response.ts';

/** Responses from the cache, with the headers of this request. */
export function createHttpReplies({ settings, clock }: Pick<CacheServices, 'clock' | 'settings'>) {
  const { addToResponse: addLimitHeaders } = createRateLimitHeaders(settings);
  const hasStatusHeader = settings['cache.status_header'];

  function addStatus(response: GatewayResponse, outcome: CacheOutcome): void {
    if (hasStatusHeader) response.headers.append('Cache-Status', formatCacheStatus(outcome));
  }

  function build(
    call: Exchange,
    entry: CacheEntry,
    origin: '1' | 'stale' | 'validated',
    outcome: CacheOutcome,
    request: ConditionalRequest = call,
  ): GatewayResponse {
    const nowMs = clock.now();
    const response = buildStoredResponse(entry, request, nowMs, origin);
    addLimitHeaders(call, response.headers);
    const ttlMs = entry.http ? entry.http.lifetimeMs - computeCurrentAgeMs(entry, entry.http, nowMs) : 0;
    addStatus(response, { ...outcome, ttlMs });
    if (origin !== 'validated') call.tags = [...(call.tags ?? []), 'cached-response'];
    return response;
  }

  /** The conditions of the client, where the cache has replaced them by its own. */
  const toOriginal = ({ method }: Exchange, pending: HttpPending | undefined): ConditionalRequest | undefined =>
    pending && { method, headers: pending.headers };

  return {
    addStatus,
    hit: (call: Exchange, entry: CacheEntry) => build(call, entry, '1', {}),
    collapsed: (call: Exchange, entry: CacheEntry) => build(call, entry, '1', { isCollapsed: true }),
    stale: (call: Exchange, entry: CacheEntry, pending?: HttpPending) =>
      build(call, entry, 'stale', pending ? { forward: pending.forward } : {}, toOriginal(call, pending)),
    validated: (call: Exchange, entry: CacheEntry, pending: HttpPending, isStored: boolean) =>
      build(
        call,
        entry,
        'validated',
        { forward: pending.forward, forwardStatus: 304, isStored },
        toOriginal(call, pending),
      ),
  };
}
