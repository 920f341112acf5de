import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from 'redis';
import { systemClock } from '#base/clock.ts';
import { type Redis, startRedis } from '../../../tests/support/services/redis.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { createRedisConnection, type RedisConnection } from './redis-connection.ts';
import { createOfflineCounts, type OfflineCounts } from './redis-replay.ts';
import type { Window } from './shared.ts';
import { createThreadsShared, type ThreadsShared } from './threads.ts';

const window: Window = { limit: 10, periodMs: 3_600_000 };
const maxNames = 3;
const names = ['a', 'b', 'c', 'd', 'e'];

describe('offline counts during a Redis outage', () => {
  let server: Redis;
  let local: ThreadsShared;
  let connection: RedisConnection;
  let offlineCounts: OfflineCounts;
  const client = () => createClient({ url: server.url }).connect();
  const keys = { fixedWindow: (name: string) => `c:${name}`, slidingWindow: (name: string) => `s:${name}` };

  before(async () => {
    server = await startRedis();
    local = createThreadsShared({ fixedWindows: 64, slidingWindows: 64 });
    connection = createRedisConnection({
      url: server.url,
      commandTimeoutMs: 1000,
      replay: () => offlineCounts.replay(),
    });
    offlineCounts = createOfflineCounts({ local, clock: systemClock, keys, connection: () => connection, maxNames });
    await connection.waitUntilReady(10_000);
    const redis = await client();
    for (const name of names) await redis.hSet(keys.fixedWindow(name), { s: systemClock.now(), c: 9 });
    redis.destroy();
    server.pause();
    await assert.rejects(connection.sendCommand(['PING']));
    assert.equal(connection.isReady(), false);
  });
  after(async () => {
    connection.close();
    await local.close();
    await server.stop();
  });

  test('fixed windows, sliding windows and resets are each bounded; a known name is still updated at the bound', async () => {
    for (const kind of [offlineCounts.fixedWindows, offlineCounts.slidingWindows]) {
      for (const name of names) kind.add(name, window);
      assert.equal(kind.size, maxNames);
      const replayed: [string, number][] = [];
      kind.add('a', { ...window, limit: 20 });
      await kind.replayEach(async (name, { limit }) => void replayed.push([name, limit]));
      assert.deepEqual(replayed, [
        ['a', 20],
        ['b', 10],
        ['c', 10],
      ]);
      assert.equal(kind.size, 0);
    }
    for (const name of names) await offlineCounts.reset(name);
    server.resume();
    await eventually(() => assert.ok(connection.isReady()));
    const redis = await client();
    const left = await Promise.all(names.map(name => redis.exists(keys.fixedWindow(name))));
    redis.destroy();
    assert.deepEqual(left, [0, 0, 0, 1, 1], 'resets beyond the bound do not reach Redis');
  });

  test('a replay that fails keeps its hits, and the next one sends them once', async () => {
    let failures = 1;
    const sent: string[][] = [];
    const failing: RedisConnection = {
      ...connection,
      async runScript(script, key, args) {
        if (failures-- > 0) throw new Error('connection lost');
        sent.push([key, ...args]);
        return connection.runScript(script, key, args);
      },
    };
    const clock = { now: () => nowMs };
    const nowMs = systemClock.now();
    const own = createOfflineCounts({ local, clock, keys, connection: () => failing });
    local.slidingWindows.record('retry', window, nowMs - 10, 4);
    for (const cost of [2, 3]) {
      local.fixedWindows.take('retry', window, nowMs, cost, true);
      local.slidingWindows.slide('retry', window, nowMs - 5 + cost, cost, true);
    }
    own.fixedWindows.add('retry', window);
    await assert.rejects(own.replay(), /connection lost/);
    assert.equal(own.fixedWindows.size, 1);
    await own.replay();
    own.slidingWindows.add('retry', window);
    failures = 1;
    await assert.rejects(own.replay(), /connection lost/);
    await own.replay();
    await own.replay();
    const period = String(window.periodMs);
    assert.deepEqual(sent, [
      ['c:retry', period, 'first', '5', '5', '0'],
      ['s:retry', period, '2', '3', '3', '2'],
    ]);
  });

  test('a window that has ended is not replayed, one that ends a millisecond later is', async () => {
    const nowMs = systemClock.now();
    const replayedKeys: string[] = [];
    const watched: RedisConnection = {
      ...connection,
      runScript(script, key, args) {
        replayedKeys.push(key);
        return connection.runScript(script, key, args);
      },
    };
    const own = createOfflineCounts({ local, clock: { now: () => nowMs }, keys, connection: () => watched });
    for (const [name, startedAtMs] of [
      ['ended', nowMs - window.periodMs],
      ['open', nowMs - window.periodMs + 1],
    ] as const) {
      local.fixedWindows.take(name, window, startedAtMs, 1, true);
      own.fixedWindows.add(name, window);
    }
    own.fixedWindows.add('without hits', window);
    const endless = { limit: 10, periodMs: Number.POSITIVE_INFINITY };
    local.fixedWindows.take('endless', endless, nowMs, 1, true);
    own.fixedWindows.add('endless', endless);
    await own.replay();
    assert.deepEqual(replayedKeys, ['c:open', 'c:endless']);
  });
});
