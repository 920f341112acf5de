import type { Clock } from '#base/clock.ts';
import { redisBlobs } from './redis-blobs.ts';
import { type Link, redisLink } from './redis-connection.ts';
import { redisWire } from './redis-pubsub.ts';
import { type Debts, debts, type Keys } from './redis-replay.ts';
import { slideArgs, slideScript, takeArgs, takeScript } from './redis-scripts.ts';
import { type Counters, remaining, type Shared, type Taken, type Window } from './shared.ts';
import type { ThreadsShared } from './threads.ts';

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
  /** The same of blobs, which Redis may refuse while it counts. */
  onBlobsState?: (state: 'ok' | 'degraded', cause?: unknown) => void;
}

const defaultCommandTimeoutMs = 50;
const startWaitMs = 2000;

/**
 * Shared state of all machines on one Redis, ready when Redis answered or, `degraded`, when it did not within the wait
 * at the start. While Redis is away every process counts on its own, from the counts it last heard, and what it let
 * through is added to the windows still open when Redis returns. A command that came too late may have been counted in
 * Redis and locally: it errs towards refusing.
 */
export async function redisShared(options: RedisOptions): Promise<Shared> {
  const {
    url,
    prefix = 'gw:',
    local,
    clock,
    commandTimeoutMs = defaultCommandTimeoutMs,
    onState,
    onBlobsState,
  } = options;
  const keys: Keys = { window: name => `${prefix}c:${name}`, log: name => `${prefix}s:${name}` };
  const owed = debts({ local, clock, keys, link: () => link });
  const link: Link = redisLink({
    url,
    commandTimeoutMs,
    async catchUp() {
      await owed.catchUp();
      await wire.catchUp();
    },
    onState,
  });
  const wire = redisWire({ url, prefix, local, link });
  const blobs = redisBlobs({ url, prefix, commandTimeoutMs, onState: onBlobsState });
  await Promise.all([link.settled(startWaitMs), blobs.settled(startWaitMs)]);
  return {
    counters: redisCounters(link, local, keys, owed),
    blobs: blobs.blobs,
    publish: wire.publish,
    subscribe: wire.subscribe,
    state: () => (link.ready() ? 'ok' : 'degraded'),
    async close() {
      wire.close();
      blobs.close();
      link.close();
    },
  };
}

/** Each question has two ways: there, in Redis, and here, in this process, when Redis is away or does not answer. */
function redisCounters(link: Link, { windows, logs, counters }: ThreadsShared, keys: Keys, owed: Debts): Counters {
  async function takeThere(name: string, window: Window, nowMs: number, cost: number): Promise<Taken> {
    const reply = await answer(link.run(takeScript, keys.window(name), takeArgs(window, cost)));
    if (!reply) return takeHere(name, window, nowMs, cost);
    // Remembered for the time when Redis is away.
    if (cost !== 0) windows.mirror(name, window, reply.used, nowMs - reply.ageMs, nowMs);
    return taken(window, reply, nowMs);
  }

  function takeHere(name: string, window: Window, nowMs: number, cost: number): Taken {
    if (cost !== 0) owed.windows.add(name, window);
    return windows.take(name, window, nowMs, cost, true);
  }

  async function slideThere(name: string, window: Window, nowMs: number, cost: number): Promise<Taken> {
    const reply = await answer(link.run(slideScript, keys.log(name), slideArgs(window, cost)));
    if (!reply) return slideHere(name, window, nowMs, cost);
    if (cost > 0 && (reply.allowed || window.countsRefused === true)) logs.note(name, window, nowMs, cost);
    return taken(window, reply, nowMs);
  }

  function slideHere(name: string, window: Window, nowMs: number, cost: number): Taken {
    if (cost > 0) owed.logs.add(name, window);
    return logs.slide(name, window, nowMs, cost, true);
  }

  return {
    take: (name, window, nowMs, cost = 1) => (link.ready() ? takeThere : takeHere)(name, window, nowMs, cost),
    peek: (name, window, nowMs) => (link.ready() ? takeThere : takeHere)(name, window, nowMs, 0),
    slide: (name, window, nowMs, cost = 1) => (link.ready() ? slideThere : slideHere)(name, window, nowMs, cost),
    async reset(name) {
      counters.reset(name);
      await owed.reset(name);
    },
  };
}

interface Reply {
  readonly allowed: boolean;
  readonly used: number;
  /** How long ago the window opened, or the oldest hit came. */
  readonly ageMs: number;
}

/** What Redis said, or nothing if it did not; the link has told why. */
async function answer(asked: Promise<number[]>): Promise<Reply | undefined> {
  try {
    const [allowed, used, ageMs] = (await asked) as [number, number, number];
    return { allowed: allowed === 1, used, ageMs };
  } catch {
    return undefined;
  }
}

const taken = ({ limit, periodMs }: Window, { allowed, used, ageMs }: Reply, nowMs: number): Taken => ({
  allowed,
  used,
  remaining: remaining(limit, used),
  resetsAtMs: nowMs - ageMs + periodMs,
});
