import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noon } from '../../../tests/support/records.ts';
import { createUptimeRollUp } from './roll-up.ts';
import type { UptimeResult } from './uptime-result.ts';

const hour = 3_600_000;

const round = (more: Partial<UptimeResult> = {}): UptimeResult => ({
  apiId: 'orders',
  orgId: 'acme',
  apiName: 'Orders',
  tags: [],
  host: '10.0.0.1:80',
  atMs: noon,
  up: true,
  url: 'http://10.0.0.1/health',
  status: 200,
  latencyMs: 4,
  failure: '',
  tests: 2,
  passed: 2,
  passedMs: 9,
  retentionSeconds: 0,
  ...more,
});
const createBatch = (...hosts: UptimeResult[]) => ({ hosts, dropped: 0 });

test('rounds of one hour are one row with the newest result', () => {
  const rolled = createUptimeRollUp({ staleMs: hour });
  rolled.add(
    createBatch(round(), round({ atMs: noon + 10, up: false, passed: 1, passedMs: 5, status: 500, latencyMs: 7 })),
  );
  rolled.add(createBatch(round({ atMs: noon + hour })));
  const [first, second, ...others] = rolled.drain(noon).hours;
  assert.deepEqual(others, []);
  assert.deepEqual([first?.rounds, first?.rounds_up, first?.tests, first?.passed, first?.passed_ms], [2, 1, 4, 3, 14]);
  assert.deepEqual([first?.first_at, first?.last_at, first?.up, first?.status], [noon, noon + 10, 0, 500]);
  assert.deepEqual([second?.hour, second?.rounds], [noon + hour, 1]);
  assert.deepEqual(rolled.drain(noon), { hours: [], changes: [] });
});

test('only the first result of a host and those that change its state are changes', () => {
  const rolled = createUptimeRollUp({ staleMs: hour });
  const states = [true, true, false, false, true];
  rolled.add(createBatch(...states.map((up, at) => round({ up, atMs: noon + at, retentionSeconds: 60 }))));
  assert.deepEqual(
    rolled.drain(noon).changes.map(({ at, up, expires_at }) => [at - noon, up, expires_at - at]),
    [
      [0, 1, 60_000],
      [2, 0, 60_000],
      [4, 1, 60_000],
    ],
  );
});

test('a late result is counted, and does not change the state', () => {
  const rolled = createUptimeRollUp({ staleMs: hour });
  for (const [up, at] of [
    [true, 0],
    [false, 2],
    [true, 1],
    [false, 3],
  ] as const)
    rolled.add(createBatch(round({ up, atMs: noon + at })));
  const { changes, hours } = rolled.drain(noon);
  assert.deepEqual(
    changes.map(({ at }) => at - noon),
    [0, 2],
  );
  assert.deepEqual([hours[0]?.rounds, hours[0]?.rounds_up, hours[0]?.up], [4, 2, 0]);
});

test('restored rows are bounded, and lost results are counted', () => {
  const rolled = createUptimeRollUp({ staleMs: hour, maxPendingRows: 2 });
  rolled.add(createBatch(round(), round({ host: 'b:80' })));
  const taken = rolled.drain(noon);
  rolled.add(createBatch(round({ atMs: noon + 1, up: false }), round({ host: 'c:80' })));
  rolled.restore(taken);
  const again = rolled.drain(noon);
  assert.deepEqual(
    again.hours.map(({ host, rounds, rounds_up, last_at }) => [host, rounds, rounds_up, last_at - noon]),
    [
      ['10.0.0.1:80', 2, 1, 1],
      ['b:80', 1, 1, 0],
    ],
  );
  assert.deepEqual(
    again.changes.map(({ host, up }) => [host, up]),
    [
      ['10.0.0.1:80', 1],
      ['b:80', 1],
      ['10.0.0.1:80', 0],
      ['c:80', 1],
    ],
  );
  assert.deepEqual(rolled.totals, { dropped: 0, lost: 1 });
});

test('a host without recent results is dropped from the state', () => {
  const rolled = createUptimeRollUp({ staleMs: 1000 });
  rolled.add({ hosts: [round(), round({ host: 'b:80', atMs: noon + 900, up: false })], dropped: 3 });
  const listStates = (now: number) => rolled.states(now).map(({ host, up }) => [host, up]);
  assert.deepEqual(listStates(noon + 1000).length, 2);
  assert.deepEqual(listStates(noon + 1001), [['b:80', false]]);
  assert.equal(rolled.totals.dropped, 3);
});
