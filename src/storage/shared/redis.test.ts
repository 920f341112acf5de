import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createClient } from 'redis';
import { systemClock } from '#base/clock.ts';
import { type Redis, startRedis } from '../../../tests/support/services/redis.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { createRedisShared } from './redis.ts';
import type { Shared, Window } from './shared.ts';
import { createThreadsShared, type ThreadsShared } from './threads.ts';

const window: Window = { limit: 10, periodMs: 3_600_000 };
const closing: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

async function ownRedis(): Promise<Redis> {
  const server = await startRedis();
  closing.push(server.stop);
  return server;
}

async function machine(
  url: string,
  local: ThreadsShared = createThreadsShared({ fixedWindows: 1024, slidingWindows: 256 }),
): Promise<Shared> {
  const shared = await createRedisShared({ url, prefix: 'test:', local, clock: systemClock, commandTimeoutMs: 1000 });
  closing.push(async () => {
    await shared.close();
    await local.close();
  });
  return shared;
}

async function reaches(shared: Shared, state: 'ok' | 'degraded'): Promise<void> {
  while (shared.state() !== state) await new Promise(resolve => setImmediate(resolve));
}

async function take(shared: Shared, name: string, times: number, kind: 'take' | 'slide' = 'take'): Promise<number> {
  let allowed = 0;
  for (let time = 0; time < times; time++) {
    if ((await shared.counters[kind](name, window, systemClock.now())).allowed) allowed += 1;
  }
  return allowed;
}

const readUsed = async (shared: Shared, name: string, kind: 'take' | 'slide' = 'take') =>
  (await shared.counters[kind](name, window, systemClock.now(), 0)).used;

for (const kind of ['take', 'slide'] as const) {
  test(`during a Redis outage a machine continues from the mirrored counts (${kind})`, async () => {
    const server = await ownRedis();
    const one = await machine(server.url);
    assert.equal(await take(one, 'a', 6, kind), 6);
    await server.kill();
    assert.equal(await take(one, 'a', 6, kind), 4);
    assert.equal(one.state(), 'degraded');
    assert.ok(
      !(one.counters[kind]('a', window, systemClock.now()) instanceof Promise),
      'nobody waits for a dead Redis',
    );
  });

  test(`hits counted while Redis did not answer are replayed when it does (${kind})`, async () => {
    const server = await ownRedis();
    const [one, other] = [await machine(server.url), await machine(server.url)];
    assert.equal(await take(one, 'a', 2, kind), 2);
    server.pause();
    // The command that waited for an answer is counted on both sides, so this one is for another name.
    await take(one, 'trigger', 1, kind);
    assert.equal(one.state(), 'degraded');
    assert.equal(await take(one, 'a', 3, kind), 3);
    server.resume();
    await reaches(one, 'ok');
    await reaches(other, 'ok');
    assert.equal(await readUsed(other, 'a', kind), 5);
    assert.equal(await take(other, 'a', 10, kind), 5);
  });
}

test('a Redis that comes back empty gets the counts of the windows still open', async () => {
  const server = await ownRedis();
  const [one, other] = [await machine(server.url), await machine(server.url)];
  await take(one, 'a', 3);
  await take(other, 'a', 2);
  await take(one, 'a', 1);
  await server.kill();
  await reaches(one, 'degraded');
  await reaches(other, 'degraded');
  await take(one, 'a', 2);
  await server.restartOnSamePort();
  await reaches(one, 'ok');
  await reaches(other, 'ok');
  assert.equal(await readUsed(other, 'a'), 8);
  assert.equal(await take(other, 'a', 10), 2);
});

test('two threads of one machine replay their hits once', async () => {
  const server = await ownRedis();
  const local = createThreadsShared({ fixedWindows: 1024, slidingWindows: 256 });
  const threads = [
    await machine(server.url, local),
    await machine(server.url, createThreadsShared({ buffer: local.buffer })),
  ];
  await take(threads[0]!, 'a', 1);
  await server.kill();
  for (const thread of threads) {
    await reaches(thread, 'degraded');
    assert.equal(await take(thread, 'a', 2), 2);
  }
  await server.restartOnSamePort();
  for (const thread of threads) await reaches(thread, 'ok');
  assert.equal(await readUsed(threads[0]!, 'a'), 5);
});

test('a reset during a Redis outage is replayed when Redis is back', async () => {
  const server = await ownRedis();
  const one = await machine(server.url);
  assert.equal(await take(one, 'a', 10), 10);
  server.pause();
  await take(one, 'trigger', 1);
  await one.counters.reset('a');
  assert.equal(await take(one, 'a', 1), 1);
  server.resume();
  await reaches(one, 'ok');
  assert.equal(await readUsed(one, 'a'), 1);
});

