import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createPublicId } from '#base/ids.ts';
import { createRedisBlobs } from '#storage/shared/redis-blobs.ts';
import { httpCases } from '../../../tests/support/http-cache/all-cases.ts';
import { runInProcess } from '../../../tests/support/http-cache/run-in-process.ts';
import { testRedis } from '../../../tests/support/services/engines.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { type CacheEntry, decodeItem, encodeItem, type VaryMarker } from './cache-entry.ts';
import { createRedisCache } from './redis-cache.ts';
import type { ResponseCache } from './response-cache.ts';
import { createSharedMemoryCache } from './shared-memory-cache.ts';
import { createSlabBuffer, openSlab } from './shared-slab.ts';
import { blockBytes, header, layOutSlab } from './shared-slab-layout.ts';
import { createSlabLock } from './shared-slab-lock.ts';

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

/** Shared memory of a number of blocks, and the caches of threads that use it. */
function openShared(blocks = 200, threads = 1) {
  const buffer = createSlabBuffer(layOutSlab(blocks).totalBytes)!;
  const caches = Array.from({ length: threads }, () =>
    createSharedMemoryCache({ buffer, maxLocalBytes: 10_000, clock }),
  );
  return { caches, slab: openSlab(buffer) };
}

const stores: Record<string, () => Promise<{ responses: ResponseCache; close(): void }>> = {
  async memory() {
    return { responses: openShared().caches[0]!, close: () => undefined };
  },
  /** What one thread stores or invalidates, the other one looks up. */
  async 'memory of two threads'() {
    const [one, two] = openShared(200, 2).caches;
    return { responses: { ...one!, find: two!.find }, close: () => undefined };
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

    promise(
      'a variant is stored with the token of its primary key, also after an invalidation',
      async responseCache => {
        for (const _time of [1, 2]) {
          responseCache.delete('api', 'primary');
          const { writeToken } = await responseCache.find('api', 'primary');
          responseCache.put('api', 'variant', entry('one'), writeToken!);
          await eventually(async () => assert.ok(await findItem(responseCache, 'variant')));
        }
      },
    );

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

describe('HTTP caching in Redis', () => {
  let redis: ReturnType<typeof createRedisBlobs>;
  before(async () => {
    redis = createRedisBlobs({ url: await testRedis(), prefix: `${createPublicId()}:`, commandTimeoutMs: 5000 });
    await redis.waitUntilReady(10_000);
  });
  after(() => redis?.close());

  for (const given of httpCases.filter(({ isOnWire }) => isOnWire))
    test(given.title, async () => {
      const { blobs } = redis;
      await createRedisCache({ blobs, clock }).purgeApi('api');
      await runInProcess(given, caseClock => createRedisCache({ blobs, clock: caseClock }));
    });
});

const findIn = (cache: ResponseCache, key: string) => cache.find('api', key) as { item: unknown; writeToken: string };
const hasItem = (cache: ResponseCache, key: string) => findIn(cache, key).item !== undefined;
const keepIn = (cache: ResponseCache, key: string, size = 1000, orgId = '') =>
  cache.put('api', key, entry('x'.repeat(size)), findIn(cache, key).writeToken, orgId);

test('memory cache: stays within its bound, the least recently used item is evicted first', () => {
  const blocks = 5 * Math.ceil(encodeItem(entry('x'.repeat(1000)), '').length / blockBytes);
  const { caches, slab } = openShared(blocks, 2);
  const [one, other] = caches as [ResponseCache, ResponseCache];
  for (const key of 'abcde') keepIn(one, key);
  assert.equal(slab.countUsedBlocks(), blocks);
  assert.ok(hasItem(one, 'a'));
  keepIn(one, 'f');
  assert.deepEqual(
    [...'abcdef'].map(key => hasItem(one, key)),
    [true, false, true, true, true, true],
  );
  keepIn(other, 'f');
  assert.equal(slab.countUsedBlocks(), blocks, 'an item replaces the one under the same key');
  keepIn(one, 'g', (blocks + 1) * blockBytes);
  assert.equal(hasItem(one, 'g'), false, 'an item larger than the cache is not stored and evicts nothing');
  assert.equal(slab.countUsedBlocks(), blocks);
  keepIn(one, 'h', (blocks - 1) * blockBytes);
  assert.ok(hasItem(one, 'h') && slab.countUsedBlocks() <= blocks);
  assert.equal(hasItem(other, 'f'), false, 'a decoded copy of an evicted item is not used');
});

test('memory cache: an organisation evicts its own items before those of one with fewer', () => {
  const blocks = 12 * Math.ceil(encodeItem(entry('x'.repeat(1000)), '').length / blockBytes);
  const [cache] = openShared(blocks).caches as [ResponseCache];
  for (let n = 0; n < 12; n++) keepIn(cache, `large${n}`, 1000, 'large');
  for (const key of ['a', 'b', 'c']) keepIn(cache, key, 1000, 'small');
  for (let n = 0; n < 100; n++) keepIn(cache, `more${n}`, 1000, 'large');
  assert.deepEqual(
    ['a', 'b', 'c'].map(key => hasItem(cache, key)),
    [true, true, true],
  );
  assert.ok(hasItem(cache, 'more99'));
  for (let n = 0; n < 20; n++) keepIn(cache, `small${n}`, 1000, 'small');
  const counts = { large: 0, small: 0 };
  for (let n = 0; n < 100; n++) if (hasItem(cache, `more${n}`)) counts.large++;
  for (const key of ['a', 'b', 'c', ...Array.from({ length: 20 }, (_none, n) => `small${n}`)])
    if (hasItem(cache, key)) counts.small++;
  assert.deepEqual(counts, { large: 6, small: 6 }, 'both have half of it');
});

test('memory cache: more organisations than have a place of their own still store and evict', () => {
  const [cache] = openShared(400).caches as [ResponseCache];
  for (let n = 0; n < 1000; n++) {
    keepIn(cache, `k${n}`, 600, `org${n}`);
    assert.ok(hasItem(cache, `k${n}`), `k${n}`);
  }
});

test('memory cache: an item replaced or invalidated by another thread is not served from a decoded copy', async () => {
  const [one, other] = openShared(200, 2).caches as [ResponseCache, ResponseCache];
  keepIn(one, 'a');
  assert.ok(hasItem(one, 'a') && hasItem(other, 'a'));
  other.put('api', 'a', entry('new'), findIn(other, 'a').writeToken);
  assert.deepEqual(findIn(one, 'a').item, entry('new'));
  other.delete('api', 'a');
  assert.equal(hasItem(one, 'a'), false);
  keepIn(one, 'a');
  await other.purgeApi('api');
  assert.equal(hasItem(one, 'a'), false);
});

test('memory cache: items of many blocks are stored and found unchanged in fragmented memory', () => {
  const [cache] = openShared(300).caches as [ResponseCache];
  for (let n = 0; n < 60; n++) keepIn(cache, `n${n}`, 700);
  for (let n = 0; n < 60; n += 2) cache.delete('api', `n${n}`);
  const text = Array.from({ length: 20_000 }, (_none, n) => String.fromCharCode(97 + (n % 26))).join('');
  cache.put('api', 'long', entry(text), findIn(cache, 'long').writeToken);
  assert.deepEqual(findIn(cache, 'long').item, entry(text));
});

test('memory cache: a lock that is never released disables the cache, and does not block', () => {
  const words = new Int32Array(new SharedArrayBuffer(64));
  const lock = createSlabLock(words, 3);
  assert.equal(
    lock.run(() => 'with the lock'),
    'with the lock',
  );
  words[header.lock] = 1;
  assert.equal(
    lock.run(() => 'with the lock'),
    undefined,
  );
  assert.ok(lock.isBroken());
  words[header.lock] = 0;
  assert.equal(
    lock.run(() => 'after a late release'),
    undefined,
  );
});

test('memory cache: a broken slab has no items, stores none and is reported once', () => {
  const buffer = createSlabBuffer(100_000)!;
  let reports = 0;
  const cache = createSharedMemoryCache({ buffer, maxLocalBytes: 10_000, clock, onBroken: () => reports++ });
  keepIn(cache, 'a');
  assert.ok(hasItem(cache, 'a'));
  new Int32Array(buffer)[header.isBroken] = 1;
  assert.equal(hasItem(cache, 'a'), false);
  keepIn(cache, 'b');
  assert.equal(hasItem(cache, 'b'), false);
  assert.equal(reports, 1);
});

test('memory cache: threads that write, read and invalidate at once never get another key’s item', async () => {
  const buffer = createSlabBuffer(200_000)!;
  const workers = Array.from(
    { length: 3 },
    (_none, seed) =>
      new Worker(new URL('../../../tests/support/slab-thread.ts', import.meta.url), { workerData: { buffer, seed } }),
  );
  const results = await Promise.all(
    workers.map(async worker => (await once(worker, 'message'))[0] as { hits: number; wrong: string[] }),
  );
  for (const { wrong } of results) assert.deepEqual(wrong, []);
  assert.ok(results.every(({ hits }) => hits > 0));
  assert.equal(openSlab(buffer).isBroken(), false);
});

test('memory cache: no shared memory is created where it has no room for an item', () => {
  assert.equal(createSlabBuffer(0), undefined);
  assert.equal(createSlabBuffer(layOutSlab(0).data), undefined);
  assert.throws(() => openSlab(new SharedArrayBuffer(10_000)), /not made for cached responses/);
});

test('stored items of another generation or format are not decoded', () => {
  const bytes = encodeItem(entry('body'), 'generation');
  assert.deepEqual(decodeItem(bytes, 'generation'), entry('body'));
  assert.equal(decodeItem(bytes, 'other'), undefined);
  assert.equal(decodeItem(bytes.subarray(0, 30), 'generation'), undefined);
  assert.equal(decodeItem(Buffer.from('x'), 'generation'), undefined);
  assert.equal(decodeItem(Buffer.from('hello, this is no item'), 'generation'), undefined);
});
