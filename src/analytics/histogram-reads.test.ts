import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Records } from '#storage/records.ts';
import { withRecords } from '../../tests/lifecycle/databases.ts';
import { batchOf, noon, someApi } from '../../tests/support/records.ts';
import { forEachCall } from './batch.ts';
import { createUsageRollUp } from './roll-up.ts';
import { minuteMs } from './usage-rows.ts';
import { createUsageStore } from './usage-store.ts';
import type { UsageQuery } from './usage-sums-store.ts';

/** Requests of one organisation: 200 paths in each of six minutes, and one API with a thousand more paths. */
async function fill(records: Records): Promise<void> {
  const rolled = createUsageRollUp({ rowsPerMinute: 100_000, normalisePaths: false });
  const calls = [
    ...Array.from({ length: 1200 }, (_, n) => ({
      atMs: noon + Math.floor(n / 200) * minuteMs,
      totalMs: 1 + (n % 50),
      path: `/${n % 200}`,
      api: { ...someApi, id: `a${n % 4}` },
    })),
    ...Array.from({ length: 1100 }, (_, n) => ({ atMs: noon, path: `/wide/${n}`, api: { ...someApi, id: 'wide' } })),
  ];
  forEachCall(batchOf(calls), rolled.add);
  await createUsageStore(records).add(rolled.drain(noon));
}

const createQuery = (more: Partial<UsageQuery> = {}): UsageQuery => ({
  orgId: someApi.orgId,
  from: noon,
  to: noon + 60 * minuteMs,
  groups: ['api_id'],
  order: 'hits',
  ascending: false,
  percentiles: true,
  ...more,
});
const everything = { page: -1, size: 10 };

withRecords('Reads of latency histograms', given => {
  before(() => fill(given()));

  test('a read in slices has the same histograms as a read of everything', async () => {
    const [whole, sliced] = [1_000_000, 7].map(maxRowsPerSlice =>
      createUsageStore(given(), { maxRowsPerSlice, maxRows: 10_000 }),
    );
    for (const more of [{}, { groups: [] }, { apiId: 'a1', groups: ['path'] }] satisfies Partial<UsageQuery>[]) {
      const expected = await whole!.page(createQuery(more), everything);
      assert.ok(expected.items.every(({ latencies }) => latencies!.size > 0));
      assert.deepEqual(await sliced!.page(createQuery(more), everything), expected);
      const first = { page: 1, size: 3 };
      assert.deepEqual(await sliced!.page(createQuery(more), first), await whole!.page(createQuery(more), first));
    }
  });

  test('a page of a thousand items has a histogram of each', async () => {
    const query = createQuery({ apiId: 'wide', groups: ['path', 'code', 'method'] });
    const { items } = await createUsageStore(given()).page(query, { page: 1, size: 1000 });
    assert.equal(items.length, 1000);
    for (const { latencies } of items) assert.deepEqual([...latencies!.values()], [1]);
  });

  test('a range with too many rows is refused with percentiles, and counted without', async () => {
    const usage = createUsageStore(given(), { maxRowsPerSlice: 100, maxRows: 1199 });
    await assert.rejects(usage.page(createQuery({ groups: [] }), everything), {
      status: 400,
      message: /More than 1199 stored counts in this range/,
    });
    const narrow = await usage.page(createQuery({ groups: [], apiId: 'a1' }), everything);
    assert.equal(narrow.items.length, 1);
    const plain = await usage.page(createQuery({ groups: [], percentiles: false }), everything);
    assert.equal(Number(plain.items[0]?.hits), 2300);
  });

  test('of more groups than requested, those with the most requests are read, with their histograms', async () => {
    const usage = createUsageStore(given());
    const { sums, isComplete } = await usage.listTopSums(createQuery(), 2);
    assert.deepEqual([sums.map(({ api_id }) => api_id), isComplete], [['wide', 'a0'], false]);
    const count = (latencies: ReadonlyMap<number, number>) => [...latencies.values()].reduce((sum, it) => sum + it, 0);
    assert.deepEqual(
      sums.map(({ latencies }) => count(latencies!)),
      [1100, 300],
    );
    assert.deepEqual((await usage.listTopSums(createQuery(), 5)).isComplete, true);
  });
});
