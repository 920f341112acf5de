import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listSmoothingSteps } from './smoothing-steps.ts';

const smoothing = { enabled: true, threshold: 10, step: 40, delay: 30, trigger: 0.5 };

describe('Steps of rate smoothing', () => {
  test('the allowance rises by the step in each delay, and ends at the rate', () => {
    assert.deepEqual(listSmoothingSteps({ rate: 100, per: 60, smoothing }), {
      count: 3,
      steps: [
        { second: 0, allowance: 10 },
        { second: 30, allowance: 50 },
        { second: 60, allowance: 90 },
        { second: 90, allowance: 100 },
      ],
    });
  });

  test('smoothing that is off, or without effect, has no steps', () => {
    for (const some of [{ enabled: false }, { threshold: 100 }, { step: 0 }, { delay: 0 }])
      assert.equal(listSmoothingSteps({ rate: 100, smoothing: { ...smoothing, ...some } }), undefined);
    assert.equal(listSmoothingSteps({ rate: -1, smoothing }), undefined);
    assert.equal(listSmoothingSteps({ rate: 100, smoothing: null }), undefined);
  });

  test('of very many steps the last one is at the rate and at its time', () => {
    const course = listSmoothingSteps({ rate: 100_010, smoothing: { ...smoothing, step: 1 } })!;
    assert.equal(course.count, 100_000);
    assert.ok(course.steps.length < 100);
    assert.deepEqual(course.steps.at(-1), { second: 3_000_000, allowance: 100_010 });
  });
});
