import type { Clock } from '#base/clock.ts';
import { createRedisBlobs } from './redis-blobs.ts';
import { createRedisConnection, type RedisConnection } from './redis-connection.ts';
import { createRedisPubSub } from './redis-pubsub.ts';
import { createOfflineCounts, type OfflineCounts, type RedisKeys } from './redis-replay.ts';
import { slideScript, takeScript, toSlideArgs, toTakeArgs } from './redis-scripts.ts';
import { type CounterResult, type Counters, remaining, type Shared, type Window } from './shared.ts';
import type { ThreadsShared } from './threads.ts';

export interface RedisSharedOptions {
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
const startTimeoutMs = 2000;

/**
 * Shared state of all machines on one Redis, ready when Redis answered or, `degraded`, when it did not within the wait
 * at the start. While Redis is away every process counts on its own, from the counts it last heard, and what it let
 * through is added to the windows still open when Redis returns. A command that came too late may have been counted in
 * Redis and locally: it errs towards refusing.
 */
export async function createRedisShared(options: RedisSharedOptions): Promise<Shared> {
  const {
    url,
    prefix = 'gw:',
    local,
    clock,
    commandTimeoutMs = defaultCommandTimeoutMs,
    onState,
    onBlobsState,
  } = options;
  const keys: RedisKeys = { fixedWindow: name => `${prefix}c:${name}`, slidingWindow: name => `${prefix}s:${name}` };
  const offlineCounts = createOfflineCounts({ local, clock, keys, connection: () => connection });
  const connection: RedisConnection = createRedisConnection({
    url,
    commandTimeoutMs,
    async replay() {
      await offlineCounts.replay();
      await pubSub.catchUp();
    },
    onState,
  });
  const pubSub = createRedisPubSub({ url, prefix, local, connection });
  const blobs = createRedisBlobs({ url, prefix, commandTimeoutMs, onState: onBlobsState });
  await Promise.all([connection.waitUntilReady(startTimeoutMs), blobs.waitUntilReady(startTimeoutMs)]);
  return {
    counters: createRedisCounters(connection, local, keys, offlineCounts),
    blobs: blobs.blobs,
    publish: pubSub.publish,
    subscribe: pubSub.subscribe,
    state: () => (connection.isReady() ? 'ok' : 'degraded'),
    async close() {
      pubSub.close();
      blobs.close();
      connection.close();
    },
  };
}

/** Each question has two ways: there, in Redis, and here, in this process, when Redis is away or does not answer. */
function createRedisCounters(
  connection: RedisConnection,
  { fixedWindows, slidingWindows, counters }: ThreadsShared,
  keys: RedisKeys,
  offlineCounts: OfflineCounts,
): Counters {
  async function takeInRedis(name: string, window: Window, nowMs: number, cost: number): Promise<CounterResult> {
    const reply = await parseReply(connection.runScript(takeScript, keys.fixedWindow(name), toTakeArgs(window, cost)));
    if (!reply) return takeLocally(name, window, nowMs, cost);
    // Remembered for the time when Redis is away.
    if (cost !== 0) fixedWindows.mirror(name, window, reply.used, nowMs - reply.ageMs, nowMs);
    return toCounterResult(window, reply, nowMs);
  }

  function takeLocally(name: string, window: Window, nowMs: number, cost: number): CounterResult {
    if (cost !== 0) offlineCounts.fixedWindows.add(name, window);
    return fixedWindows.take(name, window, nowMs, cost, true);
  }

  async function slideInRedis(name: string, window: Window, nowMs: number, cost: number): Promise<CounterResult> {
    const reply = await parseReply(
      connection.runScript(slideScript, keys.slidingWindow(name), toSlideArgs(window, cost)),
    );
    if (!reply) return slideLocally(name, window, nowMs, cost);
    if (cost > 0 && (reply.allowed || window.countsRefused === true)) slidingWindows.record(name, window, nowMs, cost);
    return toCounterResult(window, reply, nowMs);
  }

  function slideLocally(name: string, window: Window, nowMs: number, cost: number): CounterResult {
    if (cost > 0) offlineCounts.slidingWindows.add(name, window);
    return slidingWindows.slide(name, window, nowMs, cost, true);
  }

  return {
    take: (name, window, nowMs, cost = 1) =>
      (connection.isReady() ? takeInRedis : takeLocally)(name, window, nowMs, cost),
    peek: (name, window, nowMs) => (connection.isReady() ? takeInRedis : takeLocally)(name, window, nowMs, 0),
    slide: (name, window, nowMs, cost = 1) =>
      (connection.isReady() ? slideInRedis : slideLocally)(name, window, nowMs, cost),
    async reset(name) {
      counters.reset(name);
      await offlineCounts.reset(name);
    },
  };
}

interface ScriptReply {
  readonly allowed: boolean;
  readonly used: number;
  /** How long ago the window opened, or the oldest hit came. */
  readonly ageMs: number;
}

/** What Redis said, or nothing if it did not; the link has told why. */
async function parseReply(reply: Promise<number[]>): Promise<ScriptReply | undefined> {
  try {
    const [allowed, used, ageMs] = (await reply) as [number, number, number];
    return { allowed: allowed === 1, used, ageMs };
  } catch {
    return undefined;
  }
}

const toCounterResult = (
  { limit, periodMs }: Window,
  { allowed, used, ageMs }: ScriptReply,
  nowMs: number,
): CounterResult => ({
  allowed,
  used,
  remaining: remaining(limit, used),
  resetsAtMs: nowMs - ageMs + periodMs,
});
