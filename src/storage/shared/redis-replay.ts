import type { Clock } from '#base/clock.ts';
import type { RedisConnection } from './redis-connection.ts';
import { replayFixedScript, replaySlidingScript, toReplayFixedArgs, toReplaySlidingArgs } from './redis-scripts.ts';
import type { Window } from './shared.ts';
import type { ThreadsShared } from './threads.ts';

/** Redis keys of a name. */
export interface RedisKeys {
  fixedWindow(name: string): string;
  slidingWindow(name: string): string;
}

/** Counts and resets of this thread during a Redis outage, replayed when Redis is back. */
export interface OfflineCounts {
  readonly fixedWindows: PendingNames;
  readonly slidingWindows: PendingNames;
  /** Deletes a name in Redis: at once, or on replay. */
  reset(name: string): Promise<void>;
  /** Replays everything. Failed names stay pending. */
  replay(): Promise<void>;
}

export interface OfflineCountsOptions {
  local: ThreadsShared;
  clock: Clock;
  keys: RedisKeys;
  /** Lazy, since connection and offline counts need each other. */
  connection(): RedisConnection;
  /** Memory bound: names of each kind (fixed, sliding, resets) recorded during an outage; the rest stays local. */
  maxNames?: number;
}

const defaultMaxNames = 100_000;
/** Traffic continues during a replay, so each pass may leave new names. */
const maxReplayPasses = 5;
/** Names replayed concurrently. */
const maxNamesPerBatch = 100;

/** Names used during the outage, with their last window; the pending hits are in the memory that all threads share. */
export interface PendingNames {
  add(name: string, window: Window): void;
  readonly size: number;
  /** Replays all names recorded so far; failed ones stay. */
  replayEach(replayOne: (name: string, window: Window) => Promise<void>): Promise<void>;
}

export function createOfflineCounts(options: OfflineCountsOptions): OfflineCounts {
  const { keys, connection, maxNames = defaultMaxNames } = options;
  const fixedWindows = createPendingNames(maxNames);
  const slidingWindows = createPendingNames(maxNames);
  const resets = new Set<string>();

  async function replayResets(): Promise<void> {
    for (const name of resets) {
      await connection().sendCommand(['DEL', keys.fixedWindow(name), keys.slidingWindow(name)]);
      resets.delete(name);
    }
  }

  return {
    fixedWindows,
    slidingWindows,
    async reset(name) {
      // A reset beyond the bound is local: Redis then keeps the higher count, which refuses earlier.
      if (resets.size < maxNames) resets.add(name);
      // If Redis fails now, the name stays pending.
      if (connection().isReady()) await replayResets().catch(() => undefined);
    },
    async replay() {
      for (let pass = 0; pass < maxReplayPasses; pass++) {
        await replayResets();
        await fixedWindows.replayEach((name, window) => replayFixedWindow(options, name, window));
        await slidingWindows.replayEach((name, window) => replaySlidingWindow(options, name, window));
        if (fixedWindows.size + slidingWindows.size + resets.size === 0) return;
      }
    },
  };
}

async function replayFixedWindow(options: OfflineCountsOptions, name: string, window: Window): Promise<void> {
  const { local, clock, keys, connection } = options;
  const pending = local.fixedWindows.takePending(name);
  const nowMs = clock.now();
  if (!pending || (pending.endsAtMs ?? Number.POSITIVE_INFINITY) <= nowMs) return;
  const ageMs = Math.max(0, nowMs - pending.startedAtMs);
  try {
    await connection().runScript(
      replayFixedScript,
      keys.fixedWindow(name),
      toReplayFixedArgs(window, pending.pending, pending.used, ageMs),
    );
  } catch (error) {
    local.fixedWindows.addPending(name, pending.pending);
    throw error;
  }
}

async function replaySlidingWindow(options: OfflineCountsOptions, name: string, window: Window): Promise<void> {
  const { local, clock, keys, connection } = options;
  const hits = local.slidingWindows.takePending(name);
  if (hits.length === 0) return;
  try {
    await connection().runScript(
      replaySlidingScript,
      keys.slidingWindow(name),
      toReplaySlidingArgs(window, hits, clock.now()),
    );
  } catch (error) {
    const counts = hits.filter((_, index) => index % 2 === 1);
    local.slidingWindows.addPending(
      name,
      counts.reduce((sum, count) => sum + count, 0),
    );
    throw error;
  }
}

function createPendingNames(maxNames: number): PendingNames {
  const windowsByName = new Map<string, Window>();
  const add = (name: string, window: Window) => {
    if (windowsByName.size < maxNames || windowsByName.has(name)) windowsByName.set(name, window);
  };
  return {
    add,
    get size() {
      return windowsByName.size;
    },
    async replayEach(replayOne) {
      const all = [...windowsByName];
      for (let first = 0; first < all.length; first += maxNamesPerBatch) {
        const batch = all.slice(first, first + maxNamesPerBatch);
        for (const [name] of batch) windowsByName.delete(name);
        const results = await Promise.allSettled(batch.map(([name, window]) => replayOne(name, window)));
        for (const [index, { status }] of results.entries()) if (status === 'rejected') add(...batch[index]!);
        const failed = results.find(result => result.status === 'rejected');
        if (failed) throw failed.reason;
      }
    },
  };
}
