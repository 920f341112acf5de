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
  /** Prefix of every key and channel, so that several installations can share one Redis. */
  prefix?: string;
  /** Counts while Redis is unavailable, from the last mirrored counts. The caller owns and closes it. */
  local: ThreadsShared;
  clock: Clock;
  commandTimeoutMs: number;
  /**
   * Called on every change of state, and at the start where Redis is unavailable. After a return to `ok` messages of
   * other machines may have been missed.
   */
  onState?: (state: 'ok' | 'degraded', cause?: unknown) => void;
  /** The same for blobs, which Redis may reject while it counts. */
  onBlobsState?: (state: 'ok' | 'degraded', cause?: unknown) => void;
}

const startTimeoutMs = 2000;

/**
 * Shared state of all machines on one Redis; resolves when Redis answers or, `degraded`, after the start timeout.
 * During an outage every process counts locally from the last mirrored counts, and its hits are replayed into the
 * windows still open when Redis is back. A command that timed out may be counted in Redis and locally: it errs towards
 * refusing.
 */
export async function createRedisShared(options: RedisSharedOptions): Promise<Shared> {
  const { url, prefix = 'gw:', local, clock, commandTimeoutMs, onState, onBlobsState } = options;
  const keys: RedisKeys = { fixedWindow: name => `${prefix}c:${name}`, slidingWindow: name => `${prefix}s:${name}` };
  const offlineCounts = createOfflineCounts({ local, clock, keys, connection: () => connection });
  const connection: RedisConnection = createRedisConnection({
    url,
    commandTimeoutMs,
    async replay() {
      await offlineCounts.replay();
      await pubSub.replay();
    },
    onState,
  });
  const pubSub = createRedisPubSub({ url, prefix, local, connection });
  const blobs = createRedisBlobs({ url, prefix, commandTimeoutMs, onState: onBlobsState });
  await Promise.all([connection.waitUntilReady(startTimeoutMs), blobs.waitUntilReady(startTimeoutMs)]);
  if (!connection.isReady()) onState?.('degraded', connection.lastCause());
  return {
    counters: createRedisCounters(connection, local, keys, offlineCounts),
    blobs: blobs.blobs,
    publish: pubSub.publish,
    subscribe: pubSub.subscribe,
    async ping() {
      await connection.sendCommand(['PING']);
    },
    state: () => (connection.isReady() ? 'ok' : 'degraded'),
    async close() {
      pubSub.close();
      blobs.close();
      connection.close();
    },
  };
}

/** Counts in Redis, or locally when Redis is unavailable or fails. */
function createRedisCounters(
  connection: RedisConnection,
  { fixedWindows, slidingWindows, counters }: ThreadsShared,
  keys: RedisKeys,
  offlineCounts: OfflineCounts,
): Counters {
  async function takeInRedis(name: string, window: Window, nowMs: number, cost: number): Promise<CounterResult> {
    const reply = await parseReply(connection.runScript(takeScript, keys.fixedWindow(name), toTakeArgs(window, cost)));
    if (!reply) return takeLocally(name, window, nowMs, cost);
    // Mirrored, as the start value for an outage.
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
  /** Age of the window, or of the oldest hit. */
  readonly ageMs: number;
}

/** Parsed script reply; undefined on failure, which the connection has reported. */
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
