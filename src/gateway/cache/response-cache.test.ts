import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRedisBlobs } from '#storage/shared/redis-blobs.ts';
import { testRedis } from '../../../tests/support/services/engines.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { decoded, type Entry, encoded, type Signpost, sizeOf } from './entry.ts';
import { memoryResponses } from './memory-cache.ts';
import { remoteResponses } from './redis-cache.ts';
import type { Responses } from './response-cache.ts';

const time = { ms: 1_800_000_000_000 };
const clock = { now: () => time.ms };
const entry = (text: string, lastsMs = 60_000): Entry => ({
  status: 200,
  headers: ['X-Own', 'ü'],
  body: Buffer.from(text),
  storedAtMs: time.ms,
  ageSeconds: 0,
  expiresAtMs: time.ms + lastsMs,
});

const stores: Record<string, () => Promise<{ responses: Responses; close(): void }>> = {
  async memory() {
    return { responses: memoryResponses({ bytes: 1_000_000, clock }), close: () => undefined };
  },
  async redis() {
    const {
      blobs,
      waitUntilReady: settled,
      close,
    } = createRedisBlobs({ url: await testRedis(), prefix: 't:', commandTimeoutMs: 5000 });
    await settled(10_000);
    return { responses: remoteResponses({ blobs, clock }), close };
  },
};

for (const [name, open] of Object.entries(stores))
  describe(`kept answers: ${name}`, () => {
    const promise = (title: string, run: (responseCache: Responses) => Promise<void>) =>
      test(title, async () => {
        const { responses: responseCache, close } = await open();
        try {
          await run(responseCache);
        } finally {
          close();
        }
      });
    const kept = async (responseCache: Responses, key: string, api = 'api') =>
      (await responseCache.find(api, key)).kept;
    const keep = async (responseCache: Responses, key: string, given: Entry | Signpost, api = 'api') => {
      responseCache.keep(api, key, given, (await responseCache.find(api, key)).era!);
      await eventually(async () => assert.deepEqual(await kept(responseCache, key, api), given));
    };

    promise('what was kept is found as it was, until its time is over', async responseCache => {
      const one = entry('one');
      const post: Signpost = { varies: ['accept'], mark: 'm', expiresAtMs: time.ms + 60_000 };
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
      await responseCache.forget('api');
      const after = await responseCache.find('api', 'late');
      assert.notEqual(after.turn, before.turn);
      responseCache.keep('api', 'late', entry('late'), before.era!);
      await keep(responseCache, 'new', entry('new'));
      assert.equal(await kept(responseCache, 'a'), undefined);
      assert.equal(await kept(responseCache, 'late'), undefined);
      assert.ok(await kept(responseCache, 'b', 'other'));
    });

    promise('what was dropped is gone, and an answer from before does not come after it', async responseCache => {
      await keep(responseCache, 'a', entry('old'));
      await keep(responseCache, 'b', entry('b'));
      const before = await responseCache.find('api', 'a');
      responseCache.drop('api', 'a');
      await eventually(async () => assert.equal(await kept(responseCache, 'a'), undefined));
      responseCache.keep('api', 'a', entry('old'), before.era!);
      assert.notEqual((await responseCache.find('api', 'a')).turn, before.turn);
      await keep(responseCache, 'c', entry('c'));
      assert.equal(await kept(responseCache, 'a'), undefined);
      assert.ok(await kept(responseCache, 'b'));
      await keep(responseCache, 'a', entry('new'));
    });
  });

test('memory stays within its bound, and what was not asked for the longest goes first', () => {
  const bytes = 5 * (sizeOf(entry('x'.repeat(1000))) + 1);
  const memory = memoryResponses({ bytes, clock });
  const keep = (key: string, size = 1000) => memory.keep('api', key, entry('x'.repeat(size)), '0.0');
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
  const memory = memoryResponses({ bytes: 1_000_000, clock });
  const { era } = memory.find('api', 'a') as { era: string };
  for (let n = 0; n <= 10_000; n++) memory.hear(`n${n}`);
  memory.keep('api', 'a', entry('a'), era);
  assert.equal((memory.find('api', 'a') as { kept: unknown }).kept, undefined);
});

test('other threads hear what one drops, and tell nobody again', () => {
  const heard: string[] = [];
  const memory = memoryResponses({ bytes: 1_000_000, clock, onDrop: key => heard.push(key) });
  memory.drop('api', 'a');
  memory.hear('b');
  assert.deepEqual(heard, ['a']);
});

test('what somebody else wrote, or wrote otherwise, is not read', () => {
  const bytes = encoded(entry('body'), 'era');
  assert.deepEqual(decoded(bytes, 'era'), entry('body'));
  assert.equal(decoded(bytes, 'other'), undefined);
  assert.equal(decoded(bytes.subarray(0, 30), 'era'), undefined);
  assert.equal(decoded(Buffer.from('x'), 'era'), undefined);
  assert.equal(decoded(Buffer.from('hello, this is no answer'), 'era'), undefined);
});
