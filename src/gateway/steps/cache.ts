import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { createPublicId } from '#base/ids.ts';
import { cachePlan, loops, type Rules } from '../cache/cache-policy.ts';
import { callerHeadersOf, overridesMethod } from '../cache/client-headers.ts';
import { type Entry, isSignpost, type Signpost } from '../cache/entry.ts';
import { answerFrom } from '../cache/hit.ts';
import { byCallerHeaders, isAlike, keysOf, variantKey } from '../cache/key.ts';
import { asksByBody, isGoodEnough, isOrdinary, wantsOf } from '../cache/request-cache-control.ts';
import { type Flight, flights } from '../cache/request-coalescing.ts';
import { ageSeconds, keptHeaders, lifetimeMs, variesOf } from '../cache/response-freshness.ts';
import { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import { telling } from '../limits/rate-limit-headers.ts';
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
  readonly signpost: Signpost | undefined;
  readonly entry: Entry | undefined;
  readonly era: string | undefined;
  readonly turn: string;
  /** What may tell callers without a key apart; empty for callers with one. */
  readonly callerHeaders: string;
}

/** What one call brought for those who waited for it. */
interface Brought {
  readonly entry: Entry;
  readonly varies: readonly string[];
  readonly headers: HeaderList;
}

/** A call on its way to the upstream whose answer may be kept. */
interface Pending {
  readonly rules: Rules;
  readonly place: Place;
  readonly flight: Flight<Brought> | undefined;
  /** As they were when the place was looked for; steps that come later may change them. */
  readonly headers: HeaderList;
}

const flightOf = ({ name, turn, callerHeaders }: Place) => `${name} ${turn} ${callerHeaders}`;

