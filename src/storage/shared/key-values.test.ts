import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { testRedis } from '../../../tests/support/services/engines.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { KeyValueError, type KeyValues } from './key-values.ts';
import { createLocalKeyValues } from './local-key-values.ts';
import { openKeyValues } from './open-key-values.ts';
import { createRedisClient } from './redis-connection.ts';
import { createRedisKeyValues } from './redis-key-values.ts';

const log = createLog({ level: 'silent', format: 'json' });
const open = (url: string, prefix = 'gw:') =>
  openKeyValues({ url, prefix, timeoutMs: 30_000, clock: systemClock, log });
const forever = { ttlSeconds: 0, isNewOnly: false };

const engines: Record<string, () => Promise<KeyValues>> = {
  memory: async () => open(''),
  redis: async () => open(await testRedis(), `${createPublicId()}:`),
};

for (const [name, start] of Object.entries(engines))
  describe(`key-value store (${name})`, () => {
    let store: KeyValues;
    before(async () => {
      store = await start();
    });
    after(() => store.close());

    test('a value is read back, replaced, written only if new, and removed', async () => {
      assert.equal(await store.get('a', 'x'), undefined);
      assert.equal(await store.set('a', 'x', 'é\n', forever), true);
      assert.equal(await store.get('a', 'x'), 'é\n');
      assert.equal(await store.set('a', 'x', '2', { ...forever, isNewOnly: true }), false);
      assert.equal(await store.set('a', 'x', '3', forever), true);
      assert.equal(await store.get('a', 'x'), '3');
      assert.equal(await store.remove('a', 'x'), true);
      assert.equal(await store.remove('a', 'x'), false);
      assert.equal(await store.set('a', 'x', '4', { ...forever, isNewOnly: true }), true);
    });

    test('owners never meet, whatever their names and keys', async () => {
      await store.set('b', 'c:d', '1', forever);
      await store.set('b:c', 'd', '2', forever);
      assert.deepEqual([await store.get('b', 'c:d'), await store.get('b:c', 'd')], ['1', '2']);
      assert.equal(await store.get('b', 'd'), undefined);
    });

    test('an expiry is read in seconds, and kept by an increment', async () => {
      await store.set('t', 'x', '5', { ttlSeconds: 1000, isNewOnly: false });
      const ttl = await store.readTtl('t', 'x');
      assert.ok(ttl > 900 && ttl <= 1000, String(ttl));
      assert.equal(await store.increment('t', 'x'), '6');
      assert.ok((await store.readTtl('t', 'x')) > 0);
      await store.set('t', 'y', '', forever);
      assert.deepEqual([await store.readTtl('t', 'y'), await store.readTtl('t', 'z')], [-1, -2]);
    });

    test('increments are exact to 64 bits, and of anything else fail without a change', async () => {
      assert.deepEqual([await store.increment('i', 'n'), await store.increment('i', 'n')], ['1', '2']);
      await store.set('i', 'big', '9223372036854775806', forever);
      assert.equal(await store.increment('i', 'big'), '9223372036854775807');
      await store.set('i', 'text', 'x', forever);
      for (const key of ['big', 'text']) await assert.rejects(store.increment('i', key), KeyValueError);
      assert.equal(await store.get('i', 'text'), 'x');
      // The failure did not open the circuit.
      assert.equal(await store.increment('i', 'n'), '3');
    });
  });

describe('key-value store in Redis', () => {
  const limits = { maxKeysPerOwner: 3, maxBytesPerOwner: 2000 };

  test('a full owner drops expired values first, then refuses, and others keep theirs', async () => {
    const options = { url: await testRedis(), prefix: `${createPublicId()}:`, timeoutMs: 30_000, log };
    const store = createRedisKeyValues(options, limits);
    for (const key of ['1', '2', '3']) await store.set('a', key, 'v', forever);
    await assert.rejects(store.set('a', '4', 'v', forever), /storage of plugins is full/);
    await assert.rejects(store.increment('a', 'n'), /storage of plugins is full/);
    await assert.rejects(store.set('a', '1', 'v'.repeat(1000), forever), KeyValueError);
    assert.deepEqual([await store.get('a', '1'), await store.get('a', '4')], ['v', undefined]);
    await store.set('b', '4', 'v', forever);
    await store.remove('a', '1');
    await store.set('a', '4', 'v', forever);
    for (const key of ['2', '3', '4']) await store.remove('a', key);
    for (const key of ['1', '2', '3']) await store.set('a', key, 'v', { ttlSeconds: 1, isNewOnly: false });
    await eventually(async () => assert.equal(await store.get('a', '3'), undefined));
    await eventually(() => store.set('a', '5', 'v'.repeat(800), forever));
    assert.deepEqual([await store.get('b', '4'), await store.readTtl('a', '1')], ['v', -2]);
    store.close();
  });

  test('an owner whose values have all expired leaves nothing in Redis', async () => {
    const options = { url: await testRedis(), prefix: `${createPublicId()}:`, timeoutMs: 30_000, log };
    const store = createRedisKeyValues(options);
    const client = createRedisClient(options.url, () => undefined);
    await client.connect();
    await store.set('a', 'x', 'v', { ttlSeconds: 1, isNewOnly: false });
    await store.set('b', 'x', 'v', forever);
    await store.remove('b', 'x');
    await eventually(async () => assert.deepEqual(await client.keys(`${options.prefix}*`), []));
    client.destroy();
    store.close();
  });
});

describe('key-value store in memory', () => {
  test('a full store drops expired values first, then refuses, and others keep theirs', async () => {
    let nowMs = 0;
    const limits = { maxKeysPerOwner: 3, maxBytesPerOwner: 2000, maxBytes: 4000 };
    const store = createLocalKeyValues({ now: () => nowMs }, limits);
    for (const key of ['1', '2', '3']) await store.set('a', key, 'v', { ttlSeconds: 1, isNewOnly: false });
    await assert.rejects(store.set('a', '4', 'v', forever), KeyValueError);
    nowMs = 1000;
    assert.deepEqual([await store.get('a', '1'), await store.readTtl('a', '2')], [undefined, -2]);
    await store.set('a', '4', 'v', forever);
    await assert.rejects(store.set('a', '4', 'v'.repeat(1000), forever), KeyValueError);
    assert.equal(await store.get('a', '4'), 'v');
    for (const owner of ['b', 'c']) await store.set(owner, 'x', 'v'.repeat(900), { ttlSeconds: 1, isNewOnly: false });
    await assert.rejects(store.set('d', 'x', 'v', forever), KeyValueError);
    nowMs = 3000;
    await store.set('d', 'x', 'v', forever);
    assert.equal(await store.get('a', '4'), 'v');
  });

  test('a store whose Redis is unreachable fails with that reason', async () => {
    const store = open('redis://127.0.0.1:1');
    await assert.rejects(store.get('a', 'x'), /not available/);
    store.close();
  });
});
