import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Order } from '../../../tests/support/counter-thread.ts';
import type { Window } from './shared.ts';
import { createThreadsShared, type ThreadsShared } from './threads.ts';

const nowMs = 1_700_000_000_000;
const workers: Worker[] = [];
after(() => Promise.all(workers.map(worker => worker.terminate())));

async function threadsOf(shared: ThreadsShared, count: number) {
  const made = Array.from({ length: count }, () => {
    const file = new URL('../../../tests/support/counter-thread.ts', import.meta.url);
    const worker = new Worker(file, { workerData: { buffer: shared.buffer } });
    workers.push(worker);
    return {
      async tell<T>(order: Order): Promise<T> {
        worker.postMessage(order);
        const [answer] = await once(worker, 'message');
        return answer;
      },
    };
  });
  // A first answer shows that the thread listens.
  for (const thread of made) await thread.tell({ do: 'received' });
  return made;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(resolve => setImmediate(resolve));
}

for (const kind of ['take', 'slide'] as const) {
  test(`four concurrent threads get exactly the limit between them, window after window (${kind})`, async () => {
    const shared = createThreadsShared({ fixedWindows: 64, slidingWindows: 16 });
    const threads = await threadsOf(shared, 4);
    const window: Window = { limit: 50_000, periodMs: 1000 };
    for (let round = 0; round < 4; round++) {
      const order: Order = { do: kind, name: 'crowd', window, nowMs: nowMs + round * 1000, times: 30_000 };
      const allowed = await Promise.all(threads.map(thread => thread.tell<number>(order)));
      assert.equal(
        allowed.reduce((sum, some) => sum + some, 0),
        50_000,
      );
    }
    await shared.close();
  });
}

test('every thread receives what one thread publishes, in order', async () => {
  const shared = createThreadsShared({ fixedWindows: 64, slidingWindows: 16 });
  const threads = await threadsOf(shared, 2);
  const received: string[] = [];
  await shared.subscribe('news', message => received.push(message));
  for (const thread of threads) await thread.tell({ do: 'subscribe', channel: 'news' });
  const messages = Array.from({ length: 100 }, (_, index) => String(index));
  await threads[0]!.tell({ do: 'publish', channel: 'news', messages });
  await until(async () => {
    const all = [received, ...(await Promise.all(threads.map(thread => thread.tell<string[]>({ do: 'received' }))))];
    return all.every(some => some.length === messages.length);
  });
  assert.deepEqual(received, messages);
  for (const thread of threads) assert.deepEqual(await thread.tell({ do: 'received' }), messages);
  await shared.close();
});

test('a full bucket evicts the counter that ends soonest, and counts the eviction', () => {
  const shared = createThreadsShared({ fixedWindows: 16, slidingWindows: 8 });
  const ends = (periodMs: number) => ({ limit: 5, periodMs });
  for (let index = 1; index <= 16; index++) shared.counters.take(`name ${index}`, ends(index * 1000), nowMs);
  assert.equal(shared.evictions(), 0);
  assert.ok(shared.counters.take('one more', ends(60_000), nowMs).allowed);
  assert.equal(shared.evictions(), 1);
  assert.equal(shared.counters.peek('name 1', ends(1000), nowMs).used, 0);
  assert.equal(shared.counters.peek('name 2', ends(2000), nowMs).used, 1);
  assert.equal(shared.counters.peek('one more', ends(60_000), nowMs).used, 1);
});

test('the default size fits a rate and a quota of a hundred thousand keys', async () => {
  const shared = createThreadsShared();
  const rate = { limit: 5, periodMs: 60_000 };
  const quota = { limit: 5, periodMs: 30 * 86_400_000 };
  const keys = Array.from({ length: 100_000 }, (_, key) => String(key));
  for (const key of keys) {
    shared.counters.take(`rate:${key}`, rate, nowMs);
    shared.counters.take(`quota:${key}`, quota, nowMs);
  }
  const lost = keys.filter(key => shared.counters.peek(`quota:${key}`, quota, nowMs).used !== 1);
  assert.deepEqual(lost, []);
  await shared.close();
});

test('expired counters are replaced without an eviction', () => {
  const shared = createThreadsShared({ fixedWindows: 16, slidingWindows: 8 });
  const window = { limit: 5, periodMs: 1000 };
  for (let round = 0; round < 10; round++) {
    for (let index = 0; index < 8; index++) {
      shared.counters.take(`${round} ${index}`, window, nowMs + round * 1000);
      shared.counters.slide(`${round} ${index}`, window, nowMs + round * 1000);
    }
  }
  assert.equal(shared.evictions(), 0);
});

test('different names have separate counters', () => {
  const shared = createThreadsShared();
  const window = { limit: 10, periodMs: 1000 };
  const names = Array.from({ length: 5000 }, (_, index) => `org.${index}`).concat('', '\0', 'ø', 'org', 'o\0r\0g\0');
  for (const name of names) assert.equal(shared.counters.take(name, window, nowMs).used, 1, name);
  for (const name of names) assert.equal(shared.counters.take(name, window, nowMs).used, 2, name);
});

