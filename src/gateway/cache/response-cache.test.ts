import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRedisBlobs } from '#storage/shared/redis-blobs.ts';
import { testRedis } from '../../../tests/support/services/engines.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { type CacheEntry, decodeItem, encodeItem, estimateBytes, type VaryMarker } from './cache-entry.ts';
import { createMemoryCache } from './memory-cache.ts';
import { createRedisCache } from './redis-cache.ts';
import type { ResponseCache } from './response-cache.ts';

const time = { ms: 1_800_000_000_000 };
const clock = { now: () => time.ms };
const entry = (text: string, lastsMs = 60_000): CacheEntry => ({
  status: 200,
  headers: ['X-Own', 'ü'],
  body: Buffer.from(text),
  storedAtMs: time.ms,
  ageSeconds: 0,
  expiresAtMs: time.ms + lastsMs,
});

const stores: Record<string, () => Promise<{ responses: ResponseCache; close(): void }>> = {
  async memory() {
    return { responses: createMemoryCache({ maxBytes: 1_000_000, clock }), close: () => undefined };
  },
  async redis() {
    const {
      blobs,
      waitUntilReady: settled,
      close,
    } = createRedisBlobs({ url: await testRedis(), prefix: 't:', commandTimeoutMs: 5000 });
    await settled(10_000);
    return { responses: createRedisCache({ blobs, clock }), close };
  },
};

for (const [name, open] of Object.entries(stores))
  describe(`response cache: ${name}`, () => {
    const promise = (title: string, run: (responseCache: ResponseCache) => Promise<void>) =>
      test(title, async () => {
        const { responses: responseCache, close } = await open();
        try {
          await run(responseCache);
        } finally {
          close();
        }
      });
    const findItem = async (responseCache: ResponseCache, key: string, api = 'api') =>
      (await responseCache.find(api, key)).item;
    const keep = async (responseCache: ResponseCache, key: string, given: CacheEntry | VaryMarker, api = 'api') => {
      responseCache.put(api, key, given, (await responseCache.find(api, key)).writeToken!);
      await eventually(async () => assert.deepEqual(await findItem(responseCache, key, api), given));
    };

    promise('a stored item is found unchanged until it expires', async responseCache => {
      const one = entry('one');
      const marker: VaryMarker = { varyNames: ['accept'], variantId: 'm', expiresAtMs: time.ms + 60_000 };
      await keep(responseCache, 'a', one);
      await keep(responseCache, 'b', marker);
      assert.equal(await findItem(responseCache, 'c'), undefined);
      time.ms += 59_999;
      assert.deepEqual(await findItem(responseCache, 'a'), one);
      time.ms += 1;
      assert.equal(await findItem(responseCache, 'a'), undefined);
      assert.equal(await findItem(responseCache, 'b'), undefined);
    });

    promise('purging an API invalidates its items, in-flight ones too, and no others', async responseCache => {
      await keep(responseCache, 'a', entry('a'));
      await keep(responseCache, 'b', entry('b'), 'other');
      const before = await responseCache.find('api', 'late');
      await responseCache.purgeApi('api');
      const after = await responseCache.find('api', 'late');
      assert.notEqual(after.generation, before.generation);
      responseCache.put('api', 'late', entry('late'), before.writeToken!);
      await keep(responseCache, 'new', entry('new'));
      assert.equal(await findItem(responseCache, 'a'), undefined);
      assert.equal(await findItem(responseCache, 'late'), undefined);
      assert.ok(await findItem(responseCache, 'b', 'other'));
    });

    promise('an invalidated key is a miss, and a response from before is not stored after it', async responseCache => {
      await keep(responseCache, 'a', entry('old'));
      await keep(responseCache, 'b', entry('b'));
      const before = await responseCache.find('api', 'a');
      responseCache.delete('api', 'a');
      await eventually(async () => assert.equal(await findItem(responseCache, 'a'), undefined));
      responseCache.put('api', 'a', entry('old'), before.writeToken!);
      assert.notEqual((await responseCache.find('api', 'a')).generation, before.generation);
      await keep(responseCache, 'c', entry('c'));
      assert.equal(await findItem(responseCache, 'a'), undefined);
      assert.ok(await findItem(responseCache, 'b'));
      await keep(responseCache, 'a', entry('new'));
    });
  });

test('memory cache: stays within its bound, the least recently used item is evicted first', () => {
  const bytes = 5 * (estimateBytes(entry('x'.repeat(1000))) + 1);
  const memory = createMemoryCache({ maxBytes: bytes, clock });
  const keep = (key: string, size = 1000) => memory.put('api', key, entry('x'.repeat(size)), '0.0');
  const has = (key: string) => (memory.find('api', key) as { item: unknown }).item !== undefined;
  for (const key of 'abcde') keep(key);
  assert.equal(memory.usedBytes, bytes);
  assert.ok(has('a'));
  keep('f');
  assert.deepEqual([...'abcdef'].map(has), [true, false, true, true, true, true]);
  keep('f');
  assert.equal(memory.usedBytes, bytes, 'an item replaces the one under the same key');
  keep('g', bytes);
  assert.equal(has('g'), false, 'an item larger than the cache is not stored and evicts nothing');
  assert.equal(memory.usedBytes, bytes);
  keep('h', bytes - 1000);
  assert.ok(has('h') && memory.usedBytes <= bytes);
});

test('memory cache: after evicted invalidations an older response is not stored', () => {
  const memory = createMemoryCache({ maxBytes: 1_000_000, clock });
  const { writeToken } = memory.find('api', 'a') as { writeToken: string };
  for (let n = 0; n <= 10_000; n++) memory.receiveInvalidation(`n${n}`);
  memory.put('api', 'a', entry('a'), writeToken);
  assert.equal((memory.find('api', 'a') as { item: unknown }).item, undefined);
});

test('memory cache: an invalidation reaches other threads, which do not publish it again', () => {
  const heard: string[] = [];
  const memory = createMemoryCache({ maxBytes: 1_000_000, clock, onInvalidate: key => heard.push(key) });
  memory.delete('api', 'a');
  memory.receiveInvalidation('b');
  assert.deepEqual(heard, ['a']);
});

test('stored items of another generation or format are not decoded', () => {
  const bytes = encodeItem(entry('body'), 'generation');
  assert.deepEqual(decodeItem(bytes, 'generation'), entry('body'));
  assert.equal(decodeItem(bytes, 'other'), undefined);
  assert.equal(decodeItem(bytes.subarray(0, 30), 'generation'), undefined);
  assert.equal(decodeItem(Buffer.from('x'), 'generation'), undefined);
  assert.equal(decodeItem(Buffer.from('hello, this is no item'), 'generation'), undefined);
});
