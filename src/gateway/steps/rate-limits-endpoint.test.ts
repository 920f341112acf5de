import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBenches, keySession, limitsBench } from '../../../tests/support/limit-fixtures.ts';
import type { GatewayResponse } from '../http/response.ts';

after(closeBenches);

const body = (response: GatewayResponse) => JSON.parse(String(response.body.bytes ?? '{}'));
const asked = { path: '/gw/rate-limits/' };

test('GET /gw/rate-limits: returns the limits of the key without counting', async () => {
  const { api, clock } = limitsBench();
  const session = keySession({ rate: 2, per: 10, quota_max: 5, quota_renewal_rate: 3600 });
  const { call, statuses } = api();
  await statuses(session, 1);
  const quota_renews = clock.ms / 1000 + 3600;
  for (const path of ['/gw/rate-limits/', '/gw/rate-limits', '/gw/rate-limits/']) {
    const response = await call(session, { path });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.deepEqual(body(response), {
      quota: { quota_max: 5, quota_remaining: 4, quota_renews },
      rate_limit: { requests: 2, per_unit: 10 },
    });
  }
});

test('GET /gw/rate-limits: 0 without a limit; other paths and methods go to the upstream', async () => {
  const { api } = limitsBench();
  const session = keySession({});
  assert.deepEqual(body(await api().call(session, asked)), {
    quota: { quota_max: 0, quota_remaining: 0, quota_renews: 0 },
    rate_limit: { requests: 0, per_unit: 0 },
  });
  assert.deepEqual(body(await api().call(session, { ...asked, method: 'POST' })), {});
  assert.deepEqual(body(await api().call(session, { path: '/gw/rate-limits/more' })), {});
  assert.deepEqual(body(await api({ use_keyless: true }).call(undefined, asked)), {});
});
