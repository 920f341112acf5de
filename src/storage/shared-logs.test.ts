import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exactHits, logGrainMs, type Window } from './shared.ts';
import { threadsShared } from './shared-threads.ts';

interface Hit {
  atMs: number;
  cost: number;
}

/** Bursts, trickles and long pauses: most hits come within a small part of the period. */
const pauses = fc.array(
  fc.record({
    pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 400 })),
    cost: fc.constantFrom(1, 1, 1, 2, 5),
  }),
  { minLength: 1, maxLength: 600 },
);
const limits = fc.oneof(fc.integer({ min: 1, max: exactHits }), fc.integer({ min: exactHits + 1, max: 300 }));

const sum = (hits: Hit[], afterMs: number) =>
  hits.filter(hit => hit.atMs > afterMs).reduce((total, { cost }) => total + cost, 0);

function hold(countsRefused: boolean) {
  fc.assert(
    fc.property(pauses, limits, fc.integer({ min: 1, max: 1000 }), (steps, limit, periodMs) => {
      const { counters } = threadsShared({ windows: 16, logs: 8 });
      const window: Window = { limit, periodMs, countsRefused };
      const grainMs = logGrainMs(window);
      const counted: Hit[] = [];
      let nowMs = 1_700_000_000_000;
      for (const { pauseMs, cost } of steps) {
        nowMs += pauseMs;
        const { allowed } = counters.slide('a', window, nowMs, cost);
        const honest = sum(counted, nowMs - periodMs);
        const nearly = sum(counted, nowMs - periodMs - grainMs);
        if (allowed) assert.ok(honest + cost <= limit, 'more than the limit was let through in one period');
        else assert.ok(nearly + cost > limit, 'a hit was refused although there was room');
        if (allowed || countsRefused) counted.push({ atMs: nowMs, cost });
      }
    }),
    { numRuns: 200 },
  );
}

test('no period ever sees more than the limit, and a hit is refused only when the period is full but for one grain', () => {
  hold(false);
});

test('the same holds where refused hits are counted too', () => {
  hold(true);
});

test('small limits are exact', () => {
  assert.equal(logGrainMs({ limit: exactHits, periodMs: 1000 }), 0);
  assert.ok(logGrainMs({ limit: exactHits + 1, periodMs: 1000 }) < 1000 / 60);
});

test('a clock set back does not close a window for as long as it was set back', () => {
  const { counters } = threadsShared({ windows: 16, logs: 8 });
  const window = { limit: 1, periodMs: 1000 };
  const nowMs = 1_700_000_000_000;
  for (const kind of ['take', 'slide'] as const) {
    assert.ok(counters[kind]('a', window, nowMs).allowed);
    assert.ok(!counters[kind]('a', window, nowMs - 5).allowed);
    assert.ok(counters[kind]('a', window, nowMs - 3_600_000).allowed);
  }
});
