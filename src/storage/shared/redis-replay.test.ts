import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from 'redis';
import { systemClock } from '#base/clock.ts';
import { type Redis, startRedis } from '../../../tests/support/services/redis.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { type Link, redisLink } from './redis-connection.ts';
import { type Debts, debts } from './redis-replay.ts';
import type { Window } from './shared.ts';
import { type ThreadsShared, threadsShared } from './threads.ts';

const window: Window = { limit: 10, periodMs: 3_600_000 };
const maxNames = 3;
const names = ['a', 'b', 'c', 'd', 'e'];

describe('names owed to Redis during an outage', () => {
  let server: Redis;
  let local: ThreadsShared;
  let link: Link;
  let owed: Debts;
  const client = () => createClient({ url: server.url }).connect();
  const keys = { window: (name: string) => `c:${name}`, log: (name: string) => `s:${name}` };

  before(async () => {
    server = await startRedis();
    local = threadsShared({ windows: 64, logs: 64 });
    link = redisLink({ url: server.url, commandTimeoutMs: 1000, catchUp: () => owed.catchUp() });
    owed = debts({ local, clock: systemClock, keys, link: () => link, maxNames });
    await link.settled(10_000);
    const redis = await client();
    for (const name of names) await redis.hSet(keys.window(name), { s: systemClock.now(), c: 9 });
    redis.destroy();
    server.pause();
    await assert.rejects(link.command(['PING']));
    assert.equal(link.ready(), false);
  });
  after(async () => {
    link.close();
    await local.close();
    await server.stop();
  });

  test('windows, logs and resets are each bounded; a known name is still updated at the bound', async () => {
    for (const kind of [owed.windows, owed.logs]) {
      for (const name of names) kind.add(name, window);
      assert.equal(kind.size, maxNames);
      const told: [string, number][] = [];
      kind.add('a', { ...window, limit: 20 });
      await kind.each(async (name, { limit }) => void told.push([name, limit]));
      assert.deepEqual(told, [
        ['a', 20],
        ['b', 10],
        ['c', 10],
      ]);
      assert.equal(kind.size, 0);
    }
    for (const name of names) await owed.reset(name);
    server.resume();
    await eventually(() => assert.ok(link.ready()));
    const redis = await client();
    const left = await Promise.all(names.map(name => redis.exists(keys.window(name))));
    redis.destroy();
    assert.deepEqual(left, [0, 0, 0, 1, 1], 'resets beyond the bound do not reach Redis');
  });
});
