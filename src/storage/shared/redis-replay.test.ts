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
});
