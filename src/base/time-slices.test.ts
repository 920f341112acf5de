import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTimeSlices } from './time-slices.ts';

describe('time slices', () => {
  test('events are handled between slices, and a slice that is not used up does not pause', async () => {
    const unused = createTimeSlices(60_000);
    assert.equal(unused.pauseIfDue(), undefined);
    const slices = createTimeSlices(1);
    let turns = 0;
    let isDone = false;
    const countTurns = () => {
      turns++;
      if (!isDone) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    for (let pauses = 0; pauses < 5; ) {
      const pause = slices.pauseIfDue();
      if (!pause) continue;
      await pause;
      pauses++;
      assert.equal(slices.pauseIfDue(), undefined, 'the next slice has begun');
    }
    isDone = true;
    assert.ok(turns >= 5, String(turns));
  });
});
