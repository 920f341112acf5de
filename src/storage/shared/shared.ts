/**
 * What all traffic threads, and with Redis all machines, agree on while calls are running. It is fast and may be
 * rebuilt: nothing that must survive lives here alone.
 */

export interface Window {
  /** How many hits one window lets through; `Infinity` only counts. */
  readonly limit: number;
  /** How long a window lasts; `Infinity` never ends. The period asked for now holds, also for a window already open. */
  readonly periodMs: number;
  /**
   * When a fixed window opens: with the `first` hit after the last one ended (the default), in step with the `clock`
   * (multiples of the period), or anew with `every` counted hit, so that it ends one period after the last of them.
   */
  readonly opens?: 'first' | 'clock' | 'every';
  /** Counts refused hits too, so that hammering does not help. */
  readonly countsRefused?: boolean;
  /** Outlives the process, however short it is. Long windows do in any case. */
  readonly isPersistent?: boolean;
}

export interface CounterResult {
  readonly allowed: boolean;
  /** What is counted in the window, this hit included if it was counted. */
  readonly used: number;
  readonly remaining: number;
  /** When a fixed window ends, or when the oldest hit leaves a sliding one; in the clock of the caller. */
  readonly resetsAtMs: number;
}

/**
 * Counters by name. An engine answers at once where it can and with a promise where it cannot. A `cost` of 0 only
 * looks; a negative one gives back (fixed windows only).
 */
export interface Counters {
  /** Fixed window: lets through exactly `limit` in each. */
  take(name: string, window: Window, nowMs: number, cost?: number): CounterResult | Promise<CounterResult>;
  /** What `take` would find, without counting: `allowed` says whether a hit of cost 1 would pass. */
  peek(name: string, window: Window, nowMs: number): CounterResult | Promise<CounterResult>;
  /**
   * Sliding window: never more than `limit` in any period. Up to `exactHits` it is exact; above, a hit may be counted
   * for up to a sixtieth of the period longer than it should, never shorter.
   */
  slide(name: string, window: Window, nowMs: number, cost?: number): CounterResult | Promise<CounterResult>;
  /** Forgets the name, in fixed and sliding windows. */
  reset(name: string): void | Promise<void>;
}

/**
 * Bytes by name that every machine finds. Nobody may rely on finding what was written: it goes when its time is over, when
 * room is needed, and is out of reach while the engine is away.
 */
export interface Blobs {
  /** What is there under each name; undefined as a whole while the engine is away. */
  read(names: readonly string[]): Promise<readonly (Buffer | undefined)[] | undefined>;
  /** Never waits, and drops what cannot be written now. */
  write(name: string, bytes: Buffer, ttlMs: number): void;
  remove(name: string): void;
  /** Writes without an end; rejects when that cannot be done. */
  writePermanently(name: string, bytes: Buffer): Promise<void>;
}

export type MessageListener = (message: string) => void;

export interface Shared {
  readonly counters: Counters;
  /** Absent where only this process exists: its threads share no memory that could hold them. */
  readonly blobs: Blobs | undefined;
  /**
   * Tells every listener, those of the publishing thread included, in the order one publisher spoke. A message is a
   * hint: while Redis is away it may be lost on other machines, and on its return it may be repeated.
   */
  publish(channel: string, message: string): Promise<void>;
  subscribe(channel: string, listener: MessageListener): Promise<() => Promise<void>>;
  /** `degraded` while this process counts on its own because it cannot reach the others. */
  state(): 'ok' | 'degraded';
  close(): Promise<void>;
}

/** How many separate moments a sliding log remembers, in every engine. */
export const maxSlidingRuns = 64;

/** Limits up to this are exact in sliding windows. */
export const maxExactHits = maxSlidingRuns;

/**
 * Hits closer together than this share one moment, the latest of theirs, so that the log stays small: it counts them
 * for at most this much too long. Two runs fewer than there is room for, since the first and last stick out.
 */
export const slidingGranularityMs = (window: Window): number =>
  window.limit <= maxExactHits ? 0 : window.periodMs / (maxSlidingRuns - 2);

/** A window that begins further ahead than this was written before the clock was set back. */
export const maxClockSkewMs = 10_000;

export const remaining = (limit: number, used: number): number => (used < limit ? limit - used : 0);
