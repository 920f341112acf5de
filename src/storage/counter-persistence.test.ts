import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { onBothEngines } from '../../tests/lifecycle/databases.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { type CounterPersistence, createCounterPersistence } from './counter-persistence.ts';
import { openRecords, type Records } from './records.ts';
import { createThreadsShared, type ThreadsShared } from './shared/threads.ts';

const closing: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

const startedMs = 1_800_000_000_000;
const day = { limit: 10, periodMs: 86_400_000 };
const forever = { limit: 10, periodMs: Number.POSITIVE_INFINITY };
const never = 2 ** 31 - 1;

interface Options {
  node?: string;
  everyMs?: number;
  nowMs?: number;
}

interface Process {
  readonly threads: ThreadsShared;
  readonly kept: CounterPersistence;
  readonly clock: { ms: number };
}

/** A process on these records: its memory, and what keeps it. */
async function startProcess(records: Records, { node = '', everyMs = never, nowMs = startedMs }: Options = {}) {
  // Room to spare: a full bucket gives up a counter, which is another promise.
  const threads = createThreadsShared({ fixedWindows: 16_384, slidingWindows: 64 });
  const clock = { ms: nowMs, now: () => clock.ms };
  const kept = createCounterPersistence({
    records,
    threads,
    node,
    clock,
    intervalMs: everyMs,
    onError: error => assert.fail(error),
  });
  closing.push(() => threads.close());
  await kept.start();
  return { threads, kept, clock } satisfies Process;
}

const readUsed = ({ threads, clock }: Process, name: string, window = day) =>
  threads.counters.peek(name, window, clock.ms).used;
const take = ({ threads, clock }: Process, name: string, window = day) => threads.counters.take(name, window, clock.ms);
const rowCount = async (records: Records) => (await records.db.selectFrom('counters').selectAll().execute()).length;

