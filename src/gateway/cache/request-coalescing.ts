import type { Clock } from '#base/clock.ts';

/** One call to the upstream that others wait for. */
export interface Flight<T> {
  land(value: T | undefined): void;
}

export interface FlightsOptions {
  readonly clock: Clock;
  /** Longer than this nobody waits for another's call. */
  readonly waitMs: number;
  /** How many wait for one; the rest go on by themselves. */
  readonly mostWaiting: number;
}

/** How long it is remembered that answers of a name are not kept, so that nobody waits for one in vain. */
const vainMs = 10_000;
const mostVain = 1000;

interface Underway<T> extends Flight<T> {
  waiting: number;
  readonly landed: Promise<T | undefined>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Lets one of many calls that ask for the same go to the upstream, and the others wait for what it brings. What it
 * brings may be of no use to them: then they go on by themselves.
 */
export function flights<T>({ clock, waitMs, mostWaiting }: FlightsOptions) {
  const underway = new Map<string, Underway<T>>();
  const vain = new Map<string, number>();

  function begun(key: string): Flight<T> {
    const { promise, resolve } = Promise.withResolvers<T | undefined>();
    const flight: Underway<T> = {
      waiting: 0,
      landed: promise,
      timer: undefined,
      land(value) {
        clearTimeout(flight.timer);
        if (underway.get(key) === flight) underway.delete(key);
        resolve(value);
      },
    };
    underway.set(key, flight);
    return flight;
  }

  function joined(flight: Underway<T>): Promise<T | undefined> {
    flight.timer ??= setTimeout(() => flight.land(undefined), waitMs).unref();
    flight.waiting++;
    return flight.landed;
  }

  return {
    /** A flight for whoever goes first, a promise for those who wait, nothing for those who go alone. */
    board(key: string): Flight<T> | Promise<T | undefined> | undefined {
      const untilMs = vain.get(key);
      if (untilMs !== undefined) {
        if (untilMs > clock.now()) return undefined;
        vain.delete(key);
      }
      const flight = underway.get(key);
      if (!flight) return begun(key);
      return flight.waiting < mostWaiting ? joined(flight) : undefined;
    },
    /** Answers of this name are not kept, as it seems. */
    remember(key: string): void {
      vain.delete(key);
      vain.set(key, clock.now() + vainMs);
      for (const oldest of vain.keys()) {
        if (vain.size <= mostVain) break;
        vain.delete(oldest);
      }
    },
    forget: (key: string) => void vain.delete(key),
  };
}
