import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classicToModel } from '#definition/model.ts';
import type { Api } from '../routing/api.ts';
import { ApiAnalytics } from './api-analytics.ts';
import { createRecentStats, sumStats } from './recent-stats.ts';

const model = classicToModel({ name: 'one' });

/** Every call of one that was changed meanwhile. */
function createExchange(errorCode = '', upstreamMs = 0, id = 'a') {
  const made = { id, orgId: '', name: id, listenPath: '/', model };
  return { api: { ...made, analytics: new ApiAnalytics(made) } as Api, errorCode, upstreamMs };
}
const nothing = { calls: 0, rateRefused: 0, quotaRefused: 0, keyRefused: 0, upstreamCalls: 0, upstreamMs: 0 };

test('requests are counted by outcome, separately for each API', () => {
  const stats = createRecentStats({ now: () => 1_000_005_000 });
  for (const code of ['rate_exceeded', 'api_rate_exceeded', 'quota_exceeded', 'key_not_found', 'internal'])
    stats.count(createExchange(code));
  stats.count(createExchange('', 30));
  stats.count(createExchange('', 10));
  stats.count({ ...createExchange(), api: undefined });
  stats.count(createExchange('', 5, 'b'));
  assert.deepEqual(stats.of('a'), {
    seconds: 55,
    calls: 7,
    rateRefused: 2,
    quotaRefused: 1,
    keyRefused: 1,
    upstreamCalls: 2,
    upstreamMs: 40,
  });
  assert.equal(stats.of('b').calls, 1);
  assert.deepEqual(stats.of('unknown'), { ...nothing, seconds: 55 });
});

test('requests older than a minute are not counted', () => {
  let now = 1_000_000_000;
  const stats = createRecentStats({ now: () => now });
  stats.count(createExchange());
  now += 40_000;
  stats.count(createExchange());
  assert.equal(stats.of('a').calls, 2);
  now += 20_000;
  assert.equal(stats.of('a').calls, 1);
  stats.count(createExchange());
  assert.equal(stats.of('a').calls, 2);
  now += 3_600_000;
  assert.deepEqual(stats.of('a'), { ...nothing, seconds: 50 });
});

test('beyond the maximum of APIs the table restarts empty and counting continues', () => {
  const stats = createRecentStats({ now: () => 1_000_005_000 }, 100);
  const first = createExchange();
  stats.count(first);
  for (let n = 0; n < 150; n++) stats.count(createExchange('', 0, `api ${n}`));
  stats.count(first);
  stats.count(first);
  assert.deepEqual([stats.of('a').calls, stats.of('api 149').calls, stats.of('api 0').calls], [2, 1, 0]);
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
