import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Key } from '#access/keys/schema.ts';
import { closeBenches, limitsBench, orgId } from '../../../tests/support/limit-fixtures.ts';

after(closeBenches);

const on = { 'limits.organisations': 'true' } as const;
const open = (api_id: string) => ({ api_id, use_keyless: true });
const bench = (organisation: Key, settings = {}) => limitsBench({ settings: { ...on, ...settings }, organisation });

test('organisation rate limit: all its APIs share it', async () => {
  const { api, emitted, clock } = bench({ rate: 3, per: 10 });
  assert.deepEqual(await api(open('one')).statuses(undefined, 2), [200, 200]);
  assert.deepEqual(await api(open('two')).statuses(undefined, 1), [200]);
  const response = await api(open('two')).call(undefined);
  assert.equal(response.status, 403);
  const message = 'This organisation rate limit has been exceeded, please contact your API administrator';
  assert.deepEqual(JSON.parse(String(response.body.bytes)), { error: message });
  assert.deepEqual(emitted, [
    { event: 'OrgRateLimitExceeded', message: 'Organisation rate limit has been exceeded', key: orgId },
  ]);
  clock.ms += 10_000;
  assert.deepEqual(await api(open('one')).statuses(undefined, 1), [200]);
});

test('organisation rate limit: the tighter one of key and grants applies', async () => {
  const grants = { rate: 2, per: 10 };
  const statuses = (organisation: Key, settings = {}) =>
    limitsBench({ settings: { ...on, ...settings }, organisation, grants })
      .api(open('one'))
      .statuses(undefined, 4);
  assert.deepEqual(await statuses({ rate: 3, per: 10 }), [200, 200, 403, 403]);
  assert.deepEqual(await statuses({ rate: 1, per: 10 }), [200, 403, 403, 403]);
  assert.deepEqual(await statuses({}), [200, 200, 403, 403]);
  assert.deepEqual(await statuses({ rate: 1, per: 10 }, { 'limits.organisations': 'false' }), [200, 200, 403, 403]);
});

test('granted rate: all APIs share it, it emits an event and resets after its period', async () => {
  const { api, emitted, clock } = limitsBench({ grants: { rate: 2, per: 10 } });
  assert.deepEqual(await api(open('one')).statuses(undefined, 1), [200]);
  assert.deepEqual(await api(open('two')).statuses(undefined, 2), [200, 403]);
  assert.deepEqual(emitted, [
    { event: 'OrgRateLimitExceeded', message: 'Organisation rate limit has been exceeded', key: orgId },
  ]);
  clock.ms += 10_000;
  assert.deepEqual(await api(open('one')).statuses(undefined, 1), [200]);
});

test('organisation quota: all its APIs share it', async () => {
  const { api, emitted } = bench({ quota_max: 2, quota_renewal_rate: 60 });
  assert.deepEqual(await api(open('one')).statuses(undefined, 1), [200]);
  assert.deepEqual(await api(open('two')).statuses(undefined, 2), [200, 403]);
  const message = 'This organisation quota has been exceeded, please contact your API administrator';
  assert.deepEqual(JSON.parse(String((await api(open('one')).call(undefined)).body.bytes)), { error: message });
  assert.deepEqual(emitted[0], {
    event: 'OrgQuotaExceeded',
    message: 'Organisation quota has been exceeded',
    key: orgId,
  });
});

test('inactive organisation: its requests are refused', async () => {
  const { api, emitted } = bench({ is_inactive: true });
  const response = await api(open('one')).call(undefined);
  assert.equal(response.status, 403);
  const message = 'this organisation access has been disabled, please contact your API administrator';
  assert.deepEqual(JSON.parse(String(response.body.bytes)), { error: message });
  assert.deepEqual(emitted, []);
});

test('organisation limits: not counted for loops, without limits, or with the setting off', async () => {
  const looping = { with: (call: { loopCount: number }) => void call.loopCount++ };
  const limited = bench({ rate: 1, per: 10 });
  assert.deepEqual(await limited.api(open('one')).statuses(undefined, 3, looping), [200, 200, 200]);
  const granted = limitsBench({ grants: { rate: 1, per: 10 } });
  assert.deepEqual(await granted.api(open('one')).statuses(undefined, 3, looping), [200, 200, 200]);
  const free = limitsBench({ settings: on });
  assert.deepEqual(await free.api(open('one')).statuses(undefined, 3), [200, 200, 200]);
  const off = limitsBench({ organisation: { rate: 1, per: 10 } });
  assert.deepEqual(await off.api(open('one')).statuses(undefined, 3), [200, 200, 200]);
});

test('quota monitor: emits events for organisations too', async () => {
  const { api, emitted } = bench(
    { quota_max: 4, quota_renewal_rate: 60, monitor: { trigger_limits: [75] } },
    { 'limits.monitor_organisations': 'true' },
  );
  await api(open('one')).statuses(undefined, 4);
  assert.deepEqual(emitted, [
    {
      event: 'TriggerExceeded',
      message: 'Quota trigger reached',
      org_id: orgId,
      key: orgId,
      trigger_limit: 75,
      usage_percentage: 75,
    },
  ]);
});
