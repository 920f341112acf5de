import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyedMutex } from './keyed-mutex.ts';

test('work of one key runs one after the other, also after a failure; work of another key does not wait', async () => {
  const runExclusive = createKeyedMutex();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = runExclusive('a', async () => {
    order.push('first begins');
    await gate.promise;
    order.push('first ends');
    throw new Error('failed');
  });
  const second = runExclusive('a', async () => order.push('second'));
  await runExclusive('b', async () => order.push('other key'));
  gate.resolve();
  await assert.rejects(first, /failed/);
  await second;
  assert.deepEqual(order, ['first begins', 'other key', 'first ends', 'second']);
  assert.equal(await runExclusive('a', async () => 'again'), 'again');
});