test('long-lived counters of every thread can be persisted and restored, short ones are dropped', async () => {
  const shared = createThreadsShared();
  const [thread] = await threadsOf(shared, 1);
  const month = { limit: 1000, periodMs: 30 * 86_400_000 };
  const ever = { limit: 1000, periodMs: Number.POSITIVE_INFINITY };
  await thread!.tell({ do: 'take', name: 'quota', window: month, nowMs, times: 3 });
  shared.counters.take('ever', ever, nowMs, 7);
  shared.counters.take('rate', { limit: 10, periodMs: 1000 }, nowMs);
  await until(() => shared.entries(nowMs).length === 2);
  const entries = JSON.parse(JSON.stringify(shared.entries(nowMs)));
  await shared.close();

  const restarted = createThreadsShared();
  assert.equal(restarted.counters.take('quota', month, nowMs + 5000).used, 1);
  restarted.load(entries, nowMs + 6000);
  const quota = restarted.counters.take('quota', month, nowMs + 7000);
  assert.deepEqual([quota.used, quota.resetsAtMs], [5, nowMs + month.periodMs]);
  assert.equal(restarted.counters.peek('ever', ever, nowMs + 7000).used, 7);
  assert.equal(restarted.counters.peek('rate', { limit: 10, periodMs: 1000 }, nowMs).used, 0);
  assert.equal(restarted.entries(nowMs + 7000).length, 2);
  assert.equal(restarted.entries(nowMs + month.periodMs).length, 1);
  await restarted.close();
});

test('short windows are persisted where they ask for it, in each of their periods', async () => {
  const shared = createThreadsShared();
  const [thread] = await threadsOf(shared, 1);
  const quota = { limit: 10, periodMs: 60_000, isPersistent: true };
  const names = (atMs: number) => shared.entries(atMs).map(({ name }) => name);
  await thread!.tell({ do: 'take', name: 'quota', window: quota, nowMs, times: 3 });
  await until(() => names(nowMs).includes('quota'));
  const afterwards = nowMs + quota.periodMs;
  assert.deepEqual(names(afterwards), []);
  // The mirrored count of the next period replaces that of the last one.
  shared.fixedWindows.mirror('quota', quota, 4, afterwards, afterwards);
  assert.deepEqual(names(afterwards), ['quota']);
  await shared.close();
});

test('windows of an hour are persisted, those a millisecond shorter are not', async () => {
  const shared = createThreadsShared({ fixedWindows: 64, slidingWindows: 16 });
  shared.counters.take('hour', { limit: 5, periodMs: 3_600_000 }, nowMs);
  shared.counters.take('shorter', { limit: 5, periodMs: 3_599_999 }, nowMs);
  assert.deepEqual(
    shared.entries(nowMs).map(({ name }) => name),
    ['hour'],
  );
  await shared.close();
});

test('a persisted window that has ended is not restored, one that ends a millisecond later is', async () => {
  const shared = createThreadsShared({ fixedWindows: 64, slidingWindows: 16 });
  const open = { startedAtMs: nowMs - 1000, used: 3 };
  shared.load(
    [
      { name: 'ended', endsAtMs: nowMs, ...open },
      { name: 'open', endsAtMs: nowMs + 1, ...open },
    ],
    nowMs,
  );
  assert.equal(shared.fixedWindows.read('ended'), undefined);
  assert.equal(shared.fixedWindows.read('open')?.used, 3);
  await shared.close();
});

test('hits counted in memory alone are not pending for a shared engine', async () => {
  const shared = createThreadsShared({ fixedWindows: 64, slidingWindows: 16 });
  const window = { limit: 5, periodMs: 1000 };
  shared.counters.take('a', window, nowMs);
  shared.counters.slide('a', window, nowMs);
  assert.equal(shared.fixedWindows.takePending('a'), undefined);
  assert.deepEqual(shared.slidingWindows.takePending('a'), []);
  await shared.close();
});

test('a listener that unsubscribes leaves the others of its channel subscribed', async () => {
  const shared = createThreadsShared({ fixedWindows: 64, slidingWindows: 16 });
  const received: string[] = [];
  const unsubscribe = await shared.subscribe('news', () => received.push('first'));
  await shared.subscribe('news', () => received.push('second'));
  await unsubscribe();
  await shared.publish('news', 'x');
  await until(() => received.length > 0);
  assert.deepEqual(received, ['second']);
  await shared.close();
  await shared.publish('news', 'after close').catch(() => undefined);
  await new Promise(resolve => setImmediate(resolve));
  assert.deepEqual(received, ['second'], 'none after close');
});

test('a thread terminated while holding a bucket lock does not block it for ever', () => {
  const shared = createThreadsShared({ fixedWindows: 16, slidingWindows: 8 });
  const words = new Int32Array(shared.buffer);
  // The first bucket begins after the header, with its lock.
  words[16] = 12345;
  assert.ok(shared.counters.take('a', { limit: 1, periodMs: 1000 }, nowMs).allowed);
  assert.equal(words[16], 0);
});

test('a foreign buffer is rejected', () => {
  assert.throws(() => createThreadsShared({ buffer: new SharedArrayBuffer(1024) }), /not made for shared counters/);
});
