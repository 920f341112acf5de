import type { Clock } from '#base/clock.ts';
import type { RedisConnection } from './redis-connection.ts';
import { replayFixedScript, replaySlidingScript, toReplayFixedArgs, toReplaySlidingArgs } from './redis-scripts.ts';
import type { Window } from './shared.ts';
import type { ThreadsShared } from './threads.ts';

/** Where a name is kept in Redis. */
export interface RedisKeys {
  fixedWindow(name: string): string;
  slidingWindow(name: string): string;
}

/** What this thread did while Redis was away, to be told to it on its return. */
export interface OfflineCounts {
  readonly fixedWindows: PendingNames;
  readonly slidingWindows: PendingNames;
  /** Forgets a name in Redis, now if it is there. */
  reset(name: string): Promise<void>;
  /** Tells everything. What fails to arrive is owed again. */
  replay(): Promise<void>;
}

export interface OfflineCountsOptions {
  local: ThreadsShared;
  clock: Clock;
  keys: RedisKeys;
  /** The link and the debts need each other; it is asked for when the first command is due. */
  connection(): RedisConnection;
  /** Memory bound: names of each kind (windows, logs, resets) remembered during an outage; the rest stays local. */
  maxNames?: number;
}

const defaultMaxNames = 100_000;
/** Traffic goes on while Redis is being told, so there may be more to tell after each pass. */
const maxReplayPasses = 5;
/** How many names are told at once. */
const maxNamesPerBatch = 100;

/** The names touched and the window last asked for; how much is owed stands in the memory all threads share. */
export interface PendingNames {
  add(name: string, window: Window): void;
  readonly size: number;
  /** Tells all names known now; those that fail stay. */
  replayEach(replayOne: (name: string, window: Window) => Promise<void>): Promise<void>;
}

export function createOfflineCounts({
  local,
  clock,
  keys,
  connection,
  maxNames = defaultMaxNames,
}: OfflineCountsOptions): OfflineCounts {
  const fixedWindows = createPendingNames(maxNames);
  const slidingWindows = createPendingNames(maxNames);
  const resets = new Set<string>();

  async function replayResets(): Promise<void> {
    for (const name of resets) {
      await connection().sendCommand(['DEL', keys.fixedWindow(name), keys.slidingWindow(name)]);
      resets.delete(name);
    }
  }

  async function replayFixedWindow(name: string, window: Window): Promise<void> {
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

  async function replaySlidingWindow(name: string, window: Window): Promise<void> {
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

  return {
    fixedWindows,
    slidingWindows,
    async reset(name) {
      // A reset beyond the bound holds in this process alone: Redis then keeps the higher count, which refuses earlier.
      if (resets.size < maxNames) resets.add(name);
      // If Redis goes away now, the name stays among those to tell.
      if (connection().isReady()) await replayResets().catch(() => undefined);
    },
    async replay() {
      for (let pass = 0; pass < maxReplayPasses; pass++) {
        await replayResets();
        await fixedWindows.replayEach(replayFixedWindow);
        await slidingWindows.replayEach(replaySlidingWindow);
        if (fixedWindows.size + slidingWindows.size + resets.size === 0) return;
      }
    },
  };
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
