import type { HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { overridesMethod } from './client-headers.ts';
import { directivesOf, secondsOf } from './directives.ts';
import type { Entry } from './entry.ts';

/** Their body says what they ask for. */
const withBody = new Set(['POST', 'PUT', 'PATCH']);

export const asksByBody = ({ method }: Pick<Exchange, 'method'>): boolean => withBody.has(method);

/** They ask for a part, or want to know how things are now. */
const particular = ['range', 'if-range', 'if-match', 'if-unmodified-since'];

/** Whether a call can be answered from what is kept, and its answer be kept, at all. */
export function isOrdinary(call: Exchange): boolean {
  const { headers, method, receivedMethod } = call;
  if (call.upgrade !== '' || call.rewrittenTarget?.destination?.loop) return false;
  // What is only a head must not pass for a whole answer, nor the other way round.
  if ((method === 'HEAD') !== (receivedMethod === 'HEAD')) return false;
  if (call.upstreamMethod !== undefined && (call.upstreamMethod === 'HEAD') !== (method === 'HEAD')) return false;
  // A body that is in no name could change the answer unnoticed.
  if (!withBody.has(method) && !call.body.isEmpty) return false;
  if (/^application\/grpc/i.test(headers.get('content-type') ?? '')) return false;
  if (overridesMethod(headers)) return false;
  for (const name of particular) if (headers.has(name)) return false;
  return !directivesOf(headers).has('no-store');
}

/** What callers may ask of kept answers, where they are listened to. */
export interface Wants {
  /** Nothing kept is good enough. */
  readonly fresh: boolean;
  readonly onlyKept: boolean;
  readonly mostAgeSeconds: number;
  readonly leastFreshSeconds: number;
}

export function wantsOf(headers: HeaderList): Wants {
  const said = directivesOf(headers);
  const pragma = said.size === 0 && /\bno-cache\b/i.test(headers.get('pragma') ?? '');
  return {
    fresh: pragma || said.has('no-cache'),
    onlyKept: said.has('only-if-cached'),
    mostAgeSeconds: secondsOf(said.get('max-age')) ?? Number.POSITIVE_INFINITY,
    leastFreshSeconds: secondsOf(said.get('min-fresh')) ?? 0,
  };
}

export const isGoodEnough = (entry: Entry, wants: Wants, nowMs: number): boolean =>
  !wants.fresh &&
  ageOf(entry, nowMs) <= wants.mostAgeSeconds &&
  // Nothing has an age of less than no time: that asks for a new one.
  wants.mostAgeSeconds > 0 &&
  entry.expiresAtMs - nowMs >= wants.leastFreshSeconds * 1000;

/** In whole seconds, as it is told. */
export const ageOf = ({ storedAtMs, ageSeconds }: Entry, nowMs: number): number =>
  ageSeconds + Math.max(0, Math.floor((nowMs - storedAtMs) / 1000));
