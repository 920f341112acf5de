import type { Clock } from '#base/clock.ts';
import { type Counters, remaining, type Shared, type Taken, type Window } from './shared.ts';
import { redisLink } from './shared-redis-link.ts';
import {
  addArgs,
  addLogArgs,
  addLogScript,
  addScript,
  slideArgs,
  slideScript,
  takeArgs,
  takeScript,
} from './shared-redis-scripts.ts';
import { redisWire } from './shared-redis-wire.ts';
import type { ThreadsShared } from './shared-threads.ts';

export interface RedisOptions {
  url: string;
  /** Before every key and channel, so that several installations can share one Redis. */
  prefix?: string;
  /** Counts while Redis is away, from where Redis was when last heard of. It belongs to the caller, also to close. */
  local: ThreadsShared;
  clock: Clock;
  commandTimeoutMs?: number;
  /** Called when the state changes. After a return to `ok` messages of others may have been missed. */
  onState?: (state: 'ok' | 'degraded', cause?: unknown) => void;
}

const defaultCommandTimeoutMs = 50;
const startWaitMs = 2000;
/** So many names used while Redis is away are told to it on its return; what is beyond stays local. */
const maxTouched = 100_000;
/** Traffic goes on while Redis is being told, so there is more to tell after each pass; this many passes suffice. */
const catchUpPasses = 5;

/**
 * Shared state of all machines on one Redis, ready when Redis answered or, `degraded`, when it did not within the wait at
 * the start. While Redis is away every process counts on its own, from the counts it last heard, and what it let through is
 * added to the windows still open when Redis returns. A command that came too late may have been counted in Redis and
 * locally: it errs towards refusing.
 */
export async function redisShared(options: RedisOptions): Promise<Shared> {
  const { url, prefix = 'gw:', local, clock, commandTimeoutMs = defaultCommandTimeoutMs, onState } = options;
  const { windows, logs } = local;
  const touched = { windows: new Map<string, Window>(), logs: new Map<string, Window>(), resets: new Set<string>() };
  const windowKey = (name: string) => `${prefix}c:${name}`;
  const logKey = (name: string) => `${prefix}s:${name}`;
  const link = redisLink({ url, commandTimeoutMs, catchUp, onState });
  const wire = redisWire({ url, prefix, local, link });

  async function takeThere(name: string, window: Window, nowMs: number, cost: number): Promise<Taken> {
    let reply: number[];
    try {
      reply = await link.run(takeScript, windowKey(name), takeArgs(window, cost));
    } catch {
      // The link has said why; the answer comes from here.
      return takeHere(name, window, nowMs, cost);
    }
    const [allowed, used, ageMs] = reply as [number, number, number];
    const startedAtMs = nowMs - ageMs;
    if (cost !== 0) mirror(name, window, used, startedAtMs, nowMs);
    return taken(window, allowed, used, startedAtMs);
  }

  /** Remembers what Redis counted, for the time it is away. */
  function mirror(name: string, window: Window, used: number, startedAtMs: number, nowMs: number): void {
    windows.mirror(name, window, used, startedAtMs, nowMs);
    if (windows.opened()) local.announce(name, window);
  }

  function takeHere(name: string, window: Window, nowMs: number, cost: number): Taken {
    if (cost !== 0) touch(touched.windows, name, window);
    const given = windows.take(name, window, nowMs, cost, true);
    if (windows.opened()) local.announce(name, window);
    return given;
  }

  async function slideThere(name: string, window: Window, nowMs: number, cost: number): Promise<Taken> {
    let reply: number[];
    try {
      reply = await link.run(slideScript, logKey(name), slideArgs(window, cost));
    } catch {
      return slideHere(name, window, nowMs, cost);
    }
    const [allowed, used, ageMs] = reply as [number, number, number];
    if (cost > 0 && (allowed === 1 || window.countsRefused === true)) logs.note(name, window, nowMs, cost);
    return taken(window, allowed, used, nowMs - ageMs);
  }

  function slideHere(name: string, window: Window, nowMs: number, cost: number): Taken {
    if (cost > 0) touch(touched.logs, name, window);
    return logs.slide(name, window, nowMs, cost, true);
  }

  async function reset(name: string): Promise<void> {
    local.counters.reset(name);
    touched.resets.add(name);
    if (link.ready()) await catchUpResets().catch(() => undefined);
  }

  /** Tells Redis what happened while it was away. What fails to arrive is owed again. */
  async function catchUp(): Promise<void> {
    for (let pass = 0; pass < catchUpPasses; pass++) {
      await catchUpResets();
      await each(touched.windows, catchUpWindow);
      await each(touched.logs, catchUpLog);
      if (touched.windows.size + touched.logs.size + touched.resets.size === 0) break;
    }
    await wire.catchUp();
  }

  async function catchUpResets(): Promise<void> {
    for (const name of touched.resets) {
      await link.command(['DEL', windowKey(name), logKey(name)]);
      touched.resets.delete(name);
    }
  }

  async function catchUpWindow(name: string, window: Window): Promise<void> {
    const debt = windows.settle(name);
    const nowMs = clock.now();
    if (!debt || (debt.endsAtMs ?? Number.POSITIVE_INFINITY) <= nowMs) return;
    try {
      await link.run(
        addScript,
        windowKey(name),
        addArgs(window, debt.owed, debt.used, Math.max(0, nowMs - debt.startedAtMs)),
      );
    } catch (error) {
      windows.owe(name, debt.owed);
      throw error;
    }
  }

  async function catchUpLog(name: string, window: Window): Promise<void> {
    const hits = logs.settle(name);
    if (hits.length === 0) return;
    try {
      await link.run(addLogScript, logKey(name), addLogArgs(window, hits, clock.now()));
    } catch (error) {
      logs.owe(
        name,
        hits.reduce((sum, value, index) => (index % 2 === 1 ? sum + value : sum), 0),
      );
      throw error;
    }
  }

  await link.settled(startWaitMs);
  const counters: Counters = {
    take: (name, window, nowMs, cost = 1) => (link.ready() ? takeThere : takeHere)(name, window, nowMs, cost),
    peek: (name, window, nowMs) => (link.ready() ? takeThere : takeHere)(name, window, nowMs, 0),
    slide: (name, window, nowMs, cost = 1) => (link.ready() ? slideThere : slideHere)(name, window, nowMs, cost),
    reset,
  };
  return {
    counters,
    publish: wire.publish,
    subscribe: wire.subscribe,
    state: () => (link.ready() ? 'ok' : 'degraded'),
    async close() {
      wire.close();
      link.close();
    },
  };
}

const taken = ({ limit, periodMs }: Window, allowed: number, used: number, sinceMs: number): Taken => ({
  allowed: allowed === 1,
  used,
  remaining: remaining(limit, used),
  resetsAtMs: sinceMs + periodMs,
});

function touch(names: Map<string, Window>, name: string, window: Window): void {
  if (names.size < maxTouched) names.set(name, window);
}

/** How many names are told at once. */
const batch = 100;

async function each(names: Map<string, Window>, tell: (name: string, window: Window) => Promise<void>): Promise<void> {
  const all = [...names];
  for (let first = 0; first < all.length; first += batch) {
    const told = await Promise.allSettled(
      all.slice(first, first + batch).map(async ([name, window]) => {
        names.delete(name);
        try {
          await tell(name, window);
        } catch (error) {
          touch(names, name, window);
          throw error;
        }
      }),
    );
    const failed = told.find(result => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
