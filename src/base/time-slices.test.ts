import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTimeSlices } from './time-slices.ts';

describe('time slices', () => {
  test('events are handled between slices, and a slice that is not used up does not pause', async () => {
    let nowMs = 0;
    const slices = createTimeSlices(10, () => nowMs);
    for (let turns = 0; turns < 5; ) {
      nowMs += 9;
      assert.equal(slices.pauseIfDue(), undefined, 'the slice is not used up');
      nowMs++;
      setImmediate(() => turns++);
      const before = turns;
      await slices.pauseIfDue();
      assert.equal(turns, before + 1, 'an event was handled during the pause');
      assert.equal(slices.pauseIfDue(), undefined, 'the next slice has begun');
    }
  });
});
