import { BoundedMap } from '#base/bounded-map.ts';
import type { Clock } from '#base/clock.ts';

/** The upstream request that others wait for. */
export interface InFlight<T> {
  /** Undefined where there is no result for the waiters. */
  resolve(value: T | undefined): void;
  /** The client of this request is slow to read: its waiters leave after `slowLeaderTimeoutMs`. */
  limitWait(): void;
}

export interface CoalescerOptions {
  readonly clock: Clock;
  /** After it every waiter goes upstream itself. */
  readonly waitTimeoutMs: number;
  /** The same once the client of the in-flight request is slow to read; it bounds the delay of all others. */
  readonly slowLeaderTimeoutMs?: number;
  /** Per in-flight request; the rest go upstream themselves. */
  readonly maxWaiters: number;
}

/** A key whose responses are not cacheable is not coalesced for this long: its waiters would wait in vain. */
const uncacheableTtlMs = 10_000;
const maxUncacheableKeys = 1000;
/** Pauses of a moment are usual for bodies larger than a socket buffer: waiters stay that long. */
const defaultSlowLeaderTimeoutMs = 100;

interface InFlightRequest<T> extends InFlight<T> {
  waiters: number;
  isSlow: boolean;
  readonly result: Promise<T | undefined>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Request coalescing: one upstream request per cache key; the rest wait for its result. Where the result is not cacheable,
 * each waiter goes upstream itself.
 */
export function createCoalescer<T>(options: CoalescerOptions) {
  const { clock, waitTimeoutMs, maxWaiters, slowLeaderTimeoutMs = defaultSlowLeaderTimeoutMs } = options;
  const inFlight = new Map<string, InFlightRequest<T>>();
  /** The time until which a key is not coalesced. */
  const uncacheable = new BoundedMap<string, number>(maxUncacheableKeys);

  function start(key: string): InFlight<T> {
    const { promise, resolve } = Promise.withResolvers<T | undefined>();
    const request: InFlightRequest<T> = {
      waiters: 0,
      isSlow: false,
      result: promise,
      timer: undefined,
      resolve(value) {
        clearTimeout(request.timer);
        if (inFlight.get(key) === request) inFlight.delete(key);
        resolve(value);
      },
      limitWait() {
        if (request.isSlow || inFlight.get(key) !== request) return;
        request.isSlow = true;
        clearTimeout(request.timer);
        request.timer = setTimeout(() => request.resolve(undefined), slowLeaderTimeoutMs).unref();
      },
    };
    inFlight.set(key, request);
    return request;
  }

  function waitFor(request: InFlightRequest<T>): Promise<T | undefined> {
    request.timer ??= setTimeout(() => request.resolve(undefined), waitTimeoutMs).unref();
    request.waiters++;
    return request.result;
  }

  return {
    /** In-flight handle for the first request, a promise for its waiters, undefined for those that go alone. */
    join(key: string): InFlight<T> | Promise<T | undefined> | undefined {
      const untilMs = uncacheable.get(key);
      if (untilMs !== undefined) {
        if (untilMs > clock.now()) return undefined;
        uncacheable.delete(key);
      }
      const request = inFlight.get(key);
      if (!request) return start(key);
      return request.waiters < maxWaiters ? waitFor(request) : undefined;
    },
    markUncacheable: (key: string): void => uncacheable.set(key, clock.now() + uncacheableTtlMs),
    clearUncacheable: (key: string) => void uncacheable.delete(key),
  };
}
