import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createReadGate } from './read-gate.ts';

describe('Read gate', () => {
  test('an organisation has one read at a time, in order, and others read meanwhile', async () => {
    const gate = createReadGate(100);
    const first = Promise.withResolvers<string>();
    const started: string[] = [];
    const reads = ['one', 'two', 'three'].map((name, at) =>
      gate.run('a', async () => {
        started.push(name);
        return at === 0 ? first.promise : name;
      }),
    );
    assert.equal(await gate.run('b', async () => 'other'), 'other');
    assert.deepEqual(started, ['one']);
    first.resolve('one');
    assert.deepEqual(await Promise.all(reads), ['one', 'two', 'three']);
    assert.deepEqual(started, ['one', 'two', 'three']);
  });

  test('a failed read lets the next one start', async () => {
    const gate = createReadGate(100);
    const failed = gate.run('a', () => Promise.reject(new Error('failed')));
    const next = gate.run('a', async () => 'next');
    await assert.rejects(failed, { message: 'failed' });
    assert.equal(await next, 'next');
  });

  test('waiting reads are bounded by organisation', async () => {
    const gate = createReadGate(100);
    const pending = Promise.withResolvers<void>();
    const waiting = Array.from({ length: 100 }, () => gate.run('a', () => pending.promise));
    await assert.rejects(
      gate.run('a', async () => undefined),
      { status: 429 },
    );
    await gate.run('b', async () => undefined);
    pending.resolve();
    await Promise.all(waiting);
    await gate.run('a', async () => undefined);
  });
});
