import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Key } from '#access/keys/schema.ts';
import { closeBenches, keySession, limitsBench } from '../../../tests/support/limit-fixtures.ts';
import { compileSmoothing, computeNextAllowance } from './smoothing.ts';

after(closeBenches);

const window = (limit: number) => ({ limit, periodMs: 60_000 });

test('smoothing: the documented example, from 600 up to 700 at 550, down to 500 at 450', () => {
  const plan = compileSmoothing(window(1000), { threshold: 400, step: 100, delaySeconds: 30, trigger: 0.5 });
  assert.equal(computeNextAllowance(plan, 600, 550), 700);
  assert.equal(computeNextAllowance(plan, 600, 549), 600);
  assert.equal(computeNextAllowance(plan, 600, 451), 600);
  assert.equal(computeNextAllowance(plan, 600, 450), 500);
});

test('smoothing: the allowance stays between threshold and rate', () => {
  const plan = compileSmoothing(window(650), { threshold: 400, step: 100, delaySeconds: 1, trigger: 0.5 });
  assert.equal(computeNextAllowance(plan, 600, 600), 650);
  assert.equal(computeNextAllowance(plan, 650, 650), 650);
  assert.equal(computeNextAllowance(plan, 650, 0), 550);
  assert.equal(computeNextAllowance(plan, 450, 0), 400);
  assert.equal(computeNextAllowance(plan, 400, 0), 400);
  assert.equal(compileSmoothing(window(10), { threshold: 400, step: 1, delaySeconds: 1, trigger: 0 }).threshold, 10);
});

test('smoothing: a trigger of 0 is at the allowance itself, and hundredths are exact', () => {
  const at = (trigger: number) =>
    compileSmoothing(window(1000), { threshold: 400, step: 100, delaySeconds: 1, trigger });
  assert.equal(computeNextAllowance(at(0), 600, 599), 600);
  assert.equal(computeNextAllowance(at(0), 600, 600), 700);
  assert.equal(computeNextAllowance(at(0.29), 600, 570), 600);
  assert.equal(computeNextAllowance(at(0.29), 600, 571), 700);
});

const key: Key = {
  rate: 6,
  per: 3600,
  smoothing: { enabled: true, threshold: 2, step: 2, delay: 10, trigger: 0.5 },
};
const up = { event: 'RateLimitSmoothingUp', message: 'Rate limit increased with smoothing', key: 'hash of key' };
const down = { event: 'RateLimitSmoothingDown', message: 'Rate limit decreased with smoothing', key: 'hash of key' };
const isSmoothing = (it: { event: string }) => it.event.startsWith('RateLimitSmoothing');

for (const algorithm of ['window', 'sliding', 'fixed']) {
  test(`smoothing: the allowance starts at the threshold and rises one step per hold-off (${algorithm})`, async () => {
    const { api, clock, emitted } = limitsBench({ settings: { 'limits.rate_algorithm': algorithm } });
    const session = keySession(key);
    const { statuses } = api();
    const takeEvents = () => emitted.splice(0).filter(isSmoothing);
    assert.deepEqual(await statuses(session, 2), [200, 200]);
    assert.deepEqual(takeEvents(), []);
    clock.ms += 10_000;
    // Two were counted before this call: that is within half a step of the allowance.
    assert.deepEqual(await statuses(session, 2), [200, 200]);
    assert.deepEqual(takeEvents(), [up]);
    assert.equal((await api().call(session)).status, 429);
    clock.ms += 10_000;
    assert.equal((await api().call(session)).status, 200);
    assert.deepEqual(takeEvents(), [up]);
  });
}

test('smoothing: the allowance falls while usage is low and restarts after inactivity', async () => {
  const { api, clock, emitted } = limitsBench();
  const session = keySession({ ...key, per: 15 });
  const { statuses } = api();
  const takeEvents = () => emitted.splice(0).filter(isSmoothing);
  await statuses(session, 2);
  clock.ms += 10_000;
  assert.deepEqual(await statuses(session, 2), [200, 200]);
  assert.deepEqual(takeEvents(), [up]);
  clock.ms += 10_000;
  // A new window: nothing was counted in it yet.
  assert.deepEqual(await statuses(session, 1), [200]);
  assert.deepEqual(takeEvents(), [down]);
  assert.deepEqual(await statuses(session, 2), [200, 429]);
  clock.ms += 20_001;
  assert.deepEqual(await statuses(session, 3), [200, 200, 429]);
  assert.deepEqual(takeEvents(), []);
});

for (const [calls, pauseMs] of [
  ['frequent', 4000],
  ['rare', 19_000],
] as const) {
  test(`smoothing: an allowance in use does not expire between ${calls} requests`, async () => {
    const { api, clock, emitted } = limitsBench();
    const session = keySession({ rate: 4, per: 1, smoothing: { ...key.smoothing, trigger: 1.5 } });
    const { statuses } = api();
    await statuses(session, 2);
    clock.ms += 10_000;
    await statuses(session, 1);
    assert.deepEqual(emitted.splice(0).filter(isSmoothing), [up]);
    for (let n = 0; n < 20; n++) {
      clock.ms += pauseMs;
      assert.deepEqual(await statuses(session, 5), [200, 200, 200, 200, 429], `round ${n}`);
    }
    assert.deepEqual(emitted.filter(isSmoothing), []);
  });
}

test('smoothing: a request in the middle of the hold-off window extends the allowance', async () => {
  const { api, clock } = limitsBench();
  const session = keySession({ rate: 4, per: 1, smoothing: { ...key.smoothing, trigger: 1.5 } });
  const { statuses } = api();
  await statuses(session, 2);
  for (const pauseMs of [10_000, 10_000, 19_000]) {
    clock.ms += pauseMs;
    await statuses(session, 1);
  }
  assert.deepEqual(await statuses(session, 4), [200, 200, 200, 429]);
});

test('smoothing: concurrent requests move the allowance by one step', async () => {
  const { api, clock, emitted } = limitsBench({
    counters: local => ({
      take: async (...asked) => local.take(...asked),
      peek: async (...asked) => local.peek(...asked),
      slide: async (...asked) => local.slide(...asked),
      reset: async name => local.reset(name),
    }),
  });
  const session = keySession({ ...key, rate: 100 });
  const { call } = api();
  const atOnce = (count: number) => Promise.all(Array.from({ length: count }, () => call(session)));
  const countPassed = async (count: number) => (await atOnce(count)).filter(it => it.status === 200).length;
  assert.equal(await countPassed(20), 2);
  clock.ms += 10_000;
  assert.equal((await countPassed(20)) + (await countPassed(20)), 2);
  assert.deepEqual(emitted.filter(isSmoothing), [up]);
});
