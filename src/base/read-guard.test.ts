import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createReadGuard } from './read-guard.ts';

describe('read guard', () => {
  test('a value is stored unless there was an invalidation during its read', () => {
    const guard = createReadGuard();
    const stored: string[] = [];
    const before = guard.begin();
    before(() => stored.push('read before'));
    guard.invalidate();
    before(() => stored.push('ended after'));
    const after = guard.begin();
    after(() => stored.push('begun after'));
    assert.deepEqual(stored, ['read before', 'begun after']);
  });

  test('the generation rises with every invalidation and with nothing else', () => {
    const guard = createReadGuard();
    guard.begin()(() => {});
    assert.equal(guard.generation(), 0);
    guard.invalidate();
    guard.invalidate();
    assert.equal(guard.generation(), 2);
  });
});
