import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';

/**
 * Key-value store with owners: what one owner writes no other reads. In Redis where one is set, shared by all machines;
 * else in the memory of this process, bounded. Ephemeral: nothing survives a restart without Redis.
 */
export interface KeyValues {
  get(owner: string, key: string): Promise<string | undefined>;
  /** False where the key exists and `isNewOnly` is set. 0 seconds is no expiry. */
  set(owner: string, key: string, value: string, options: SetOptions): Promise<boolean>;
  /** True where the key existed. */
  remove(owner: string, key: string): Promise<boolean>;
  /** Seconds until it expires, rounded up; -1 without expiry, -2 where it does not exist. */
  readTtl(owner: string, key: string): Promise<number>;
  /** Adds one to a 64-bit integer, which starts at 0; its expiry stays. */
  increment(owner: string, key: string): Promise<string>;
  close(): void;
}

export interface SetOptions {
  readonly ttlSeconds: number;
  readonly isNewOnly: boolean;
}

/** The store cannot do it; the message is for the author of the script. */
export class KeyValueError extends Error {}

export interface KeyValuesOptions {
  /** Redis URL; empty for the memory of this process. */
  readonly url: string;
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}
