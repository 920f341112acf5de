import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventRateLimit } from './event-rate-limit.ts';

function budgetOf(most: number) {
  const time = { nowMs: 5000 };
  const dropped: number[] = [];
  const budget = createEventRateLimit({ now: () => time.nowMs }, count => void dropped.push(count), most);
  const spend = (times: number, orgId: (at: number) => string) =>
    Array.from({ length: times }, (_, at) => budget.tryTake(orgId(at))).filter(Boolean).length;
  return { time, dropped, spend };
}

test('events beyond the rate are dropped, and their number is reported once per second', () => {
  const { time, dropped, spend } = budgetOf(3);
  assert.equal(spend(10, String), 3);
  assert.deepEqual(dropped, []);
  time.nowMs += 1000;
  assert.equal(spend(2, String), 2);
  assert.deepEqual(dropped, [7]);
  time.nowMs += 1000;
  assert.equal(spend(3, String), 3);
  assert.deepEqual(dropped, [7]);
});

test('events of one organisation cannot use up the rate of others', () => {
  const { time, dropped, spend } = budgetOf(100);
  assert.equal(
    spend(10_000, () => 'loud'),
    20,
  );
  assert.equal(
    spend(10, () => 'quiet'),
    10,
  );
  time.nowMs += 1000;
  assert.equal(
    spend(1, () => 'loud'),
    1,
  );
  assert.deepEqual(dropped, [9980]);
});
