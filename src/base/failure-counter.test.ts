import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFailureCounter, isWorthLogging } from './failure-counter.ts';

describe('failure counter', () => {
  const clock = { ms: 0, now: () => clock.ms };

  test('a key is over the limit after so many failures, until its window ends; other keys are not', () => {
    const counter = createFailureCounter({ maxFailures: 2, windowMs: 60_000, maxKeys: 10 }, clock);
    assert.deepEqual([counter.record('a'), counter.isOverLimit('a')], [1, false]);
    clock.ms += 59_500;
    assert.deepEqual([counter.record('a'), counter.isOverLimit('a')], [2, true]);
    assert.equal(counter.retryAfterSeconds('a'), 1);
    assert.equal(counter.isOverLimit('b'), false);
    clock.ms += 500;
    assert.deepEqual([counter.isOverLimit('a'), counter.retryAfterSeconds('a')], [false, 0]);
    assert.equal(counter.record('a'), 1, 'a new window begins');
  });

  test('a limit of 0 is off, and clearing a key resets its failures', () => {
    const off = createFailureCounter({ maxFailures: 0, windowMs: 1000, maxKeys: 10 }, clock);
    for (let n = 0; n < 100; n++) off.record('a');
    assert.equal(off.isOverLimit('a'), false);
    const one = createFailureCounter({ maxFailures: 1, windowMs: 1000, maxKeys: 10 }, clock);
    one.record('a');
    one.clear('a');
    assert.equal(one.isOverLimit('a'), false);
  });

  test('keys beyond the bound are evicted, those in use last', () => {
    const counter = createFailureCounter({ maxFailures: 1, windowMs: 1000, maxKeys: 4 }, clock);
    counter.record('guesser');
    for (let n = 0; n < 100; n++) {
      counter.record(`passer-by ${n}`);
      assert.equal(counter.isOverLimit('guesser'), true, `after ${n}`);
    }
    assert.equal(counter.isOverLimit('passer-by 0'), false);
  });

  test('powers of ten are worth a log line', () => {
    assert.deepEqual([1, 2, 9, 10, 11, 99, 100, 1000, 1010].filter(isWorthLogging), [1, 10, 100, 1000]);
  });
});
