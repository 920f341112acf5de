import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventBudget } from './event-budget.ts';

test('so many events a second are handed on, and how many were not is said once', () => {
  const time = { nowMs: 5000 };
  const dropped: number[] = [];
  const budget = eventBudget({ now: () => time.nowMs }, count => void dropped.push(count), 3);
  const spend = (times: number) => Array.from({ length: times }, () => budget.spend()).filter(Boolean).length;
  assert.equal(spend(10), 3);
  assert.deepEqual(dropped, []);
  time.nowMs += 1000;
  assert.equal(spend(2), 2);
  assert.deepEqual(dropped, [7]);
  time.nowMs += 1000;
  assert.equal(spend(3), 3);
  assert.deepEqual(dropped, [7]);
});
