import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classicToModel } from '#definition/model.ts';
import type { Api } from '../routing/api.ts';
import { ApiAnalytics } from './api-analytics.ts';
import { createRecentStats, sumStats } from './recent-stats.ts';

const model = classicToModel({ name: 'one' });

/** Every call of one that was changed meanwhile. */
function called(errorCode = '', upstreamMs = 0, id = 'a') {
  const made = { id, orgId: '', name: id, listenPath: '/', model };
  return { api: { ...made, analytics: new ApiAnalytics(made) } as Api, errorCode, upstreamMs };
}
const nothing = { calls: 0, rateRefused: 0, quotaRefused: 0, keyRefused: 0, upstreamCalls: 0, upstreamMs: 0 };

test('requests are counted by outcome, separately for each API', () => {
  const vitals = createRecentStats({ now: () => 1_000_005_000 });
  for (const code of ['rate_exceeded', 'api_rate_exceeded', 'quota_exceeded', 'key_not_found', 'internal'])
    vitals.count(called(code));
  vitals.count(called('', 30));
  vitals.count(called('', 10));
  vitals.count({ ...called(), api: undefined });
  vitals.count(called('', 5, 'b'));
  assert.deepEqual(vitals.of('a'), {
    seconds: 55,
    calls: 7,
    rateRefused: 2,
    quotaRefused: 1,
    keyRefused: 1,
    upstreamCalls: 2,
    upstreamMs: 40,
  });
  assert.equal(vitals.of('b').calls, 1);
  assert.deepEqual(vitals.of('nobodys'), { ...nothing, seconds: 55 });
});

test('requests older than a minute are not counted', () => {
  let now = 1_000_000_000;
  const vitals = createRecentStats({ now: () => now });
  vitals.count(called());
  now += 40_000;
  vitals.count(called());
  assert.equal(vitals.of('a').calls, 2);
  now += 20_000;
  assert.equal(vitals.of('a').calls, 1);
  vitals.count(called());
  assert.equal(vitals.of('a').calls, 2);
  now += 3_600_000;
  assert.deepEqual(vitals.of('a'), { ...nothing, seconds: 50 });
});

test('beyond the maximum of APIs the table restarts empty and counting continues', () => {
  const vitals = createRecentStats({ now: () => 1_000_005_000 }, 100);
  const first = called();
  vitals.count(first);
  for (let n = 0; n < 150; n++) vitals.count(called('', 0, `api ${n}`));
  vitals.count(first);
  vitals.count(first);
  assert.deepEqual([vitals.of('a').calls, vitals.of('api 149').calls, vitals.of('api 0').calls], [2, 1, 0]);
});

test('stats of several threads are summed', () => {
  const one = { ...nothing, seconds: 50, calls: 3, upstreamMs: 8 };
  assert.deepEqual(sumStats([one, { ...one, keyRefused: 1 }]), {
    ...nothing,
    seconds: 50,
    calls: 6,
    upstreamMs: 16,
    keyRefused: 1,
  });
});
