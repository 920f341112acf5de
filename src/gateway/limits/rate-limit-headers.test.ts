import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBenches, keySession, limitsBench } from '../../../tests/support/limit-fixtures.ts';
import type { GatewayResponse } from '../http/response.ts';

after(closeBenches);

const readLimitHeaders = ({ headers }: GatewayResponse) =>
  ['limit', 'remaining', 'reset'].map(name => headers.all(`x-ratelimit-${name}`).join());
const session = keySession({ rate: 2, per: 10, quota_max: 5, quota_renewal_rate: 3600 });

test('X-RateLimit headers: carry the quota and replace those of the upstream', async () => {
  const { api, clock } = limitsBench();
  const reset = String(clock.ms / 1000 + 3600);
  assert.deepEqual(readLimitHeaders(await api().call(session)), ['5', '4', reset]);
  clock.ms += 500;
  assert.deepEqual(readLimitHeaders(await api().call(session)), ['5', '3', reset]);
});

test('X-RateLimit headers: without a limit those of the upstream stay; without renewal reset is 0', async () => {
  const { api } = limitsBench();
  const theirs = ['of the upstream', '', ''];
  assert.deepEqual(readLimitHeaders(await api().call(keySession({}), { keyId: 'free' })), theirs);
  assert.deepEqual(readLimitHeaders(await api({ use_keyless: true }).call(undefined)), theirs);
  assert.deepEqual(readLimitHeaders(await api().call(keySession({ quota_max: 5, quota_renewal_rate: -1 }))), [
    '5',
    '4',
    '0',
  ]);
});

test('X-RateLimit headers: carry the rate where there is no quota, and on 429 in any case', async () => {
  const { api, clock } = limitsBench();
  const reset = String(clock.ms / 1000 + 10);
  const rated = keySession({ rate: 2, per: 10 });
  assert.deepEqual(readLimitHeaders(await api().call(rated)), ['2', '1', reset]);
  clock.ms += 500;
  assert.deepEqual(readLimitHeaders(await api().call(rated)), ['2', '0', reset]);
  const refused = await api().call(rated);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '10']);
  assert.deepEqual(readLimitHeaders(refused), ['2', '0', reset]);
  const open = api({ api_id: 'open', use_keyless: true, global_rate_limit: { rate: 3, per: 10 } });
  assert.deepEqual(readLimitHeaders(await open.call(undefined)), ['3', '2', String(Math.ceil(clock.ms / 1000 + 10))]);
  const both = { keyId: 'both' };
  for (const remaining of ['4', '3'])
    assert.deepEqual(readLimitHeaders(await api().call(session, both)).slice(0, 2), ['5', remaining]);
  assert.deepEqual(readLimitHeaders(await api().call(session, both)).slice(0, 2), ['2', '0']);
});

test('response_headers quota: without a quota those of the upstream stay, also on 429', async () => {
  const { api } = limitsBench({ settings: { 'limits.response_headers': 'quota' } });
  const rated = keySession({ rate: 1, per: 10 });
  assert.deepEqual(readLimitHeaders(await api().call(rated)), ['of the upstream', '', '']);
  assert.deepEqual(readLimitHeaders(await api().call(rated)), ['', '', '']);
  assert.equal(readLimitHeaders(await api().call(session, { keyId: 'quota' }))[0], '5');
});

test('response_headers rate: carry the rate, on 429 too; on keyless APIs that of the API', async () => {
  const { api, clock } = limitsBench({ settings: { 'limits.response_headers': 'rate' } });
  const reset = String(clock.ms / 1000 + 10);
  assert.deepEqual(readLimitHeaders(await api().call(session)), ['2', '1', reset]);
  assert.deepEqual(readLimitHeaders(await api().call(session)), ['2', '0', reset]);
  const refused = await api().call(session);
  assert.equal(refused.status, 429);
  assert.deepEqual(readLimitHeaders(refused), ['2', '0', reset]);
  const open = api({ api_id: 'open', use_keyless: true, global_rate_limit: { rate: 3, per: 10 } });
  assert.deepEqual(readLimitHeaders(await open.call(undefined)), ['3', '2', reset]);
});

test('response_headers quota_or_zero: zeros without a quota', async () => {
  const { api, clock } = limitsBench({ settings: { 'limits.response_headers': 'quota_or_zero' } });
  assert.deepEqual(readLimitHeaders(await api().call(keySession({ rate: 2, per: 10 }))), ['0', '0', '0']);
  assert.deepEqual(readLimitHeaders(await api({ use_keyless: true }).call(undefined)), ['0', '0', '0']);
  assert.deepEqual(readLimitHeaders(await api().call(session, { keyId: 'quota' })), [
    '5',
    '4',
    String(clock.ms / 1000 + 3600),
  ]);
});

test('response_headers none: sets nothing, those of the upstream stay', async () => {
  const { api } = limitsBench({ settings: { 'limits.response_headers': 'none' } });
  assert.deepEqual(readLimitHeaders(await api().call(session)), ['of the upstream', '', '']);
});

test('ietf_headers: RateLimit and RateLimit-Policy are set too', async () => {
  const { api } = limitsBench({ settings: { 'limits.ietf_headers': 'true' } });
  const response = await api().call(session);
  assert.equal(response.headers.get('ratelimit-policy'), '"rate";q=2;w=10, "quota";q=5;w=3600');
  assert.equal(response.headers.get('ratelimit'), '"rate";r=1;t=10, "quota";r=4;t=3600');
  await api().call(session);
  const refused = await api().call(session);
  assert.equal(refused.headers.get('ratelimit-policy'), '"rate";q=2;w=10');
  assert.equal(refused.headers.get('ratelimit'), '"rate";r=0;t=10');
  const unlimited = await api().call(keySession({}), { keyId: 'free' });
  assert.equal(unlimited.headers.get('ratelimit'), undefined);
  const endless = await api().call(keySession({ quota_max: 5 }), { keyId: 'endless' });
  assert.equal(endless.headers.get('ratelimit-policy'), '"quota";q=5');
  assert.equal(endless.headers.get('ratelimit'), '"quota";r=4');
});
