/**
 * Ephemeral state shared by all traffic threads, and with Redis by all machines. It is fast and can be rebuilt: durable
 * data is in `Records`.
 */

export interface Window {
  /** Hits allowed per window; `Infinity` only counts. */
  readonly limit: number;
  /** Length of a window; `Infinity` never ends. The current period also applies to a window already open. */
  readonly periodMs: number;
  /**
   * Start of a fixed window: the `first` hit after the last one ended (default), a multiple of the period (`clock`), or
   * `every` counted hit, so that it ends one period after the last hit.
   */
  readonly opens?: 'first' | 'clock' | 'every';
  /** Counts refused hits too, so that retrying in a loop does not help. */
  readonly countsRefused?: boolean;
  /** Persisted over a restart whatever its length; long windows always are. */
  readonly isPersistent?: boolean;
}

export interface CounterResult {
  readonly allowed: boolean;
  /** Hits in the window, this one included if it was counted. */
  readonly used: number;
  readonly remaining: number;
  /** End of a fixed window, or the time the oldest hit leaves a sliding one; by the caller's clock. */
  readonly resetsAtMs: number;
}

/**
 * Rate-limit counters by name. Results are synchronous where the engine can. A `cost` of 0 only reads; a negative one
 * gives back (fixed windows only).
 */
export interface Counters {
  /** Fixed window: allows exactly `limit` per window. */
  take(name: string, window: Window, nowMs: number, cost?: number): CounterResult | Promise<CounterResult>;
  /** Reads without counting: `allowed` is whether a hit of cost 1 would pass. */
  peek(name: string, window: Window, nowMs: number): CounterResult | Promise<CounterResult>;
  /**
   * Sliding window: never more than `limit` in any period. Exact up to `maxExactHits`; above, a hit may count for up to
   * a sixtieth of the period too long, never too short.
   */
  slide(name: string, window: Window, nowMs: number, cost?: number): CounterResult | Promise<CounterResult>;
  /** Deletes the name's fixed and sliding windows. */
  reset(name: string): void | Promise<void>;
}

/**
 * Blob cache shared by all machines. Best effort: entries expire, are evicted, and are unavailable while the engine is.
 */
export interface Blobs {
  /** Values by name; undefined as a whole while the engine is unavailable. */
  read(names: readonly string[]): Promise<readonly (Buffer | undefined)[] | undefined>;
  /** Fire and forget: drops what cannot be written now. */
  write(name: string, bytes: Buffer, ttlMs: number): void;
  remove(name: string): void;
  /** Writes without expiry; rejects on failure. */
  writePermanently(name: string, bytes: Buffer): Promise<void>;
}

export type MessageListener = (message: string) => void;

export interface Shared {
  readonly counters: Counters;
  /** Absent without Redis: the threads share no memory that could hold them. */
  readonly blobs: Blobs | undefined;
  /**
   * Delivers to every subscriber, the publishing thread's included, in order per publisher. Messages are hints: during
   * a Redis outage they may be lost on other machines, and repeated after it.
   */
  publish(channel: string, message: string): Promise<void>;
  subscribe(channel: string, listener: MessageListener): Promise<() => Promise<void>>;
  /** Round trip to the engine; absent where it is the memory of this process. */
  readonly ping: (() => Promise<void>) | undefined;
  /** `degraded` while this process counts locally because Redis is unavailable. */
  state(): 'ok' | 'degraded';
  close(): Promise<void>;
}

/** Runs (time and count) of a sliding window, in every engine. */
export const maxSlidingRuns = 64;

/** Limits up to this are exact in sliding windows. */
export const maxExactHits = maxSlidingRuns;

/**
 * Hits closer together than this join one run at the time of the latest, so that the window stays small: they count for
 * at most this much too long. Divided by two runs fewer than there are, since the first and last overlap the period's
 * ends.
 */
export const slidingGranularityMs = (window: Window): number =>
  window.limit <= maxExactHits ? 0 : window.periodMs / (maxSlidingRuns - 2);

/** A window that starts further in the future was written before the clock was set back. */
export const maxClockSkewMs = 10_000;

export const remaining = (limit: number, used: number): number => (used < limit ? limit - used : 0);
