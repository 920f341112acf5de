import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createLog } from '#base/log.ts';
import { type Redis, startRedis } from '../../../tests/support/services/redis.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { openSharedEngine, type SharedEngineOptions } from './engine.ts';

const window = { limit: 2, periodMs: 3_600_000 };

describe('shared counter engine', () => {
  let redis: Redis;
  before(async () => {
    redis = await startRedis();
  });
  after(async () => {
    for (const close of closing.reverse()) await close();
    await redis.stop();
  });
  const closing: (() => Promise<void>)[] = [];

  async function openEngine(options: Partial<SharedEngineOptions>) {
    const lines: { level: string; msg: string; reason?: string }[] = [];
    const log = createLog({ level: 'info', format: 'json', write: line => void lines.push(JSON.parse(line)) });
    const engine = await openSharedEngine({
      url: '',
      prefix: 'engine:',
      clock: systemClock,
      log,
      timeoutMs: 1000,
      ...options,
    });
    closing.push(engine.close);
    const listReasons = () => lines.filter(({ msg }) => msg === unavailable).map(({ reason }) => reason);
    return { ...engine, listReasons, listLogged: () => lines.map(({ level, msg }) => [level, msg]) };
  }
  const unavailable = 'Redis unavailable, limits are counted in this process only';
  const back = ['info', 'Redis available, limits are shared'];

  test('without an address the threads of this process share, through the buffer of the first', async () => {
    const first = await openEngine({});
    const second = await openEngine({ buffer: first.threads.buffer });
    assert.equal(first.shared, first.threads);
    const taken = [first, second, first].map(({ shared }) => shared.counters.take('a', window, Date.now()));
    assert.deepEqual(
      (await Promise.all(taken)).map(it => it.allowed),
      [true, true, false],
    );
    assert.deepEqual(first.listLogged(), []);
  });

  test('with a Redis URL processes share counters, and the log reports outage and recovery', async () => {
    const [first, second] = [
      await openEngine({ url: redis.url }),
      await openEngine({ url: redis.url, timeoutMs: 500 }),
    ];
    const taken = [];
    for (const { shared } of [first, second, first]) taken.push(await shared.counters.take('b', window, Date.now()));
    assert.deepEqual(
      taken.map(it => it.allowed),
      [true, true, false],
    );
    assert.deepEqual(second.listLogged(), [back]);
    await redis.kill();
    await eventually(async () => {
      await second.shared.counters.take('c', window, Date.now());
      assert.deepEqual(second.listLogged().slice(1).sort(), [
        ['warn', 'Redis rejects cached responses, caching is paused'],
        ['warn', unavailable],
      ]);
    });
    assert.equal(second.shared.state(), 'degraded');
    await redis.restartOnSamePort();
    await eventually(() => assert.deepEqual(second.listLogged().at(-1), back));
    assert.equal(second.shared.state(), 'ok');
  });

  test('an unavailable Redis at start is logged, and limits are counted in this process', async () => {
    await redis.kill();
    const { shared, listReasons } = await openEngine({ url: redis.url, timeoutMs: 500 });
    assert.equal(shared.state(), 'degraded');
    assert.match(listReasons()[0]!, /ECONNREFUSED/);
    const taken = [];
    for (let n = 0; n < 3; n++) taken.push((await shared.counters.take('d', window, Date.now())).allowed);
    assert.deepEqual(taken, [true, true, false]);
    await redis.restartOnSamePort();
  });

  test('a rejected password is the reason in the log', async () => {
    const url = new URL(redis.url);
    url.username = 'unknown';
    url.password = 'wrong';
    const { listReasons } = await openEngine({ url: url.href, timeoutMs: 500 });
    assert.match(listReasons()[0]!, /WRONGPASS/);
  });

  test('a closed engine receives no more messages', async () => {
    for (const url of ['', redis.url]) {
      const first = await openEngine({ url });
      const second = await openEngine({ url, buffer: first.threads.buffer });
      const received: string[] = [];
      await second.threads.subscribe('news', message => received.push(message));
      await first.threads.publish('news', 'before');
      await eventually(() => assert.deepEqual(received, ['before']));
      await second.close();
      const third = await openEngine({ url, buffer: first.threads.buffer });
      const last = Promise.withResolvers<void>();
      await third.threads.subscribe('news', () => last.resolve());
      await first.threads.publish('news', 'after');
      await last.promise;
      assert.deepEqual(received, ['before']);
    }
  });

  test('an address that cannot be used is a problem with the reason', async () => {
    await assert.rejects(openEngine({ url: 'nonsense' }), {
      code: 'shared.unusable_url',
      status: 500,
      message: /^redis\.url cannot be used: /,
    });
  });
});
