import { andThen, type MaybePromise } from '#base/maybe-promise.ts';
import { HeaderList } from '../http/headers.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import { isSameVariant } from './cache-key.ts';
import { type CacheLocation, locateEntry, toCoalescingKey } from './cache-location.ts';
import type { CacheRules } from './cache-policy.ts';
import type { ForwardReason } from './cache-status.ts';
import { serializeClientHeaders } from './client-headers.ts';
import type { HttpCachingState } from './http-caching-state.ts';
import { type HttpRequestDirectives, parseHttpRequestDirectives } from './http-directives.ts';
import { copyExchange, type HttpLocations, type HttpPending, type StoredAt } from './http-exchange.ts';
import { decideReuse } from './http-freshness.ts';
import { setConditions } from './http-validation.ts';

/** A request with the rules that apply to it. */
interface HttpRequest {
  readonly call: Exchange;
  readonly rules: CacheRules;
  readonly directives: HttpRequestDirectives;
}

/** Looks up the stored response to a request; undefined where the request goes to the upstream. */
export function lookUpResponse(state: HttpCachingState, call: Exchange, rules: CacheRules): MaybePromise<StepResult> {
  const { responseCache, owner, keys, clock, replies } = state;
  const clientHeaders = call.keyId === '' ? serializeClientHeaders(call.headers) : '';
  if (clientHeaders === undefined) return undefined;
  const request = { call, rules, directives: parseHttpRequestDirectives(call.headers) };
  const locateForClient = () => locateEntry(responseCache, owner.apiId, call, keys.build(call, 'GET'), clientHeaders);
  if (!isAnonymous(call, clientHeaders))
    return andThen(locateForClient(), client =>
      continueLocated(state, request, { shared: undefined, client, stored: toStored(client) }),
    );
  return andThen(locateEntry(responseCache, owner.apiId, call, keys.buildShared(call), ''), shared => {
    const stored = toStored(shared);
    if (stored && decideReuse(stored.entry, request.directives, clock.now()) === 'fresh')
      return replies.hit(call, stored.entry);
    return andThen(locateForClient(), client =>
      continueLocated(state, request, { shared, client, stored: stored ?? toStored(client) }),
    );
  });
}

function continueLocated(
  state: HttpCachingState,
  request: HttpRequest,
  locations: HttpLocations,
): MaybePromise<StepResult> {
  const { clock, replies } = state;
  const { call, directives } = request;
  const { stored } = locations;
  const reuse = stored ? decideReuse(stored.entry, directives, clock.now()) : 'validate';
  if (!stored || reuse === 'validate') return sendOrWait(state, request, locations);
  if (reuse === 'fresh') return replies.hit(call, stored.entry);
  if (reuse === 'revalidate') revalidate(state, request, locations, stored);
  return replies.stale(call, stored.entry);
}

/** Sends the request to the upstream, or waits for the response to the same request of another client. */
function sendOrWait(state: HttpCachingState, request: HttpRequest, locations: HttpLocations): MaybePromise<StepResult> {
  const { call, directives } = request;
  if (directives.onlyIfCached) return refuse(call, 'cache_entry_missing');
  const send = (inFlight?: HttpPending['inFlight']): undefined => {
    state.pendings.set(call, createPending(state, request, locations, { inFlight }));
  };
  if (call.method === 'HEAD' || !canCoalesce(directives)) return send();
  const joined = state.coalescer.join(toCoalescingKey(locations.shared ?? locations.client));
  if (!(joined instanceof Promise)) return send(joined);
  return joined.then(result => {
    const isForCaller = result && (result.isShared || result.clientKey === locations.client.key);
    return isForCaller && isSameVariant(result.varyNames, result.headers, call.headers)
      ? state.replies.collapsed(call, result.entry)
      : send();
  });
}

function createPending(
  { clock }: HttpCachingState,
  { call, rules, directives }: HttpRequest,
  locations: HttpLocations,
  { inFlight, revalidationKey }: Partial<Pick<HttpPending, 'inFlight' | 'revalidationKey'>>,
): HttpPending {
  const headers = new HeaderList(call.headers.flat.slice());
  const { stored } = locations;
  return {
    ...locations,
    ...{ rules, directives, headers, inFlight, revalidationKey },
    requestedAtMs: clock.now(),
    forward: findForwardReason(locations, directives),
    isConditional: call.method === 'GET' && stored !== undefined && setConditions(call.headers, stored.entry),
  };
}

/** RFC 5861, section 3: the stale response is sent, and another request to the upstream follows it. */
function revalidate(
  state: HttpCachingState,
  request: HttpRequest,
  locations: HttpLocations,
  { location }: StoredAt,
): void {
  const { call } = request;
  const revalidationKey = location.variantKey;
  if (call.method !== 'GET' || !state.revalidations.start(revalidationKey)) return;
  const copy = copyExchange(call);
  state.pendings.set(copy, createPending(state, { ...request, call: copy }, locations, { revalidationKey }));
  call.background = copy;
}

const toStored = (location: CacheLocation): StoredAt | undefined =>
  location.entry?.http ? { entry: location.entry, location } : undefined;

/** No part of the request identifies its client, who may then get a response that is stored for all. */
const isAnonymous = (call: Exchange, clientHeaders: string): boolean =>
  call.keyId === '' &&
  call.previousKeyIds === '' &&
  clientHeaders === '' &&
  !call.headers.has('authorization') &&
  !call.headers.has('cookie');

/** A request that requires a newer response than a stored one also requires one of its own. */
const canCoalesce = ({ noCache, maxAgeMs, minFreshMs }: HttpRequestDirectives): boolean =>
  !noCache && maxAgeMs === Number.POSITIVE_INFINITY && minFreshMs === 0;

function findForwardReason(
  { stored, shared, client }: HttpLocations,
  directives: HttpRequestDirectives,
): ForwardReason {
  if (!stored) return shared?.marker || client.marker ? 'vary-miss' : 'uri-miss';
  return canCoalesce(directives) ? 'stale' : 'request';
}
