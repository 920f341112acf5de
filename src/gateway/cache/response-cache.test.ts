import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRedisBlobs } from '#storage/shared/redis-blobs.ts';
import { testRedis } from '../../../tests/support/services/engines.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { type CacheEntry, decodeItem, encodeItem, estimateBytes, type VaryMarker } from './entry.ts';
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
  describe(`kept answers: ${name}`, () => {
    const promise = (title: string, run: (responseCache: ResponseCache) => Promise<void>) =>
      test(title, async () => {
        const { responses: responseCache, close } = await open();
        try {
          await run(responseCache);
        } finally {
          close();
        }
      });
    const kept = async (responseCache: ResponseCache, key: string, api = 'api') =>
      (await responseCache.find(api, key)).kept;
    const keep = async (responseCache: ResponseCache, key: string, given: CacheEntry | VaryMarker, api = 'api') => {
      responseCache.put(api, key, given, (await responseCache.find(api, key)).era!);
      await eventually(async () => assert.deepEqual(await kept(responseCache, key, api), given));
    };

    promise('what was kept is found as it was, until its time is over', async responseCache => {
      const one = entry('one');
      const post: VaryMarker = { varies: ['accept'], mark: 'm', expiresAtMs: time.ms + 60_000 };
      await keep(responseCache, 'a', one);
      await keep(responseCache, 'b', post);
      assert.equal(await kept(responseCache, 'c'), undefined);
      time.ms += 59_999;
      assert.deepEqual(await kept(responseCache, 'a'), one);
      time.ms += 1;
      assert.equal(await kept(responseCache, 'a'), undefined);
      assert.equal(await kept(responseCache, 'b'), undefined);
    });

    promise('answers of an API are forgotten at once, those on their way too, and of no other', async responseCache => {
      await keep(responseCache, 'a', entry('a'));
      await keep(responseCache, 'b', entry('b'), 'other');
      const before = await responseCache.find('api', 'late');
      await responseCache.purgeApi('api');
      const after = await responseCache.find('api', 'late');
      assert.notEqual(after.turn, before.turn);
      responseCache.put('api', 'late', entry('late'), before.era!);
      await keep(responseCache, 'new', entry('new'));
      assert.equal(await kept(responseCache, 'a'), undefined);
      assert.equal(await kept(responseCache, 'late'), undefined);
      assert.ok(await kept(responseCache, 'b', 'other'));
    });

    promise('what was dropped is gone, and an answer from before does not come after it', async responseCache => {
      await keep(responseCache, 'a', entry('old'));
      await keep(responseCache, 'b', entry('b'));
      const before = await responseCache.find('api', 'a');
      responseCache.delete('api', 'a');
      await eventually(async () => assert.equal(await kept(responseCache, 'a'), undefined));
      responseCache.put('api', 'a', entry('old'), before.era!);
      assert.notEqual((await responseCache.find('api', 'a')).turn, before.turn);
      await keep(responseCache, 'c', entry('c'));
      assert.equal(await kept(responseCache, 'a'), undefined);
      assert.ok(await kept(responseCache, 'b'));
      await keep(responseCache, 'a', entry('new'));
    });
  });

test('memory stays within its bound, and what was not asked for the longest goes first', () => {
  const bytes = 5 * (estimateBytes(entry('x'.repeat(1000))) + 1);
  const memory = createMemoryCache({ maxBytes: bytes, clock });
  const keep = (key: string, size = 1000) => memory.put('api', key, entry('x'.repeat(size)), '0.0');
  const has = (key: string) => (memory.find('api', key) as { kept: unknown }).kept !== undefined;
  for (const key of 'abcde') keep(key);
  assert.equal(memory.usedBytes, bytes);
  assert.ok(has('a'));
  keep('f');
  assert.deepEqual([...'abcdef'].map(has), [true, false, true, true, true, true]);
  keep('f');
  assert.equal(memory.usedBytes, bytes, 'the same name takes its place once');
  keep('g', bytes);
  assert.equal(has('g'), false, 'what is larger than all of it is not kept, and costs nobody a place');
  assert.equal(memory.usedBytes, bytes);
  keep('h', bytes - 1000);
  assert.ok(has('h') && memory.usedBytes <= bytes);
});

test('the oldest drops are remembered as a whole: in doubt an answer is not kept', () => {
  const memory = createMemoryCache({ maxBytes: 1_000_000, clock });
  const { era } = memory.find('api', 'a') as { era: string };
  for (let n = 0; n <= 10_000; n++) memory.receiveInvalidation(`n${n}`);
  memory.put('api', 'a', entry('a'), era);
  assert.equal((memory.find('api', 'a') as { kept: unknown }).kept, undefined);
});

test('other threads hear what one drops, and tell nobody again', () => {
  const heard: string[] = [];
  const memory = createMemoryCache({ maxBytes: 1_000_000, clock, onInvalidate: key => heard.push(key) });
  memory.delete('api', 'a');
  memory.receiveInvalidation('b');
  assert.deepEqual(heard, ['a']);
});

test('what somebody else wrote, or wrote otherwise, is not read', () => {
  const bytes = encodeItem(entry('body'), 'era');
  assert.deepEqual(decodeItem(bytes, 'era'), entry('body'));
  assert.equal(decodeItem(bytes, 'other'), undefined);
  assert.equal(decodeItem(bytes.subarray(0, 30), 'era'), undefined);
  assert.equal(decodeItem(Buffer.from('x'), 'era'), undefined);
  assert.equal(decodeItem(Buffer.from('hello, this is no answer'), 'era'), undefined);
});
