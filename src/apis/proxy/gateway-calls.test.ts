import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGatewayCalls } from './gateway-calls.ts';

test('calls of all organisations together are bounded, and a finished one makes room', async () => {
  const calls = createGatewayCalls();
  const pending = Promise.withResolvers<void>();
  const run = (orgId: string) => calls.run(orgId, () => pending.promise);
  const open = ['a', 'b', 'c', 'd'].flatMap(orgId => Array.from({ length: 10 }, () => run(orgId)));
  await assert.rejects(run('a'), { status: 429, message: /The organisation has 10 calls in progress/ });
  await assert.rejects(run('e'), { status: 429, message: /The process has 40 calls in progress/ });
  pending.resolve();
  await Promise.all(open);
  await run('e');
});

test('a failed call makes room', async () => {
  const calls = createGatewayCalls();
  for (let n = 0; n < 50; n++)
    await assert.rejects(
      calls.run('a', () => Promise.reject(new Error('failed'))),
      { message: 'failed' },
    );
});
