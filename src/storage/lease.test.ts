import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRecords } from '../../tests/lifecycle/databases.ts';
import { createLease } from './lease.ts';

withRecords('lease', given => {
  const open = (name: string, ...holders: string[]) => holders.map(holder => createLease(given(), name, holder));

  test('a lease is renewed by its holder, and taken by another when it has ended or was released', async () => {
    const [first, second] = open('work', 'node 1', 'node 2');
    assert.equal(await first!.take(1000, 500), true);
    assert.equal(await second!.take(1400, 500), false);
    assert.equal(await first!.take(1400, 500), true);
    assert.equal(await second!.take(1899, 500), false);
    assert.equal(await second!.take(1900, 500), true);
    assert.equal(await first!.take(1950, 500), false);
    await first!.release();
    assert.equal(await first!.take(1950, 500), false, 'only the holder releases');
    await second!.release();
    assert.equal(await first!.take(1960, 500), true);
  });

  test('of several processes that find an ended lease one takes it, also concurrently', async () => {
    const holders = ['a', 'b', 'c', 'd'];
    const leases = open('race', ...holders);
    assert.equal(await createLease(given(), 'race', 'gone').take(0, 10), true);
    const taken = await Promise.all(leases.map(it => it.take(100, 1000)));
    assert.equal(taken.filter(Boolean).length, 1);
  });
});
