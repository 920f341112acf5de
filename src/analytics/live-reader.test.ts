import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRecords } from '../../tests/lifecycle/databases.ts';
import { batchOf, noon, someApi } from '../../tests/support/records.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { forEachCall } from './batch.ts';
import { createLiveReader } from './live-reader.ts';
import { createUsageRollUp } from './roll-up.ts';
import { createUsageStore } from './usage-store.ts';

withRecords('Live counts', given => {
  const { orgId } = someApi;

  test('streams of the same scope share one read, others have their own, and a later read is a new one', async () => {
    const usage = createUsageStore(given());
    const rolled = createUsageRollUp({ rowsPerMinute: 1000, normalisePaths: false });
    forEachCall(batchOf([{}, { path: '/other' }, { api: { ...someApi, id: 'hidden' } }]), rolled.add);
    await usage.add(rolled.drain(noon));
    const read = createLiveReader({ usage, clock: { now: () => noon + 1000 } });
    const scope = { orgId, hiddenApis: ['hidden'] };
    const first = read(scope);
    assert.equal(read({ ...scope }), first);
    for (const other of [
      { ...scope, hiddenApis: [] },
      { ...scope, ownedApis: ['orders'] },
      { ...scope, apiId: 'orders' },
      { ...scope, orgId: 'another' },
    ])
      assert.notEqual(read(other), first, JSON.stringify(other));
    const { sums, isComplete, at } = await first;
    assert.deepEqual(
      sums.map(({ api_id, hits, latencies }) => [api_id, Number(hits), [...latencies!.values()]]),
      [['orders', 2, [2]]],
    );
    assert.deepEqual([isComplete, at], [true, noon + 1000]);
    assert.deepEqual((await read({ ...scope, orgId: 'another' })).sums, []);
    await eventually(() => assert.notEqual(read(scope), first));
  });
});
