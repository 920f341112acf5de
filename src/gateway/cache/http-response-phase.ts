import { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import type { CacheEntry } from './cache-entry.ts';
import type { HttpCachingState } from './http-caching-state.ts';
import type { HttpPending, StoredAt } from './http-exchange.ts';
import { canReplaceError } from './http-freshness.ts';
import { isStillStorable } from './http-store.ts';
import { compareHead, freshenEntry, isAboutStored } from './http-validation.ts';
import { selectStoredHeaders } from './response-freshness.ts';

/** Errors that a stale response may stand in for (RFC 5861, section 4). */
const replaceableErrors: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Decides about an upstream response: stored, or replaced by the stored response that it validates. */
export function finalizeHttpResponse(state: HttpCachingState, call: Exchange, response: GatewayResponse): StepResult {
  const pending = state.pendings.get(call);
  if (!pending) return undefined;
  pending.receivedAtMs = state.clock.now();
  if (call.method === 'HEAD') {
    if (pending.stored) compareWithHead(state, call, response, pending, pending.stored);
  } else if (response.status === 304 && pending.isConditional) return onValidated(state, call, response, pending);
  else {
    const stale = replaceableErrors.has(response.status) ? findStaleResponse(state, call) : undefined;
    if (stale) return stale;
    state.store.plan(response, pending);
  }
  const isStored = pending.plan !== undefined;
  state.replies.addStatus(response, { forward: pending.forward, forwardStatus: response.status, isStored });
  return undefined;
}

/** The stored response where it may stand in for an error. */
export function findStaleResponse({ pendings, clock, replies }: HttpCachingState, call: Exchange): StepResult {
  const pending = pendings.get(call);
  if (!pending?.stored || call.method === 'HEAD') return undefined;
  if (!canReplaceError(pending.stored.entry, pending.directives, clock.now())) return undefined;
  pending.inFlight?.resolve(undefined);
  return replies.stale(call, pending.stored.entry, pending);
}

/** A 304 to the cache's own conditions: the stored response, with the fields of the 304. */
function onValidated(
  state: HttpCachingState,
  call: Exchange,
  response: GatewayResponse,
  pending: HttpPending,
): GatewayResponse {
  const { entry } = pending.stored!;
  const freshened = isAboutStored(entry, response.headers) ? freshen(call, response, pending, entry) : undefined;
  const isStored = replaceStored(state, pending, pending.stored!, freshened);
  if (!isStored) pending.inFlight?.resolve(undefined);
  return state.replies.validated(call, freshened ?? entry, pending, isStored);
}

/** A HEAD response is about the stored GET response too (RFC 9111, section 4.3.5). */
function compareWithHead(
  state: HttpCachingState,
  call: Exchange,
  response: GatewayResponse,
  pending: HttpPending,
  stored: StoredAt,
): void {
  if (response.status >= 500) return;
  const comparison = compareHead(stored.entry, response.headers, response.status);
  if (comparison === 'changed') replaceStored(state, pending, stored, undefined);
  if (comparison === 'same') replaceStored(state, pending, stored, freshen(call, response, pending, stored.entry));
}

/** Stores the freshened response, or removes the stored one where it may no longer be stored. */
function replaceStored(
  { store, responseCache, owner }: HttpCachingState,
  pending: HttpPending,
  { location }: StoredAt,
  freshened: CacheEntry | undefined,
): boolean {
  const isStored = freshened !== undefined && isStillStorable(freshened, pending);
  if (isStored) store.replace(freshened, pending);
  else responseCache.delete(owner.apiId, location.variantKey);
  return isStored;
}

const freshen = (call: Exchange, response: GatewayResponse, pending: HttpPending, entry: CacheEntry) =>
  freshenEntry(
    entry,
    new HeaderList([
      ...selectStoredHeaders(call, response),
      ...response.headers.all('age').flatMap(age => ['Age', age]),
    ]),
    { requestedAtMs: pending.requestedAtMs, receivedAtMs: pending.receivedAtMs! },
    pending.rules.ttlMs,
  );
