import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAuthFailureLimit, type RejectedCredential } from './auth-failure-limit.ts';

const rejected = { surface: 'admin', address: '192.0.2.1', method: 'GET', path: '/admin/users' } as const;

function createLimit(maxPerMinute: number) {
  const clock = { ms: 1_800_000_000_000, now: () => clock.ms };
  const reports: RejectedCredential[] = [];
  const { reject } = createAuthFailureLimit(maxPerMinute, clock, it => void reports.push(it));
  return { clock, reports, reject };
}

describe('limit of wrong credentials', () => {
  test('the first, tenth and hundredth failure of an address is reported', () => {
    const { reports, reject } = createLimit(0);
    for (let n = 0; n < 120; n++) reject(rejected);
    assert.deepEqual(
      reports,
      [1, 10, 100].map(failures => ({ ...rejected, failures })),
    );
  });

  test('failures beyond the limit get 429 until the minute ends, by surface and address', () => {
    const { clock, reject } = createLimit(2);
    const statuses = (times: number, more = {}) =>
      Array.from({ length: times }, () => reject({ ...rejected, ...more }).status);
    assert.deepEqual(statuses(3), [401, 401, 429]);
    assert.deepEqual(statuses(1, { address: '192.0.2.2' }), [401]);
    assert.deepEqual(statuses(1, { surface: 'dashboard' }), [401]);
    clock.ms += 20_500;
    const { status, detail } = reject(rejected);
    assert.deepEqual([status, detail], [429, { seconds: 40, retryAfter: 40 }]);
    clock.ms += 39_500;
    assert.deepEqual(statuses(1), [401]);
  });
});
