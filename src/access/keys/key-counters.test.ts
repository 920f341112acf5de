import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createThreadsShared } from '#storage/shared/threads.ts';
import { createKeyCounters } from './key-counters.ts';

const periodMs = 1000;
const window = { limit: 10, periodMs, countsRefused: true, isPersistent: true };

describe('used quota that is carried over', () => {
  function openCounters() {
    const clock = { ms: 1_800_000_000_000, now: () => clock.ms };
    const { counters, close } = createThreadsShared({ fixedWindows: 64, slidingWindows: 16 });
    const take = (name: string, cost: number) => counters.take(name, window, clock.ms, cost);
    return { clock, take, close, ...createKeyCounters(counters, { reset: async () => undefined }, clock) };
  }

  test('opens a window that began with that of the source, also where one of the target has ended since', async () => {
    for (const endedHits of [0, 9]) {
      const { clock, take, carryOver, peek, close } = openCounters();
      if (endedHits > 0) take('to', endedHits);
      clock.ms += periodMs / 2;
      take('from', 4);
      const endsAtMs = clock.ms + periodMs;
      clock.ms += periodMs / 2;
      await carryOver('from', 'to', window);
      const { used, resetsAtMs } = await peek('to', window);
      assert.deepEqual([used, resetsAtMs], [4, endsAtMs], `${endedHits} hits of the ended window`);
      await close();
    }
  });

  test('raises the open window of the target to the count of the source, and lowers none', async () => {
    const { clock, take, carryOver, peek, close } = openCounters();
    take('to', 1);
    const endsAtMs = clock.ms + periodMs;
    clock.ms += periodMs / 2;
    take('from', 4);
    await carryOver('from', 'to', window);
    await carryOver('to', 'from', window);
    const { used, resetsAtMs } = await peek('to', window);
    assert.deepEqual([used, resetsAtMs, (await peek('from', window)).used], [4, endsAtMs, 4]);
    await close();
  });
});
