import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFailureSampler } from './failure-sampler.ts';

test('the first hundred failures of a key and window are recorded, then each power of ten', () => {
  let nowMs = 0;
  const sampler = createFailureSampler({ now: () => nowMs });
  const recorded = [];
  for (let failure = 1; failure <= 10_000; failure++) if (sampler.record('a')) recorded.push(failure);
  assert.deepEqual(recorded, [...Array.from({ length: 100 }, (_none, index) => index + 1), 1000, 10_000]);
  assert.equal(sampler.record('b'), true);
  nowMs += 900_000;
  assert.equal(sampler.record('a'), true);
});
