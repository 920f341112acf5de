import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { createPublicId } from '#base/ids.ts';
import { type CacheRules, createCachePolicy, hasLoopTarget } from '../cache/cache-policy.ts';
import { hasMethodOverride, serializeClientHeaders } from '../cache/client-headers.ts';
import { type CacheEntry, isVaryMarker, type VaryMarker } from '../cache/entry.ts';
import { buildStoredResponse } from '../cache/hit.ts';
import { buildVariantKey, clientHeadersName, createCacheKeys, isSameVariant } from '../cache/key.ts';
import {
  isCacheableRequest,
  isFreshEnough,
  isKeyedByBody,
  parseRequestCacheControl,
} from '../cache/request-cache-control.ts';
import { createCoalescer, type InFlight } from '../cache/request-coalescing.ts';
import { computeTtlMs, parseAge, parseVary, selectStoredHeaders } from '../cache/response-freshness.ts';
import { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import { createRateLimitHeaders } from '../limits/rate-limit-headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { BodyCapture, MaybePromise, Step, StepContext, StepHooks, StepResult } from '../pipeline/step.ts';

/** Longer than this nobody waits for the answer another call brings. */
const waitMs = 10_000;
const mostWaiting = 1000;
/** Bytes of a body that are searched for the part that counts; calls that bring more go to the upstream. */
const searchedBytes = 65_536;

/** Where the answer to a call is kept, or would be. */
interface Place {
  readonly key: string;
  /** The same, or the name of the variant for this call. */
  readonly name: string;
  readonly signpost: VaryMarker | undefined;
  readonly entry: CacheEntry | undefined;
  readonly era: string | undefined;
  readonly turn: string;
  /** What may tell callers without a key apart; empty for callers with one. */
  readonly callerHeaders: string;
}

/** What one call brought for those who waited for it. */
interface Brought {
  readonly entry: CacheEntry;
  readonly varies: readonly string[];
  readonly headers: HeaderList;
}

/** A call on its way to the upstream whose answer may be kept. */
interface Pending {
  readonly rules: CacheRules;
  readonly place: Place;
  readonly flight: InFlight<Brought> | undefined;
  /** As they were when the place was looked for; steps that come later may change them. */
  readonly headers: HeaderList;
}

const flightOf = ({ name, turn, callerHeaders }: Place) => `${name} ${turn} ${callerHeaders}`;

const after = <T, U>(doing: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> =>
  doing instanceof Promise ? doing.then(next) : next(doing);

export const cacheStep: Step = {
  name: 'cache',
  build(context) {
    const { model, version, services } = context;
    const plan = createCachePolicy(model, version, services.settings);
    // What goes round inside the gateway is kept by the API that answers it in the end.
    if (!plan || hasLoopTarget(model, version)) return undefined;
    const keeping = made(context);
    return {
      request(call) {
        const rules = plan.rulesFor(call);
        if (!rules || !isCacheableRequest(call)) return undefined;
        return keeping.request(call, rules);
      },
      captureBody: keeping.captureBody,
      onFinish(call) {
        keeping.onFinish(call);
        if (changes(call)) keeping.changed(call);
      },
    };
  },
};

const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
const changes = ({ method, headers, status, errorCode, upstreamStartedAt }: Exchange) =>
  errorCode === '' &&
  upstreamStartedAt > 0 &&
  status >= 200 &&
  status < 400 &&
  (!safe.has(method) || hasMethodOverride(headers));

function made({ model, version, services }: StepContext) {
  const { responseCache, settings, clock } = services;
  const apiId = model.identity.id;
  const keys = createCacheKeys(model, version);
  const most = settings['cache.max_entry_bytes'];
  const heldBytes = settings['gateway.max_buffered_body_bytes'];
  const callersDecide = settings['cache.honour_request_cache_control'];
  const { addToResponse: tellLimits } = createRateLimitHeaders(settings);
  const flying = createCoalescer<Brought>({ clock, waitTimeoutMs: waitMs, maxWaiters: mostWaiting });
  const pending = new WeakMap<Exchange, Pending>();

  function request(call: Exchange, rules: CacheRules): MaybePromise<StepResult> {
    const callerHeaders = call.keyId === '' ? serializeClientHeaders(call.headers) : '';
    if (callerHeaders === undefined) return undefined;
    if (!isKeyedByBody(call)) return looked(call, rules, undefined, callerHeaders);
    if ((call.body.length ?? 0) > heldBytes) return undefined;
    return call.body.read(heldBytes).then(bytes => {
      const part = bodyPart(bytes, rules);
      return part === undefined ? undefined : looked(call, rules, part, callerHeaders);
    });
  }

  /** A HEAD is answered from what is kept of a GET, or else from what is kept of a HEAD. */
  function looked(
    call: Exchange,
    rules: CacheRules,
    body: string | undefined,
    callerHeaders: string,
  ): MaybePromise<StepResult> {
    const head = call.method === 'HEAD';
    return after(placeOf(call, keys.build(call, head ? 'GET' : call.method, body), callerHeaders), place => {
      if (isUsable(call, place.entry)) return hit(call, place.entry!);
      if (!head) return missed(call, rules, place);
      return after(placeOf(call, keys.build(call, 'HEAD'), callerHeaders), own =>
        isUsable(call, own.entry) ? hit(call, own.entry!) : missed(call, rules, own),
      );
    });
  }

  function placeOf(call: Exchange, key: string, callerHeaders: string): MaybePromise<Place> {
    return after(responseCache.find(apiId, key), ({ kept, era, turn }) => {
      if (!kept || !isVaryMarker(kept)) {
        const entry = callerHeaders === '' ? kept : undefined;
        return { key, name: key, signpost: undefined, entry, era, turn, callerHeaders };
      }
      // What is kept there was made for callers that brought no such headers.
      if (callerHeaders !== '' && !kept.varies.includes(clientHeadersName))
        return { key, name: key, signpost: kept, entry: undefined, era, turn, callerHeaders };
      const name = buildVariantKey(key, kept, call.headers, callerHeaders);
      return after(responseCache.find(apiId, name), ({ kept: variant }) => ({
        ...{ key, name, signpost: kept, era, turn, callerHeaders },
        entry: variant && !isVaryMarker(variant) ? variant : undefined,
      }));
    });
  }

  const isUsable = (call: Exchange, entry: CacheEntry | undefined) =>
    entry !== undefined &&
    (!callersDecide || isFreshEnough(entry, parseRequestCacheControl(call.headers), clock.now()));

  function hit(call: Exchange, entry: CacheEntry): GatewayResponse {
    const response = buildStoredResponse(entry, call, clock.now());
    tellLimits(call, response.headers);
    call.tags = [...(call.tags ?? []), 'cached-response'];
    return response;
  }

  function missed(call: Exchange, rules: CacheRules, place: Place): MaybePromise<StepResult> {
    const wants = callersDecide ? parseRequestCacheControl(call.headers) : undefined;
    if (wants?.onlyIfCached) return refuse(call, 'cache_entry_missing');
    const headers = new HeaderList(call.headers.flat.slice());
    // Whoever wants a new answer does not want the one that is already on its way.
    const boarded = place.entry ? undefined : flying.join(flightOf(place));
    if (!(boarded instanceof Promise)) {
      pending.set(call, { rules, place, headers, flight: boarded });
      return undefined;
    }
    return boarded.then(brought => {
      if (brought && isSameVariant(brought.varies, brought.headers, call.headers)) return hit(call, brought.entry);
      pending.set(call, { rules, place, headers, flight: undefined });
      return undefined;
    });
  }

  function copy(call: Exchange, response: GatewayResponse): BodyCapture | undefined {
    const waiting = pending.get(call);
    if (!waiting) return undefined;
    pending.delete(call);
    const nowMs = clock.now();
    const keptMs = computeTtlMs(waiting.rules, response, nowMs);
    const isTooLong = call.method !== 'HEAD' && Number(response.headers.get('content-length') ?? 0) > most;
    if (keptMs <= 0 || isTooLong) {
      if (response.status !== 304) flying.markUncacheable(flightOf(waiting.place));
      waiting.flight?.resolve(undefined);
      return undefined;
    }
    const head = {
      status: response.status,
      headers: selectStoredHeaders(call, response),
      storedAtMs: nowMs,
      ageSeconds: parseAge(response.headers),
      expiresAtMs: nowMs + keptMs,
    };
    return {
      maxBytes: most,
      complete(bytes) {
        const brought = bytes && kept(waiting, { ...head, body: bytes });
        if (!brought) flying.markUncacheable(flightOf(waiting.place));
        waiting.flight?.resolve(brought);
      },
    };
  }

  function kept({ place, headers }: Pending, entry: CacheEntry): Brought {
    const { key, era, signpost, callerHeaders } = place;
    const said = union(signpost?.varies ?? [], parseVary(new HeaderList(entry.headers as string[])) ?? []);
    const varies = callerHeaders === '' ? said : union(said, [clientHeadersName]);
    const brought = { entry, varies, headers };
    flying.clearUncacheable(flightOf(place));
    if (era === undefined) return brought;
    if (varies.length === 0) {
      responseCache.put(apiId, key, entry, era);
      return brought;
    }
    const isSame = signpost?.varies.length === varies.length;
    const post = { varies, mark: isSame ? signpost.mark : createPublicId(), expiresAtMs: entry.expiresAtMs };
    responseCache.put(apiId, key, post, era);
    responseCache.put(apiId, buildVariantKey(key, post, headers, callerHeaders), entry, era);
    return brought;
  }

  return {
    request,
    captureBody: copy,
    /** Nothing came of it that could be kept: those who wait go on by themselves. */
    onFinish(call: Exchange): void {
      pending.get(call)?.flight?.resolve(undefined);
    },
    /** The caller has changed what it would otherwise be shown again as it was. */
    changed(call: Exchange): void {
      for (const method of ['GET', 'HEAD']) responseCache.delete(apiId, keys.build(call, method));
    },
  } satisfies Pick<StepHooks, 'captureBody' | 'onFinish'> & Record<string, unknown>;
}

/** What of a body makes calls different; undefined where that would take too long to find out. */
function bodyPart(bytes: Buffer, { pattern }: CacheRules): string | undefined {
  if (!pattern || !isUtf8(bytes)) return hash('sha256', bytes, 'base64url');
  if (bytes.length > searchedBytes) return undefined;
  const matcher = pattern.matcher(bytes.toString());
  return matcher.find() ? (matcher.group() ?? '') : '';
}

const union = (one: readonly string[], other: readonly string[]) => [...new Set([...one, ...other])].sort();