onBothEngines('kept counters', fresh => {
  async function openFresh(): Promise<Records> {
    const { options } = await fresh();
    const records = await openRecords(options);
    closing.push(() => records.close());
    return records;
  }

  test('a restarted process continues the counts of the last one, in the same window', async () => {
    const records = await openFresh();
    const one = await startProcess(records);
    for (let n = 0; n < 3; n++) take(one, 'day');
    take(one, 'forever', forever);
    await one.kept.close();
    const two = await startProcess(records, { nowMs: startedMs + 1000 });
    assert.equal(readUsed(two, 'day'), 3);
    assert.equal(readUsed(two, 'forever', forever), 1);
    assert.equal(take(two, 'day').resetsAtMs, startedMs + day.periodMs);
    await two.kept.close();
    const late = await startProcess(records, { nowMs: startedMs + day.periodMs });
    assert.equal(readUsed(late, 'day'), 0);
    assert.equal(readUsed(late, 'forever', forever), 1);
    await late.kept.close();
    assert.equal(await rowCount(records), 1);
  });

  test('counts are persisted while the process runs, so a crash loses little', async () => {
    const records = await openFresh();
    const one = await startProcess(records, { everyMs: 1 });
    take(one, 'day');
    await eventually(async () => assert.equal(await rowCount(records), 1));
    take(one, 'day');
    await eventually(async () => {
      const row = await records.db.selectFrom('counters').select('used').executeTakeFirstOrThrow();
      assert.equal(Number(row.used), 2);
    });
    const afterCrash = await startProcess(records);
    assert.equal(readUsed(afterCrash, 'day'), 2);
    await one.kept.close();
  });

  test('an unchanged count is not written again', async () => {
    const records = await openFresh();
    const one = await startProcess(records, { everyMs: 1 });
    take(one, 'day');
    await eventually(async () => assert.equal(await rowCount(records), 1));
    await records.db.updateTable('counters').set({ used: 99 }).execute();
    take(one, 'other');
    await eventually(async () => assert.equal(await rowCount(records), 2));
    const row = await records.db.selectFrom('counters').select('used').where('name', '=', 'day').executeTakeFirst();
    assert.equal(Number(row?.used), 99);
    await one.kept.close();
  });

  test('counts are persisted within a second', async ({ mock }) => {
    const records = await openFresh();
    const threads = createThreadsShared({ fixedWindows: 64, slidingWindows: 8 });
    closing.push(() => threads.close());
    const clock = { now: () => startedMs };
    const kept = createCounterPersistence({ records, threads, node: '', clock, onError: error => assert.fail(error) });
    mock.timers.enable({ apis: ['setTimeout'] });
    await kept.start();
    threads.counters.take('day', day, startedMs);
    mock.timers.tick(1000);
    // Waits for the database alone: no time passes.
    let rows = 0;
    for (let asked = 0; asked < 1000 && rows === 0; asked++) rows = await rowCount(records);
    assert.equal(rows, 1);
    mock.timers.reset();
    await kept.close();
  });

  /** A process with the default interval or a given one, that counts the writes it begins. */
  function countWrites(records: Records, more: { intervalMs?: number; onError?: (error: Error) => void } = {}) {
    const threads = createThreadsShared({ fixedWindows: 64, slidingWindows: 8 });
    closing.push(() => threads.close());
    let writes = 0;
    const entries = (nowMs: number) => {
      writes += 1;
      return threads.entries(nowMs);
    };
    const clock = { now: () => startedMs };
    const onError = (error: Error) => assert.fail(error);
    const watched = { entries, load: threads.load };
    const kept = createCounterPersistence({ records, threads: watched, node: '', clock, onError, ...more });
    return { kept, threads, writes: () => writes };
  }

  test('writes are 900 ms apart by default, at least 50 ms, and none follows the last one at close', async ({
    mock,
  }) => {
    const records = await openFresh();
    for (const [pauseMs, intervalMs] of [
      [800, undefined],
      [50, 1],
    ] as const) {
      const { kept, writes } = countWrites(records, intervalMs === undefined ? {} : { intervalMs });
      mock.timers.enable({ apis: ['setTimeout'] });
      await kept.start();
      mock.timers.tick(pauseMs - 1);
      assert.equal(writes(), 0, `no write within ${pauseMs - 1} ms`);
      mock.timers.tick(900 - pauseMs + 1);
      assert.equal(writes(), 1);
      await kept.close();
      assert.equal(writes(), 2);
      mock.timers.tick(60_000);
      await new Promise(resolve => setImmediate(resolve));
      assert.equal(writes(), 2, 'none after close');
      mock.timers.reset();
    }
  });

  test('waiting for the next write does not keep the process alive', async () => {
    const countTimers = () => process.getActiveResourcesInfo().filter(it => it === 'Timeout').length;
    const { kept } = countWrites(await openFresh(), { intervalMs: never });
    const before = countTimers();
    await kept.start();
    assert.ok(countTimers() <= before);
    await kept.close();
  });

  test('a process that was not started writes nothing at close', async () => {
    const { kept, writes } = countWrites(await openFresh());
    await kept.reset(['day']);
    await kept.close();
    assert.equal(writes(), 0);
  });

  test('failed writes are reported, and the next one includes their rows, changed and ended', async () => {
    const records = await openFresh();
    const failures: Error[] = [];
    const one = await startProcess(records);
    take(one, 'ended');
    await one.kept.close();
    const { kept, threads } = countWrites(records, { intervalMs: 1, onError: error => void failures.push(error) });
    await kept.start();
    await sql`alter table counters rename to counters_away`.execute(records.db);
    threads.counters.reset('ended');
    await eventually(() => assert.ok(failures.length > 0));
    threads.counters.take('changed', day, startedMs);
    await sql`alter table counters_away rename to counters`.execute(records.db);
    await eventually(async () => {
      const rows = await records.db.selectFrom('counters').select('name').execute();
      assert.deepEqual(
        rows.map(({ name }) => name),
        ['changed'],
      );
    });
    await sql`alter table counters rename to counters_away`.execute(records.db);
    threads.counters.take('changed', day, startedMs);
    const reported = failures.length;
    await kept.close();
    assert.ok(failures.length > reported, 'the last write at close is reported too');
  });

  test('a reset counter stays reset, even if the process ends at once', async () => {
    const records = await openFresh();
    const one = await startProcess(records);
    take(one, 'day');
    take(one, 'other');
    await one.kept.close();
    const two = await startProcess(records);
    two.threads.counters.reset('day');
    await two.kept.reset(['day']);
    const afterCrash = await startProcess(records);
    assert.equal(readUsed(afterCrash, 'day'), 0);
    assert.equal(readUsed(afterCrash, 'other'), 1);
  });

  test('counters are persisted per node', async () => {
    const records = await openFresh();
    const processes = [await startProcess(records, { node: 'a' }), await startProcess(records, { node: 'b' })];
    for (const [index, process] of processes.entries()) {
      for (let n = 0; n <= index; n++) take(process, 'day');
      await process.kept.close();
    }
    assert.equal(readUsed(await startProcess(records, { node: 'a' }), 'day'), 1);
    assert.equal(readUsed(await startProcess(records, { node: 'b' }), 'day'), 2);
    assert.equal(readUsed(await startProcess(records, { node: 'c' }), 'day'), 0);
  });

  test('more counters than fit into one statement are persisted', async () => {
    const records = await openFresh();
    const one = await startProcess(records);
    for (let n = 0; n < 600; n++) take(one, `day ${n}`);
    await one.kept.close();
    const two = await startProcess(records);
    assert.equal(readUsed(two, 'day 0') + readUsed(two, 'day 599'), 2);
    two.clock.ms += day.periodMs;
    await two.kept.close();
    assert.equal(await rowCount(records), 0);
  });
});
