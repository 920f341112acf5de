import type { Clock } from '#base/clock.ts';
import type { Link } from './redis-connection.ts';
import { addArgs, addLogArgs, addLogScript, addScript } from './redis-scripts.ts';
import type { Window } from './shared.ts';
import type { ThreadsShared } from './threads.ts';

/** Where a name is kept in Redis. */
export interface Keys {
  window(name: string): string;
  log(name: string): string;
}

/** What this thread did while Redis was away, to be told to it on its return. */
export interface Debts {
  readonly windows: Names;
  readonly logs: Names;
  /** Forgets a name in Redis, now if it is there. */
  reset(name: string): Promise<void>;
  /** Tells everything. What fails to arrive is owed again. */
  catchUp(): Promise<void>;
}

export interface DebtsOptions {
  local: ThreadsShared;
  clock: Clock;
  keys: Keys;
  /** The link and the debts need each other; it is asked for when the first command is due. */
  link(): Link;
  /** Memory bound: names of each kind (windows, logs, resets) remembered during an outage; the rest stays local. */
  maxNames?: number;
}

const defaultMaxNames = 100_000;
/** Traffic goes on while Redis is being told, so there may be more to tell after each pass. */
const passes = 5;
/** How many names are told at once. */
const batch = 100;

/** The names touched and the window last asked for; how much is owed stands in the memory all threads share. */
export interface Names {
  add(name: string, window: Window): void;
  readonly size: number;
  /** Tells all names known now; those that fail stay. */
  each(tell: (name: string, window: Window) => Promise<void>): Promise<void>;
}

export function debts({ local, clock, keys, link, maxNames = defaultMaxNames }: DebtsOptions): Debts {
  const windows = names(maxNames);
  const logs = names(maxNames);
  const resets = new Set<string>();

  async function tellResets(): Promise<void> {
    for (const name of resets) {
      await link().command(['DEL', keys.window(name), keys.log(name)]);
      resets.delete(name);
    }
  }

  async function tellWindow(name: string, window: Window): Promise<void> {
    const debt = local.windows.settle(name);
    const nowMs = clock.now();
    if (!debt || (debt.endsAtMs ?? Number.POSITIVE_INFINITY) <= nowMs) return;
    const ageMs = Math.max(0, nowMs - debt.startedAtMs);
    try {
      await link().run(addScript, keys.window(name), addArgs(window, debt.owed, debt.used, ageMs));
    } catch (error) {
      local.windows.owe(name, debt.owed);
      throw error;
    }
  }

  async function tellLog(name: string, window: Window): Promise<void> {
    const hits = local.logs.settle(name);
    if (hits.length === 0) return;
    try {
      await link().run(addLogScript, keys.log(name), addLogArgs(window, hits, clock.now()));
    } catch (error) {
      const counts = hits.filter((_, index) => index % 2 === 1);
      local.logs.owe(
        name,
        counts.reduce((sum, count) => sum + count, 0),
      );
      throw error;
    }
  }

  return {
    windows,
    logs,
    async reset(name) {
      // A reset beyond the bound holds in this process alone: Redis then keeps the higher count, which refuses earlier.
      if (resets.size < maxNames) resets.add(name);
      // If Redis goes away now, the name stays among those to tell.
      if (link().ready()) await tellResets().catch(() => undefined);
    },
    async catchUp() {
      for (let pass = 0; pass < passes; pass++) {
        await tellResets();
        await windows.each(tellWindow);
        await logs.each(tellLog);
        if (windows.size + logs.size + resets.size === 0) return;
      }
    },
  };
}

function names(maxNames: number): Names {
  const known = new Map<string, Window>();
  const add = (name: string, window: Window) => {
    if (known.size < maxNames || known.has(name)) known.set(name, window);
  };
  return {
    add,
    get size() {
      return known.size;
    },
    async each(tell) {
      const all = [...known];
      for (let first = 0; first < all.length; first += batch) {
        const some = all.slice(first, first + batch);
        for (const [name] of some) known.delete(name);
        const told = await Promise.allSettled(some.map(([name, window]) => tell(name, window)));
        for (const [index, { status }] of told.entries()) if (status === 'rejected') add(...some[index]!);
        const failed = told.find(result => result.status === 'rejected');
        if (failed) throw failed.reason;
      }
    },
  };
}
