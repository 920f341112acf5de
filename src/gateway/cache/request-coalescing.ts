import type { Clock } from '#base/clock.ts';

/** One call to the upstream that others wait for. */
export interface InFlight<T> {
  resolve(value: T | undefined): void;
}

export interface CoalescerOptions {
  readonly clock: Clock;
  /** Longer than this nobody waits for another's call. */
  readonly waitTimeoutMs: number;
  /** How many wait for one; the rest go on by themselves. */
  readonly maxWaiters: number;
}

/** How long it is remembered that answers of a name are not kept, so that nobody waits for one in vain. */
const uncacheableTtlMs = 10_000;
const maxUncacheableKeys = 1000;

interface InFlightRequest<T> extends InFlight<T> {
  waiters: number;
  readonly result: Promise<T | undefined>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Lets one of many calls that ask for the same go to the upstream, and the others wait for what it brings. What it
 * brings may be of no use to them: then they go on by themselves.
 */
export function createCoalescer<T>({ clock, waitTimeoutMs: waitMs, maxWaiters: mostWaiting }: CoalescerOptions) {
  const inFlight = new Map<string, InFlightRequest<T>>();
  const uncacheable = new Map<string, number>();

  function start(key: string): InFlight<T> {
    const { promise, resolve } = Promise.withResolvers<T | undefined>();
    const flight: InFlightRequest<T> = {
      waiters: 0,
      result: promise,
      timer: undefined,
      resolve(value) {
        clearTimeout(flight.timer);
        if (inFlight.get(key) === flight) inFlight.delete(key);
        resolve(value);
      },
    };
    inFlight.set(key, flight);
    return flight;
  }

  function waitFor(flight: InFlightRequest<T>): Promise<T | undefined> {
    flight.timer ??= setTimeout(() => flight.resolve(undefined), waitMs).unref();
    flight.waiters++;
    return flight.result;
  }

  return {
    /** A flight for whoever goes first, a promise for those who wait, nothing for those who go alone. */
    join(key: string): InFlight<T> | Promise<T | undefined> | undefined {
      const untilMs = uncacheable.get(key);
      if (untilMs !== undefined) {
        if (untilMs > clock.now()) return undefined;
        uncacheable.delete(key);
      }
      const flight = inFlight.get(key);
      if (!flight) return start(key);
      return flight.waiters < mostWaiting ? waitFor(flight) : undefined;
    },
    /** Answers of this name are not kept, as it seems. */
    markUncacheable(key: string): void {
      uncacheable.delete(key);
      uncacheable.set(key, clock.now() + uncacheableTtlMs);
      for (const oldest of uncacheable.keys()) {
        if (uncacheable.size <= maxUncacheableKeys) break;
        uncacheable.delete(oldest);
      }
    },
    clearUncacheable: (key: string) => void uncacheable.delete(key),
  };
}