const after = <T, U>(doing: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> =>
  doing instanceof Promise ? doing.then(next) : next(doing);

export const cache: Step = {
  name: 'cache',
  build(context) {
    const { model, version, services } = context;
    const plan = cachePlan(model, version, services.settings);
    // What goes round inside the gateway is kept by the API that answers it in the end.
    if (!plan || loops(model, version)) return undefined;
    const keeping = made(context);
    return {
      request(call) {
        const rules = plan.rulesFor(call);
        if (!rules || !isOrdinary(call)) return undefined;
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
  (!safe.has(method) || overridesMethod(headers));

function made({ model, version, services }: StepContext) {
  const { responseCache, settings, clock } = services;
  const apiId = model.identity.id;
  const keys = keysOf(model, version);
  const most = settings['cache.entry_bytes'];
  const heldBytes = settings['gateway.held_body_bytes'];
  const callersDecide = settings['cache.caller_control'];
  const { answer: tellLimits } = telling(settings);
  const flying = flights<Brought>({ clock, waitMs, mostWaiting });
  const pending = new WeakMap<Exchange, Pending>();

  function request(call: Exchange, rules: Rules): MaybePromise<StepResult> {
    const callerHeaders = call.keyId === '' ? callerHeadersOf(call.headers) : '';
    if (callerHeaders === undefined) return undefined;
    if (!asksByBody(call)) return looked(call, rules, undefined, callerHeaders);
    if ((call.body.length ?? 0) > heldBytes) return undefined;
    return call.body.read(heldBytes).then(bytes => {
      const part = bodyPart(bytes, rules);
      return part === undefined ? undefined : looked(call, rules, part, callerHeaders);
    });
  }

  /** A HEAD is answered from what is kept of a GET, or else from what is kept of a HEAD. */
  function looked(
    call: Exchange,
    rules: Rules,
    body: string | undefined,
    callerHeaders: string,
  ): MaybePromise<StepResult> {
    const head = call.method === 'HEAD';
    return after(placeOf(call, keys.of(call, head ? 'GET' : call.method, body), callerHeaders), place => {
      if (isUsable(call, place.entry)) return hit(call, place.entry!);
      if (!head) return missed(call, rules, place);
      return after(placeOf(call, keys.of(call, 'HEAD'), callerHeaders), own =>
        isUsable(call, own.entry) ? hit(call, own.entry!) : missed(call, rules, own),
      );
    });
  }

  function placeOf(call: Exchange, key: string, callerHeaders: string): MaybePromise<Place> {
    return after(responseCache.find(apiId, key), ({ kept, era, turn }) => {
      if (!kept || !isSignpost(kept)) {
        const entry = callerHeaders === '' ? kept : undefined;
        return { key, name: key, signpost: undefined, entry, era, turn, callerHeaders };
      }
      // What is kept there was made for callers that brought no such headers.
      if (callerHeaders !== '' && !kept.varies.includes(byCallerHeaders))
        return { key, name: key, signpost: kept, entry: undefined, era, turn, callerHeaders };
      const name = variantKey(key, kept, call.headers, callerHeaders);
      return after(responseCache.find(apiId, name), ({ kept: variant }) => ({
        ...{ key, name, signpost: kept, era, turn, callerHeaders },
        entry: variant && !isSignpost(variant) ? variant : undefined,
      }));
    });
  }

  const isUsable = (call: Exchange, entry: Entry | undefined) =>
    entry !== undefined && (!callersDecide || isGoodEnough(entry, wantsOf(call.headers), clock.now()));

  function hit(call: Exchange, entry: Entry): GatewayResponse {
    const response = answerFrom(entry, call, clock.now());
    tellLimits(call, response.headers);
    call.tags = [...(call.tags ?? []), 'cached-response'];
    return response;
  }

  function missed(call: Exchange, rules: Rules, place: Place): MaybePromise<StepResult> {
    const wants = callersDecide ? wantsOf(call.headers) : undefined;
    if (wants?.onlyKept) return refuse(call, 'not_cached');
    const headers = new HeaderList(call.headers.flat.slice());
    // Whoever wants a new answer does not want the one that is already on its way.
    const boarded = place.entry ? undefined : flying.board(flightOf(place));
    if (!(boarded instanceof Promise)) {
      pending.set(call, { rules, place, headers, flight: boarded });
      return undefined;
    }
    return boarded.then(brought => {
      if (brought && isAlike(brought.varies, brought.headers, call.headers)) return hit(call, brought.entry);
      pending.set(call, { rules, place, headers, flight: undefined });
      return undefined;
    });
  }

  function copy(call: Exchange, response: GatewayResponse): BodyCapture | undefined {
    const waiting = pending.get(call);
    if (!waiting) return undefined;
    pending.delete(call);
    const nowMs = clock.now();
    const keptMs = lifetimeMs(waiting.rules, response, nowMs);
    const isTooLong = call.method !== 'HEAD' && Number(response.headers.get('content-length') ?? 0) > most;
    if (keptMs <= 0 || isTooLong) {
      if (response.status !== 304) flying.remember(flightOf(waiting.place));
      waiting.flight?.land(undefined);
      return undefined;
    }
    const head = {
      status: response.status,
      headers: keptHeaders(call, response),
      storedAtMs: nowMs,
      ageSeconds: ageSeconds(response.headers),
      expiresAtMs: nowMs + keptMs,
    };
    return {
      maxBytes: most,
      complete(bytes) {
        const brought = bytes && kept(waiting, { ...head, body: bytes });
        if (!brought) flying.remember(flightOf(waiting.place));
        waiting.flight?.land(brought);
      },
    };
  }

  function kept({ place, headers }: Pending, entry: Entry): Brought {
    const { key, era, signpost, callerHeaders } = place;
    const said = union(signpost?.varies ?? [], variesOf(new HeaderList(entry.headers as string[])) ?? []);
    const varies = callerHeaders === '' ? said : union(said, [byCallerHeaders]);
    const brought = { entry, varies, headers };
    flying.forget(flightOf(place));
    if (era === undefined) return brought;
    if (varies.length === 0) {
      responseCache.keep(apiId, key, entry, era);
      return brought;
    }
    const isSame = signpost?.varies.length === varies.length;
    const post = { varies, mark: isSame ? signpost.mark : createPublicId(), expiresAtMs: entry.expiresAtMs };
    responseCache.keep(apiId, key, post, era);
    responseCache.keep(apiId, variantKey(key, post, headers, callerHeaders), entry, era);
    return brought;
  }

  return {
    request,
    captureBody: copy,
    /** Nothing came of it that could be kept: those who wait go on by themselves. */
    onFinish(call: Exchange): void {
      pending.get(call)?.flight?.land(undefined);
    },
    /** The caller has changed what it would otherwise be shown again as it was. */
    changed(call: Exchange): void {
      for (const method of ['GET', 'HEAD']) responseCache.drop(apiId, keys.of(call, method));
    },
  } satisfies Pick<StepHooks, 'captureBody' | 'onFinish'> & Record<string, unknown>;
}

/** What of a body makes calls different; undefined where that would take too long to find out. */
function bodyPart(bytes: Buffer, { pattern }: Rules): string | undefined {
  if (!pattern || !isUtf8(bytes)) return hash('sha256', bytes, 'base64url');
  if (bytes.length > searchedBytes) return undefined;
  const matcher = pattern.matcher(bytes.toString());
  return matcher.find() ? (matcher.group() ?? '') : '';
}

const union = (one: readonly string[], other: readonly string[]) => [...new Set([...one, ...other])].sort();
