import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from 'redis';
import { systemClock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import { testRedis } from '../../../tests/support/services/engines.ts';
import { createRedisShared } from './redis.ts';
import type { Shared } from './shared.ts';
import { createThreadsShared, type ThreadsShared } from './threads.ts';

/** One engine under test: two parties that share its state, and its time. */
interface Engine {
  one: Shared;
  other: Shared;
  now(): number;
  /** Lets time pass. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

const engines: Record<string, () => Promise<Engine>> = { threads, redis };

async function threads(): Promise<Engine> {
  let nowMs = 1_700_000_000_000;
  const one = createThreadsShared({ fixedWindows: 1024, slidingWindows: 256 });
  const other = createThreadsShared({ buffer: one.buffer });
  return {
    one,
    other,
    now: () => nowMs,
    async advance(ms) {
      nowMs += ms;
    },
    async close() {
      await one.close();
      await other.close();
    },
  };
}

/** The clock of Redis cannot be moved, so letting time pass makes all that it stores older by as much. */
async function redis(): Promise<Engine> {
  const url = await testRedis();
  const prefix = `${createPublicId()}:`;
  const locals = [
    createThreadsShared({ fixedWindows: 1024, slidingWindows: 256 }),
    createThreadsShared({ fixedWindows: 1024, slidingWindows: 256 }),
  ] as const;
  let aheadMs = 0;
  const clock = { now: () => systemClock.now() + aheadMs };
  const open = (local: ThreadsShared) => createRedisShared({ url, prefix, local, clock, commandTimeoutMs: 30_000 });
  const [one, other] = [await open(locals[0]), await open(locals[1])];
  const ager = await createClient({ url }).connect();
  return {
    one,
    other,
    now: clock.now,
    async advance(ms) {
      await ager.eval(makeOlder, { arguments: [`${prefix}*`, String(ms)] });
      aheadMs += ms;
    },
    async close() {
      ager.destroy();
      for (const shared of [one, other, ...locals]) await shared.close();
    },
  };
}

const makeOlder = `
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local restMs = redis.call('PTTL', key)
  if redis.call('TYPE', key).ok == 'hash' then
    redis.call('HINCRBY', key, 's', -ARGV[2])
  else
    local log = cmsgpack.unpack(redis.call('GET', key))
    for index, moment in ipairs(log[1]) do log[1][index] = moment - ARGV[2] end
    log[3] = log[3] - ARGV[2]
    redis.call('SET', key, cmsgpack.pack(log), 'KEEPTTL')
  end
  if restMs >= 0 then redis.call('PEXPIRE', key, restMs - ARGV[2]) end
end`;

const minuteMs = 60_000;
const hourMs = 3_600_000;

for (const [name, open] of Object.entries(engines)) {
  describe(`shared state: ${name}`, () => {
    let engine: Engine;
    before(async () => {
      engine = await open();
    });
    after(() => engine.close());

    const take = (counter: string, window: Parameters<Shared['counters']['take']>[1], cost?: number) =>
      engine.one.counters.take(counter, window, engine.now(), cost);

    test('a fixed window allows exactly its limit across parties', async () => {
      const window = { limit: 3, periodMs: hourMs };
      const asked = [];
      for (const shared of [engine.one, engine.other, engine.one, engine.other, engine.one]) {
        asked.push(await shared.counters.take('a', window, engine.now()));
      }
      assert.deepEqual(
        asked.map(({ allowed, used, remaining }) => [allowed, used, remaining]),
        [
          [true, 1, 2],
          [true, 2, 1],
          [true, 3, 0],
          [false, 3, 0],
          [false, 3, 0],
        ],
      );
      for (const { resetsAtMs } of asked) assert.ok(Math.abs(resetsAtMs - engine.now() - hourMs) < minuteMs);
    });

    test('concurrent hits get exactly the limit between them', async () => {
      const window = { limit: 100, periodMs: hourMs };
      for (const kind of ['take', 'slide'] as const) {
        const asked = Array.from({ length: 300 }, (_, index) =>
          [engine.one, engine.other][index % 2]!.counters[kind]('crowd', window, engine.now()),
        );
        assert.equal((await Promise.all(asked)).filter(({ allowed }) => allowed).length, 100);
      }
    });

    test('a new window opens with the first hit after the last one ended', async () => {
      const window = { limit: 1, periodMs: hourMs };
      const first = await take('roll', window);
      assert.ok(first.allowed);
      await engine.advance(hourMs - minuteMs);
      assert.ok(!(await take('roll', window)).allowed);
      await engine.advance(minuteMs);
      const second = await take('roll', window);
      assert.ok(second.allowed);
      assert.equal(second.used, 1);
      assert.ok(second.resetsAtMs >= first.resetsAtMs + hourMs - minuteMs);
    });

    test('a window in step with the clock ends at a multiple of its period', async () => {
      const window = { limit: 5, periodMs: hourMs, opens: 'clock' } as const;
      const { resetsAtMs } = await take('clock', window);
      const offBy = resetsAtMs % hourMs;
      assert.ok(Math.min(offBy, hourMs - offBy) < minuteMs);
      assert.ok(resetsAtMs <= engine.now() + hourMs);
      await engine.advance(hourMs);
      assert.equal((await take('clock', window)).used, 1);
    });

    test('a window renewed by every hit ends one period after the last', async () => {
      const window = { limit: 10, periodMs: 20 * minuteMs, opens: 'every' } as const;
      await take('every', window);
      await engine.advance(12 * minuteMs);
      await take('every', window);
      await engine.advance(12 * minuteMs);
      assert.equal((await engine.one.counters.peek('every', window, engine.now())).used, 2);
      await engine.advance(20 * minuteMs);
      assert.equal((await engine.one.counters.peek('every', window, engine.now())).used, 0);
    });

    test('refused hits count only where the window counts them', async () => {
      const window = { limit: 1, periodMs: hourMs };
      for (let hit = 0; hit < 3; hit++) await take('plain', window);
      assert.equal((await take('plain', window)).used, 1);
      for (let hit = 0; hit < 3; hit++) await take('strict', { ...window, countsRefused: true });
      const last = await take('strict', { ...window, countsRefused: true });
      assert.deepEqual([last.allowed, last.used, last.remaining], [false, 4, 0]);
    });

    test('a hit counts its cost, and a negative cost gives back down to zero', async () => {
      const window = { limit: 10, periodMs: hourMs };
      assert.ok((await take('cost', window, 7)).allowed);
      assert.ok(!(await take('cost', window, 4)).allowed);
      assert.ok((await take('cost', window, 3)).allowed);
      assert.equal((await take('cost', window, -5)).used, 5);
      assert.equal((await take('cost', window, -50)).used, 0);
    });

    test('a negative cost after the end of its window opens no new one', async () => {
      for (const cost of [-1, -50]) {
        const counter = `late return ${cost}`;
        const window = { limit: 2, periodMs: hourMs };
        await take(counter, window, 2);
        await engine.advance(hourMs + minuteMs);
        const given = await take(counter, window, cost);
        assert.deepEqual([given.used, given.remaining], [0, 2]);
        await engine.advance(hourMs / 2);
        const { used, resetsAtMs } = await take(counter, window);
        assert.equal(used, 1);
        assert.ok(Math.abs(resetsAtMs - engine.now() - hourMs) < minuteMs, 'a whole period from the hit');
      }
    });

    test('peek counts nothing', async () => {
      const window = { limit: 1, periodMs: hourMs };
      for (let look = 0; look < 3; look++) {
        const { allowed, used, remaining } = await engine.one.counters.peek('look', window, engine.now());
        assert.deepEqual([allowed, used, remaining], [true, 0, 1]);
      }
      await take('look', window);
      assert.equal((await engine.one.counters.peek('look', window, engine.now())).allowed, false);
      assert.equal((await engine.one.counters.slide('look', window, engine.now(), 0)).used, 0);
    });

    test('a counter without limit or end only counts', async () => {
      const window = { limit: Number.POSITIVE_INFINITY, periodMs: Number.POSITIVE_INFINITY };
      await take('ever', window, 5);
      const { allowed, used, remaining, resetsAtMs } = await take('ever', window);
      assert.deepEqual([allowed, used, remaining, resetsAtMs], [true, 6, Infinity, Infinity]);
    });

    test('a shorter period applies to the window already open', async () => {
      assert.ok((await take('shorter', { limit: 1, periodMs: hourMs })).allowed);
      await engine.advance(minuteMs);
      assert.ok(!(await take('shorter', { limit: 1, periodMs: hourMs })).allowed);
      assert.ok((await take('shorter', { limit: 1, periodMs: minuteMs })).allowed);
    });

    test('a reset clears the name in fixed and sliding windows', async () => {
      const window = { limit: 1, periodMs: hourMs };
      await take('reset', window);
      await engine.one.counters.slide('reset', window, engine.now());
      await engine.one.counters.reset('reset');
      assert.ok((await engine.other.counters.take('reset', window, engine.now())).allowed);
      assert.ok((await engine.other.counters.slide('reset', window, engine.now())).allowed);
    });

    test('a sliding window allows a hit when the oldest one leaves it, not before', async () => {
      const window = { limit: 2, periodMs: 30 * minuteMs };
      const slide = () => engine.one.counters.slide('slide', window, engine.now());
      assert.ok((await slide()).allowed);
      await engine.advance(15 * minuteMs);
      assert.ok((await slide()).allowed);
      assert.ok(!(await slide()).allowed);
      await engine.advance(15 * minuteMs);
      assert.ok((await slide()).allowed);
      assert.ok(!(await slide()).allowed);
    });

    test('retries keep a sliding window full where refused hits count', async () => {
      const window = { limit: 1, periodMs: 20 * minuteMs, countsRefused: true };
      const slide = () => engine.one.counters.slide('hammer', window, engine.now());
      assert.ok((await slide()).allowed);
      for (let time = 0; time < 4; time++) {
        await engine.advance(8 * minuteMs);
        assert.ok(!(await slide()).allowed);
      }
      await engine.advance(20 * minuteMs);
      assert.ok((await slide()).allowed);
    });

    test('every subscriber receives a publisher’s messages once and in order, until it unsubscribes', async () => {
      const received: Record<string, string[]> = { one: [], other: [] };
      const all = Promise.withResolvers<void>();
      const hear = (who: string) => (message: string) => {
        received[who]!.push(message);
        if (received.one!.length === 50 && received.other!.length === 50) all.resolve();
      };
      const stopOne = await engine.one.subscribe('news', hear('one'));
      await engine.other.subscribe('news', hear('other'));
      await engine.other.subscribe('elsewhere', () => assert.fail('a message of another channel was received'));
      const messages = Array.from({ length: 50 }, (_, index) => String(index));
      await Promise.all(messages.map(message => engine.one.publish('news', message)));
      await all.promise;
      assert.deepEqual(received, { one: messages, other: messages });

      await stopOne();
      const last = Promise.withResolvers<void>();
      await engine.other.subscribe('news', () => last.resolve());
      await engine.one.publish('news', 'last');
      await last.promise;
      assert.equal(received.one!.length, 50);
      assert.equal(received.other!.length, 51);
    });

    test('the state is ok', () => {
      assert.equal(engine.one.state(), 'ok');
    });
  });
}