test('a machine that starts without Redis counts locally, and shares counts once Redis is available', async () => {
  const server = await ownRedis();
  await server.kill();
  const one = await machine(server.url);
  assert.equal(one.state(), 'degraded');
  assert.equal(await take(one, 'a', 12), 10);
  const received: string[] = [];
  await one.subscribe('news', message => received.push(message));
  await server.restartOnSamePort();
  await reaches(one, 'ok');
  const other = await machine(server.url);
  assert.equal(await take(other, 'a', 1), 0);
  while (!received.includes('joined')) {
    await other.publish('news', 'joined');
    await new Promise(resolve => setImmediate(resolve));
  }
});

test('during a Redis outage messages reach the own process, and other machines afterwards', async () => {
  const server = await ownRedis();
  const [one, other] = [await machine(server.url), await machine(server.url)];
  const received: Record<string, string[]> = { one: [], other: [] };
  await one.subscribe('news', message => received.one!.push(message));
  await other.subscribe('news', message => received.other!.push(message));
  server.pause();
  await one.publish('news', 'first');
  await one.publish('news', 'second');
  while (received.one!.length < 2) await new Promise(resolve => setImmediate(resolve));
  assert.deepEqual(received.one, ['first', 'second']);
  server.resume();
  while (!received.other!.includes('second')) await new Promise(resolve => setImmediate(resolve));
  assert.equal(received.other![0], 'first');
});

test('while only the subscribing connection is down a process receives its own messages, each once', async () => {
  const server = await ownRedis();
  const one = await machine(server.url);
  const received: string[] = [];
  await one.subscribe('news', message => received.push(message));
  const admin = await createClient({ url: server.url }).connect();
  closing.push(async () => admin.destroy());
  // New connections are refused, so that the closed one is not replaced.
  await admin.configSet('maxclients', '1');
  await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub']);
  let published = 0;
  await eventually(async () => {
    await one.publish('news', `alone ${++published}`);
    assert.ok(received.length > 0);
  });
  assert.equal(one.state(), 'ok', 'commands still go to Redis');
  received.length = 0;
  for (const message of ['a', 'b']) await one.publish('news', message);
  await eventually(() => assert.deepEqual(received, ['a', 'b']));
  await admin.configSet('maxclients', '1000');
  const other = await machine(server.url);
  await eventually(async () => {
    await other.publish('news', 'back');
    assert.ok(received.includes('back'));
  });
  received.length = 0;
  await one.publish('news', 'last');
  await eventually(() => assert.ok(received.includes('last')));
  assert.equal(received.filter(message => message === 'last').length, 1);
});

test('scripts are resent after a script flush, and every key has the prefix and an expiry', async () => {
  const server = await ownRedis();
  const one = await machine(server.url);
  await take(one, 'a', 1);
  const client = await createClient({ url: server.url }).connect();
  closing.push(async () => client.destroy());
  await client.sendCommand(['SCRIPT', 'FLUSH']);
  assert.equal(await take(one, 'a', 1), 1);
  assert.equal(await take(one, 'a', 1, 'slide'), 1);
  assert.equal(one.state(), 'ok');
  const keys = await client.keys('*');
  assert.deepEqual(keys.sort(), ['test:c:a', 'test:s:a']);
  for (const key of keys) assert.ok((await client.pTTL(key)) > 0);
});

test('close closes every connection to Redis', async () => {
  const server = await ownRedis();
  const admin = await createClient({ url: server.url }).connect();
  closing.push(async () => admin.destroy());
  const countConnections = async () =>
    ((await admin.sendCommand(['CLIENT', 'LIST'])) as string).trim().split('\n').length;
  const local = createThreadsShared({ fixedWindows: 16, slidingWindows: 8 });
  const shared = await createRedisShared({ url: server.url, local, clock: systemClock, commandTimeoutMs: 1000 });
  await shared.subscribe('news', () => undefined);
  assert.equal(await countConnections(), 4, 'commands, blobs, subscriptions and this one');
  await shared.close();
  await eventually(async () => assert.equal(await countConnections(), 1));
  await local.close();
});

test('the start waits for Redis, and keys have the default prefix', async () => {
  const server = await ownRedis();
  const local = createThreadsShared({ fixedWindows: 16, slidingWindows: 8 });
  const shared = await createRedisShared({ url: server.url, local, clock: systemClock, commandTimeoutMs: 1000 });
  assert.equal(shared.state(), 'ok');
  await take(shared, 'a', 1);
  const client = await createClient({ url: server.url }).connect();
  assert.deepEqual(await client.keys('*'), ['gw:c:a']);
  client.destroy();
  await shared.close();
  await local.close();
});

