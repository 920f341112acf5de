import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { maxClockSkewMs, maxExactHits, slidingGranularityMs, type Window } from './shared.ts';
import { createThreadsShared } from './threads.ts';

interface Hit {
  atMs: number;
  cost: number;
}

/** Bursts and trickles with a long pause now and then, so that a period fills, ages and empties many times. */
const steps = fc.array(
  fc.record({
    pauseMs: fc.oneof(
      { weight: 30, arbitrary: fc.integer({ min: 0, max: 3 }) },
      { weight: 10, arbitrary: fc.integer({ min: 0, max: 20 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 700 }) },
    ),
    cost: fc.constantFrom(1, 1, 1, 2, 5),
  }),
  { minLength: 300, maxLength: 600, size: 'max' },
);
const small = fc.integer({ min: 1, max: maxExactHits });
const large = fc.integer({ min: maxExactHits + 1, max: 150 });
const periods = fc.integer({ min: 50, max: 1000 });
const startMs = 1_700_000_000_000;
const counters = () => createThreadsShared({ fixedWindows: 16, slidingWindows: 8 }).counters;

const sum = (hits: Hit[], afterMs: number) =>
  hits.filter(hit => hit.atMs > afterMs).reduce((total, { cost }) => total + cost, 0);

for (const countsRefused of [false, true]) {
  const which = countsRefused ? 'counting refused hits' : 'counting what passed';
  test(`no period exceeds the limit, and a hit is refused only if the period is full up to the granularity (${which})`, () => {
    fc.assert(
      fc.property(steps, fc.oneof(small, large), periods, (walk, limit, periodMs) => {
        const { slide } = counters();
        const window: Window = { limit, periodMs, countsRefused };
        const counted: Hit[] = [];
        let nowMs = startMs;
        for (const { pauseMs, cost } of walk) {
          nowMs += pauseMs;
          const { allowed } = slide('a', window, nowMs, cost);
          const honest = sum(counted, nowMs - periodMs);
          const nearly = sum(counted, nowMs - periodMs - slidingGranularityMs(window));
          if (allowed) assert.ok(honest + cost <= limit, 'more than the limit was let through in one period');
          else assert.ok(nearly + cost > limit, 'a hit was refused although there was room');
          if (allowed || countsRefused) counted.push({ atMs: nowMs, cost });
        }
      }),
      { numRuns: 100 },
    );
  });
}

test('no period exceeds the current limit when the limit goes up and down', () => {
  fc.assert(
    fc.property(steps, small, large, periods, (walk, low, high, periodMs) => {
      const { slide } = counters();
      const passed: Hit[] = [];
      let nowMs = startMs;
      for (const [index, { pauseMs, cost }] of walk.entries()) {
        nowMs += pauseMs;
        const limit = index % 150 < 75 ? low : high;
        if (!slide('a', { limit, periodMs }, nowMs, cost).allowed) continue;
        passed.push({ atMs: nowMs, cost });
        assert.ok(sum(passed, nowMs - periodMs) <= limit);
      }
    }),
    { numRuns: 100 },
  );
});

test('a window full of single hits loses none when the limit is raised', () => {
  const { slide } = counters();
  for (let hit = 0; hit < maxExactHits; hit++) slide('a', { limit: maxExactHits, periodMs: 1000 }, startMs + hit);
  let passed = 0;
  for (let nowMs = startMs + 100; nowMs < startMs + 1000; nowMs += 20) {
    if (slide('a', { limit: maxExactHits + 6, periodMs: 1000 }, nowMs).allowed) passed += 1;
  }
  assert.equal(passed, 6);
});

test('small limits are exact, and large ones to a sixtieth of the period', () => {
  assert.equal(slidingGranularityMs({ limit: maxExactHits, periodMs: 1000 }), 0);
  assert.ok(slidingGranularityMs({ limit: maxExactHits + 1, periodMs: 1000 }) < 1000 / 60);
});

test('a clock set back does not close a window for as long as it was set back', () => {
  const window = { limit: 1, periodMs: 1000 };
  const own = counters();
  for (const kind of ['take', 'slide'] as const) {
    assert.ok(own[kind]('a', window, startMs).allowed);
    assert.ok(!own[kind]('a', window, startMs - 5).allowed);
    assert.ok(own[kind]('a', window, startMs - 3_600_000).allowed);
  }
});

test('a window that starts up to the maximum clock skew in the future is still open, a later one is not', () => {
  const window = { limit: 1, periodMs: 1000 };
  for (const kind of ['take', 'slide'] as const) {
    const own = counters();
    assert.ok(own[kind]('a', window, startMs).allowed);
    assert.ok(!own[kind]('a', window, startMs - maxClockSkewMs).allowed, kind);
    assert.ok(own[kind]('a', window, startMs - maxClockSkewMs - 1).allowed, kind);
  }
});
