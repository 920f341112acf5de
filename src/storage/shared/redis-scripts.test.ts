import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toReplayFixedArgs, toReplaySlidingArgs, toSlideArgs, toTakeArgs } from './redis-scripts.ts';
import { maxExactHits } from './shared.ts';

const nowMs = 1_700_000_000_000;
const window = { limit: 5, periodMs: 1000 };
const endless = { limit: Number.POSITIVE_INFINITY, periodMs: Number.POSITIVE_INFINITY };

describe('arguments of the Redis scripts', () => {
  test('a window has its defaults, and infinity is -1', () => {
    assert.deepEqual(toTakeArgs(window, 2), ['1000', 'first', '5', '2', '0']);
    assert.deepEqual(toTakeArgs({ ...endless, opens: 'clock', countsRefused: true }, 1), [
      '-1',
      'clock',
      '-1',
      '1',
      '1',
    ]);
    assert.deepEqual(toReplayFixedArgs(window, 3, 4, 0), ['1000', 'first', '3', '4', '0']);
    assert.deepEqual(toSlideArgs(window, 1), ['1000', '5', '1', '0', '0']);
    assert.deepEqual(toSlideArgs({ ...endless, countsRefused: true }, 1), ['-1', '-1', '1', '1', '-1']);
  });

  test('a limit above the exact ones has a granularity of the period divided by two runs fewer than there are', () => {
    const args = toSlideArgs({ limit: maxExactHits + 1, periodMs: 620 }, 1);
    assert.deepEqual(args, ['620', '65', '1', '0', '10']);
  });

  test('hits are replayed by their age, which is 0 at the current time and never negative', () => {
    assert.deepEqual(toReplaySlidingArgs(window, [nowMs - 7, 3, nowMs, 2, nowMs + 5, 1], nowMs), [
      '1000',
      '7',
      '3',
      '0',
      '2',
      '0',
      '1',
    ]);
  });
});