test('during a Redis outage a fixed window ends when it would have ended in Redis', async () => {
  const server = await ownRedis();
  const one = await machine(server.url);
  await take(one, 'a', 1);
  const client = await createClient({ url: server.url }).connect();
  await client.hIncrBy('test:c:a', 's', -window.periodMs / 2);
  client.destroy();
  const { resetsAtMs } = await one.counters.take('a', window, systemClock.now());
  await server.kill();
  await reaches(one, 'degraded');
  const offline = await one.counters.take('a', window, systemClock.now());
  assert.equal(offline.used, 3);
  assert.equal(offline.resetsAtMs, resetsAtMs);
});

test('the mirror of a sliding window has refused hits only where the window counts them', async () => {
  const server = await ownRedis();
  const one = await machine(server.url);
  const small = { limit: 2, periodMs: window.periodMs };
  const strict = { ...small, countsRefused: true };
  for (let hit = 0; hit < 4; hit++) {
    await one.counters.slide('plain', small, systemClock.now());
    await one.counters.slide('strict', strict, systemClock.now());
    await one.counters.slide('plain', small, systemClock.now(), 0);
  }
  await server.kill();
  await reaches(one, 'degraded');
  assert.equal((await one.counters.slide('plain', small, systemClock.now(), 0)).used, 2);
  assert.equal((await one.counters.slide('strict', strict, systemClock.now(), 0)).used, 4);
});

test('messages beyond the bound drop the oldest during a Redis outage', async () => {
  const server = await ownRedis();
  const [one, other] = [await machine(server.url), await machine(server.url)];
  const received: string[] = [];
  await other.subscribe('news', message => received.push(message));
  server.pause();
  for (let n = 0; n <= 1000; n++) await one.publish('news', String(n));
  server.resume();
  await eventually(() => assert.equal(received.at(-1), '1000'));
  // The message that was on its way when Redis paused arrives too.
  assert.deepEqual(
    received.slice(-1000),
    Array.from({ length: 1000 }, (_, n) => String(n + 1)),
  );
  assert.ok(received.length <= 1001);
});

test('a channel is subscribed in Redis until its last listener has left, and can be subscribed again', async () => {
  const server = await ownRedis();
  const one = await machine(server.url);
  const admin = await createClient({ url: server.url }).connect();
  closing.push(async () => admin.destroy());
  const countSubscriptions = async () => (await admin.pubSubNumSub('test:news'))['test:news'];
  const received: string[] = [];
  const leaveFirst = await one.subscribe('news', message => received.push(`first ${message}`));
  const leaveSecond = await one.subscribe('news', message => received.push(`second ${message}`));
  assert.equal(await countSubscriptions(), 1);
  await leaveFirst();
  assert.equal(await countSubscriptions(), 1);
  await one.publish('news', 'a');
  await eventually(() => assert.deepEqual(received, ['second a']));
  await leaveSecond();
  assert.equal(await countSubscriptions(), 0);
  await leaveSecond();
  await one.subscribe('news', message => received.push(`third ${message}`));
  await leaveSecond();
  assert.equal(await countSubscriptions(), 1, 'leaving again changes nothing');
  await one.publish('news', 'b');
  await eventually(() => assert.deepEqual(received, ['second a', 'third b']));
});

test('a change of state is reported once, with its cause', async () => {
  const server = await ownRedis();
  const states: unknown[] = [];
  const local = createThreadsShared({ fixedWindows: 16, slidingWindows: 8 });
  const onState = (state: string, cause?: unknown) => states.push([state, cause instanceof Error]);
  const shared = await createRedisShared({ url: server.url, local, clock: systemClock, commandTimeoutMs: 50, onState });
  await server.kill();
  await reaches(shared, 'degraded');
  await server.restartOnSamePort();
  await reaches(shared, 'ok');
  await shared.close();
  await local.close();
  assert.deepEqual(states, [
    ['ok', false],
    ['degraded', true],
    ['ok', false],
  ]);
});

test('a blocked event loop does not trip the circuit breaker', async () => {
  const server = await ownRedis();
  const states: string[] = [];
  const local = createThreadsShared({ fixedWindows: 16, slidingWindows: 8 });
  const onState = (state: string) => states.push(state);
  const shared = await createRedisShared({
    url: server.url,
    local,
    clock: systemClock,
    commandTimeoutMs: 500,
    onState,
  });
  await reaches(shared, 'ok');
  await take(shared, 'a', 1);
  states.length = 0;
  const waiting = take(shared, 'a', 1);
  // By the next turn the question is on its way; Redis answers while this thread is busy for longer than it would wait.
  await new Promise(resolve => setImmediate(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  assert.equal(await waiting, 1);
  assert.deepEqual(states, []);
  assert.equal(await readUsed(shared, 'a'), 2);
  await shared.close();
  await local.close();
});
