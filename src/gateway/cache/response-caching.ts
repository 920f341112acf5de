import type { MaybePromise } from '#base/maybe-promise.ts';
import { andThen } from '#base/maybe-promise.ts';
import { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import { createRateLimitHeaders } from '../limits/rate-limit-headers.ts';
import type { BodyCapture, Exchange, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { ChainContext } from '../pipeline/step.ts';
import type { CacheEntry } from './cache-entry.ts';
import { createCacheKeys, isSameVariant } from './cache-key.ts';
import { type CacheLocation, locateEntry, selectBodyPart, toCoalescingKey } from './cache-location.ts';
import type { CacheRules } from './cache-policy.ts';
import { serializeClientHeaders } from './client-headers.ts';
import { isFreshEnough, isKeyedByBody, parseRequestCacheControl } from './request-cache-control.ts';
import { createCoalescer, type InFlight } from './request-coalescing.ts';
import { computeTtlMs } from './response-freshness.ts';
import type { CacheServices } from './services.ts';
import { type CacheOwner, type CoalescedResult, storeEntry, toEntryHead } from './store-entry.ts';
import { buildStoredResponse } from './stored-response.ts';

/** How long a request waits for the response to another one. */
export const waitTimeoutMs = 10_000;
export const maxWaiters = 1000;

/** A request on its way to the upstream whose response may be stored. */
interface PendingMiss {
  readonly rules: CacheRules;
  readonly location: CacheLocation;
  readonly inFlight: InFlight<CoalescedResult> | undefined;
  /** A copy from the lookup: later steps may change the request's headers. */
  readonly headers: HeaderList;
}

type CachingServices = Pick<CacheServices, 'clock' | 'responseCache' | 'settings'>;

/** Response caching of one API version: lookup, coalescing of misses, storage, invalidation by unsafe requests. */
export function createResponseCaching({ model, version, services }: ChainContext<CachingServices>) {
  const { responseCache, settings, clock } = services;
  const apiId = model.identity.id;
  const keys = createCacheKeys(model, version);
  const maxBodyBytes = settings['gateway.max_buffered_body_bytes'];
  const buildHit = createHitBuilder(services);
  const misses = createMisses(services, { orgId: model.identity.orgId, apiId }, buildHit);
  const readDirectives = (call: Exchange) =>
    settings['cache.honour_request_cache_control'] ? parseRequestCacheControl(call.headers) : undefined;

  function request(call: Exchange, rules: CacheRules): MaybePromise<StepResult> {
    const clientHeaders = call.keyId === '' ? serializeClientHeaders(call.headers) : '';
    if (clientHeaders === undefined) return undefined;
    if (!isKeyedByBody(call)) return lookUp(call, rules, undefined, clientHeaders);
    if ((call.body.length ?? 0) > maxBodyBytes) return undefined;
    return call.body.read(maxBodyBytes).then(bytes => {
      const part = selectBodyPart(bytes, rules);
      return part === undefined ? undefined : lookUp(call, rules, part, clientHeaders);
    });
  }

  /** A HEAD request is answered from the stored GET response, else from a stored HEAD response. */
  function lookUp(
    call: Exchange,
    rules: CacheRules,
    body: string | undefined,
    clientHeaders: string,
  ): MaybePromise<StepResult> {
    const isHead = call.method === 'HEAD';
    const locate = (key: string) => locateEntry(responseCache, apiId, call, key, clientHeaders);
    return andThen(locate(keys.build(call, isHead ? 'GET' : call.method, body)), location => {
      if (isUsable(call, location.entry)) return buildHit(call, location.entry);
      if (!isHead) return onMiss(call, rules, location);
      return andThen(locate(keys.build(call, 'HEAD')), headLocation =>
        isUsable(call, headLocation.entry) ? buildHit(call, headLocation.entry) : onMiss(call, rules, headLocation),
      );
    });
  }

  function isUsable(call: Exchange, entry: CacheEntry | undefined): entry is CacheEntry {
    if (entry === undefined) return false;
    const directives = readDirectives(call);
    return !directives || isFreshEnough(entry, directives, clock.now());
  }

  function onMiss(call: Exchange, rules: CacheRules, location: CacheLocation): MaybePromise<StepResult> {
    if (readDirectives(call)?.onlyIfCached) return refuse(call, 'cache_entry_missing');
    return misses.add(call, rules, location);
  }

  return {
    request,
    captureBody: misses.captureBody,
    onFinish: misses.onFinish,
    /** Invalidates the stored responses of the request's target (RFC 9111, section 4.4). */
    invalidate(call: Exchange): void {
      for (const method of ['GET', 'HEAD']) responseCache.delete(apiId, keys.build(call, method));
    },
  };
}

type BuildHit = ReturnType<typeof createHitBuilder>;

/** Requests without a stored response: coalescing, and storage of what the upstream returns. */
function createMisses(services: CachingServices, owner: CacheOwner, buildHit: BuildHit) {
  const coalescer = createCoalescer<CoalescedResult>({ clock: services.clock, waitTimeoutMs, maxWaiters });
  const captureMiss = createMissCapture(services, owner, coalescer);
  const pending = new WeakMap<Exchange, PendingMiss>();

  /** Coalesces the request with one in flight, or lets it go upstream and marks its response for storage. */
  function add(call: Exchange, rules: CacheRules, location: CacheLocation): MaybePromise<StepResult> {
    const headers = new HeaderList(call.headers.flat.slice());
    // A request that refuses the stored response also refuses one that is in flight.
    const joined = location.entry ? undefined : coalescer.join(toCoalescingKey(location));
    if (!(joined instanceof Promise)) {
      pending.set(call, { rules, location, headers, inFlight: joined });
      return undefined;
    }
    return joined.then(result => {
      if (result && isSameVariant(result.varyNames, result.headers, call.headers)) return buildHit(call, result.entry);
      pending.set(call, { rules, location, headers, inFlight: undefined });
      return undefined;
    });
  }

  return {
    add,
    captureBody(call: Exchange, response: GatewayResponse): BodyCapture | undefined {
      const miss = pending.get(call);
      if (!miss) return undefined;
      pending.delete(call);
      return captureMiss(call, response, miss);
    },
    /** Without a stored response every waiter goes upstream itself. */
    onFinish: (call: Exchange): void => pending.get(call)?.inFlight?.resolve(undefined),
  };
}

/** Captures the body of a response, stores it and gives it to the waiters; the rest go upstream themselves. */
function createMissCapture(
  { responseCache, settings, clock }: CachingServices,
  owner: CacheOwner,
  coalescer: ReturnType<typeof createCoalescer<CoalescedResult>>,
) {
  const maxEntryBytes = settings['cache.max_entry_bytes'];
  return (call: Exchange, response: GatewayResponse, miss: PendingMiss): BodyCapture | undefined => {
    const { rules, location, headers, inFlight } = miss;
    const nowMs = clock.now();
    const ttlMs = computeTtlMs(rules, response, nowMs);
    const isTooLong = call.method !== 'HEAD' && Number(response.headers.get('content-length') ?? 0) > maxEntryBytes;
    if (ttlMs <= 0 || isTooLong) {
      if (response.status !== 304) coalescer.markUncacheable(toCoalescingKey(location));
      inFlight?.resolve(undefined);
      return undefined;
    }
    const head = toEntryHead(call, response, nowMs, ttlMs);
    return {
      maxBytes: maxEntryBytes,
      complete(body) {
        const result = body && storeEntry(responseCache, owner, location, headers, { ...head, body });
        if (result) coalescer.clearUncacheable(toCoalescingKey(location));
        else coalescer.markUncacheable(toCoalescingKey(location));
        inFlight?.resolve(result);
      },
    };
  };
}

/** Rate-limit headers are of this request, not of the one whose response is stored. */
function createHitBuilder({ settings, clock }: CachingServices) {
  const { addToResponse: addLimitHeaders } = createRateLimitHeaders(settings);
  return (call: Exchange, entry: CacheEntry): GatewayResponse => {
    const response = buildStoredResponse(entry, call, clock.now());
    addLimitHeaders(call, response.headers);
    call.tags = [...(call.tags ?? []), 'cached-response'];
    return response;
  };
}
