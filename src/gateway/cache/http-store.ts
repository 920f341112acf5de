import { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { BodyCapture, Exchange } from '../pipeline/exchange.ts';
import type { CacheDirectives } from './cache-control.ts';
import type { CacheEntry } from './cache-entry.ts';
import { toCoalescingKey } from './cache-location.ts';
import { parseResponseDirectives } from './http-directives.ts';
import type { HttpPending, HttpResult } from './http-exchange.ts';
import { isForAllClients, isStorable, planStorage, type StoragePlan, toHttpEntryHead } from './http-storage.ts';
import type { createCoalescer } from './request-coalescing.ts';
import { parseVary } from './response-freshness.ts';
import type { CacheServices } from './services.ts';
import { type CacheOwner, storeEntry } from './store-entry.ts';

export type HttpCoalescer = ReturnType<typeof createCoalescer<HttpResult>>;

/** Storage of responses in the place of one client or of all, never in both. */
export function createHttpStore(
  { responseCache, settings }: Pick<CacheServices, 'responseCache' | 'settings'>,
  owner: CacheOwner,
  coalescer: HttpCoalescer,
) {
  const maxEntryBytes = settings['cache.max_entry_bytes'];
  const keyOf = ({ shared, client }: HttpPending) => toCoalescingKey(shared ?? client);

  /** Removes what is stored for this request, unless it is at `exceptKey`, where it is replaced. */
  function removeStored({ stored }: HttpPending, exceptKey: string): void {
    if (stored && stored.location.key !== exceptKey) responseCache.delete(owner.apiId, stored.location.variantKey);
  }

  /** Stores a response; the stored one is removed where it is at another place. */
  function put(entry: CacheEntry, pending: HttpPending, isShared: boolean): HttpResult {
    const location = isShared && pending.shared ? pending.shared : pending.client;
    removeStored(pending, location.key);
    const result = storeEntry(responseCache, owner, location, pending.headers, entry);
    coalescer.clearUncacheable(keyOf(pending));
    return { ...result, isShared: location === pending.shared, clientKey: pending.client.key };
  }

  function resolveUncacheable(pending: HttpPending, status: number): void {
    if (status !== 304) coalescer.markUncacheable(keyOf(pending));
    pending.inFlight?.resolve(undefined);
  }

  return {
    /** Decides whether and where a response is stored. A response that replaces the stored one invalidates it. */
    plan(response: GatewayResponse, pending: HttpPending): void {
      const times = { requestedAtMs: pending.requestedAtMs, receivedAtMs: pending.receivedAtMs! };
      const request = { headers: pending.headers, isAnonymous: pending.shared !== undefined };
      const isTooLong = Number(response.headers.get('content-length') ?? 0) > maxEntryBytes;
      pending.plan = isTooLong ? undefined : planStorage(pending.rules, request, response, times);
      if (pending.plan) return;
      if (response.status < 500 && response.status !== 304) removeStored(pending, '');
      resolveUncacheable(pending, response.status);
    },
    capture(call: Exchange, response: GatewayResponse, pending: HttpPending, plan: StoragePlan): BodyCapture {
      const head = toHttpEntryHead(call, response, plan, pending.receivedAtMs!);
      return {
        maxBytes: maxEntryBytes,
        onPause: () => pending.inFlight?.limitWait(),
        complete(body) {
          if (!body) return resolveUncacheable(pending, response.status);
          const result = put({ ...head, body }, pending, plan.isShared);
          pending.inFlight?.resolve(result);
        },
      };
    },
    /** Stores a stored response again, with the fields that it has now. */
    replace(entry: CacheEntry, pending: HttpPending): void {
      const result = put(entry, pending, isForAllClients(parseDirectivesOf(entry)));
      pending.inFlight?.resolve(result);
    },
  };
}

const parseDirectivesOf = ({ headers }: CacheEntry): CacheDirectives =>
  parseResponseDirectives(new HeaderList(headers as string[])).directives;

/** True where a stored response may still be stored with the fields that it has now. */
export const isStillStorable = (entry: CacheEntry, { headers }: HttpPending): boolean =>
  parseVary(new HeaderList(entry.headers as string[])) !== undefined &&
  isStorable(entry.status, headers, parseDirectivesOf(entry));
