import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ApiLimit, Key } from '#access/keys/schema.ts';
import { closeBenches, keySession, limitsBench, orgId } from '../../../tests/support/limit-fixtures.ts';
import type { GatewayResponse } from '../http/response.ts';

after(closeBenches);

const text = (response: GatewayResponse) => response.body.bytes?.toString();
const repeatOk = (count: number) => Array<number>(count).fill(200);
const repeatRefusal = (count: number, status = 429) => Array<number>(count).fill(status);

test('fixed window: opens with the first request, allows the rate, ends after its period', async () => {
  const { api, clock } = limitsBench();
  const session = keySession({ rate: 3, per: 10 });
  clock.ms += 7000;
  const { statuses } = api();
  assert.deepEqual(await statuses(session, 5), [...repeatOk(3), ...repeatRefusal(2)]);
  clock.ms += 9999;
  assert.deepEqual(await statuses(session, 1), repeatRefusal(1));
  clock.ms += 1;
  assert.deepEqual(await statuses(session, 4), [...repeatOk(3), ...repeatRefusal(1)]);
});

test('clock window: ends at multiples of its period, whenever the first request came', async () => {
  const { api, clock } = limitsBench({ settings: { 'limits.rate_algorithm': 'fixed' } });
  const session = keySession({ rate: 2, per: 10 });
  clock.ms += 7000;
  const { statuses } = api();
  assert.deepEqual(await statuses(session, 3), [...repeatOk(2), ...repeatRefusal(1)]);
  clock.ms += 3000;
  assert.deepEqual(await statuses(session, 3), [...repeatOk(2), ...repeatRefusal(1)]);
});

test('sliding window: refused requests count, so a client that does not back off stays refused', async () => {
  const { api, clock } = limitsBench({ settings: { 'limits.rate_algorithm': 'sliding' } });
  const session = keySession({ rate: 2, per: 10 });
  const { statuses } = api();
  assert.deepEqual(await statuses(session, 2), repeatOk(2));
  for (let n = 0; n < 10; n++) {
    clock.ms += 3000;
    assert.deepEqual(await statuses(session, 1), repeatRefusal(1), `call ${n}`);
  }
  clock.ms += 10_000;
  assert.deepEqual(await statuses(session, 3), [...repeatOk(2), ...repeatRefusal(1)]);
});

test('rate below one: one request in a longer period; no limit without rate or period', async () => {
  const { api, clock } = limitsBench();
  const slow = keySession({ rate: 0.5, per: 10 });
  assert.deepEqual(await api().statuses(slow, 2), [200, 429]);
  clock.ms += 19_999;
  assert.deepEqual(await api().statuses(slow, 1), [429]);
  clock.ms += 1;
  assert.deepEqual(await api().statuses(slow, 1), [200]);
  for (const key of [{ rate: 0, per: 10 }, { rate: -1, per: 10 }, { rate: 10, per: 0 }, {}])
    assert.deepEqual(await api().statuses(keySession(key), 20, { keyId: 'free' }), repeatOk(20));
});

test('rate limit exceeded: 429 with its message, Retry-After and an event', async () => {
  const { api, clock, emitted } = limitsBench();
  const session = keySession({ rate: 1, per: 10 });
  await api().call(session);
  assert.deepEqual(emitted, [], 'a request below the rate emits none');
  clock.ms += 2500;
  const response = await api().call(session);
  assert.equal(response.status, 429);
  assert.equal(text(response), '{\n    "error": "Rate Limit Exceeded"\n}');
  assert.equal(response.headers.get('retry-after'), '8');
  assert.deepEqual(
    ['limit', 'remaining', 'reset'].map(name => response.headers.get(`x-ratelimit-${name}`)),
    ['1', '0', String(Math.ceil((clock.ms - 2500) / 1000) + 10)],
  );
  assert.deepEqual(emitted, [{ event: 'RatelimitExceeded', message: 'Rate Limit Exceeded', key: 'hash of key' }]);
});

test('quota exceeded: 403 until the period, which started with the first request, ends', async () => {
  const { api, clock, emitted } = limitsBench();
  const session = keySession({ quota_max: 3, quota_renewal_rate: 3600 });
  const { statuses, call } = api();
  clock.ms += 1_234_567;
  assert.deepEqual(await statuses(session, 3), repeatOk(3));
  const response = await call(session);
  assert.equal(response.status, 403);
  assert.equal(text(response), '{\n    "error": "Quota exceeded"\n}');
  assert.equal(response.headers.get('x-ratelimit-limit'), undefined);
  assert.deepEqual(emitted, [{ event: 'QuotaExceeded', message: 'Key Quota Limit Exceeded', key: 'hash of key' }]);
  clock.ms += 3_599_999;
  assert.deepEqual(await statuses(session, 1), repeatRefusal(1, 403));
  clock.ms += 1;
  assert.deepEqual(await statuses(session, 4), [...repeatOk(3), ...repeatRefusal(1, 403)]);
});

test('quota without renewal: stays exceeded', async () => {
  const { api, clock } = limitsBench();
  for (const quota_renewal_rate of [0, -1]) {
    const session = keySession({ quota_max: 2, quota_renewal_rate });
    const keyId = `key ${quota_renewal_rate}`;
    assert.deepEqual(await api().statuses(session, 3, { keyId }), [200, 200, 403]);
    clock.ms += 10 ** 12;
    assert.deepEqual(await api().statuses(session, 1, { keyId }), [403]);
  }
});

test('quota exceeded: refused requests count, so a smaller raise of the quota stays exceeded', async () => {
  const { api } = limitsBench();
  const withQuota = (quota_max: number) => keySession({ quota_max, quota_renewal_rate: 3600 });
  assert.deepEqual(await api().statuses(withQuota(2), 5), [...repeatOk(2), ...repeatRefusal(3, 403)]);
  assert.deepEqual(await api().statuses(withQuota(5), 1), [403]);
  assert.deepEqual(await api().statuses(withQuota(8), 3), [...repeatOk(2), 403]);
});

test('rate limit exceeded: the request does not count against the quota', async () => {
  const { api, clock } = limitsBench();
  const session = keySession({ rate: 1, per: 1, quota_max: 3, quota_renewal_rate: 3600 });
  for (let n = 0; n < 3; n++) {
    assert.deepEqual(await api().statuses(session, 4), [200, 429, 429, 429]);
    clock.ms += 1000;
  }
  assert.deepEqual(await api().statuses(session, 1), [403]);
});

test('key limits: APIs share those of the key, those of an access right are per API', async () => {
  const { api } = limitsBench();
  const rights = (limit: ApiLimit = {}) => ({ api: { limit }, other: { limit } });
  const shared = keySession({ quota_max: 3, quota_renewal_rate: 60, rate: 100, per: 60, access_rights: rights() });
  const other = api({ api_id: 'other' });
  assert.deepEqual(await api().statuses(shared, 2, { keyId: 'shared' }), repeatOk(2));
  assert.deepEqual(await other.statuses(shared, 2, { keyId: 'shared' }), [200, 403]);
  const own = { quota_max: 2, quota_renewal_rate: 60, rate: 3, per: 60 };
  const apart = keySession({ quota_max: 1, quota_renewal_rate: 60, access_rights: rights(own) });
  assert.deepEqual(await api().statuses(apart, 4, { keyId: 'apart' }), [200, 200, 403, 429]);
  assert.deepEqual(await other.statuses(apart, 4, { keyId: 'apart' }), [200, 200, 403, 429]);
});

test('policy limits: counted per policy, and per API where the policy sets it', async () => {
  const policy = (id: string, apis: string[], more = {}) => ({
    id,
    org_id: orgId,
    state: 'active' as const,
    quota_max: 2,
    quota_renewal_rate: 60,
    access_rights: Object.fromEntries(apis.map(apiId => [apiId, {}])),
    ...more,
  });
  const { api } = limitsBench();
  const [one, two, three] = ['one', 'two', 'three'].map(api_id => api({ api_id }));
  const several = keySession({ access_rights: {}, apply_policies: ['p', 'q'] }, [
    policy('p', ['one', 'two']),
    policy('q', ['three']),
  ]);
  assert.deepEqual(await one!.statuses(several, 2), [200, 200]);
  assert.deepEqual(await two!.statuses(several, 1), [403]);
  assert.deepEqual(await three!.statuses(several, 3), [200, 200, 403]);
  const limit = { quota_max: 1, quota_renewal_rate: 60 };
  const perApi = policy('r', [], {
    partitions: { per_api: true },
    access_rights: { one: { limit }, two: { limit }, three: {} },
  });
  const session = keySession({ access_rights: {}, apply_policies: ['r'] }, [perApi]);
  for (const [it, expected] of [
    [one, [200, 403]],
    [two, [200, 403]],
    [three, [200, 200, 403]],
  ] as const)
    assert.deepEqual(await it!.statuses(session, expected.length, { keyId: 'per api' }), expected);
});

test('endpoint limit of a key: replaces the rate of the key, with its own counter', async () => {
  const endpoints = [
    { path: '/reports/{id}', methods: [{ name: 'GET', limit: { rate: 1, per: 60 } }] },
    { path: '/broken/[', methods: [{ name: 'GET', limit: { rate: 1, per: 60 } }] },
  ];
  const session = keySession({ rate: 3, per: 60, access_rights: { api: { endpoints } } });
  const { api, emitted } = limitsBench();
  const { statuses } = api();
  assert.deepEqual(await statuses(session, 2, { path: '/reports/1' }), [200, 429]);
  assert.deepEqual(emitted.splice(0), [
    { event: 'RatelimitExceeded', message: 'Rate Limit Exceeded', key: 'hash of key' },
  ]);
  assert.deepEqual(await statuses(session, 1, { path: '/reports/2' }), [429]);
  assert.deepEqual(await statuses(session, 1, { path: '/reports/1', method: 'POST' }), [200]);
  assert.deepEqual(await statuses(session, 3, { path: '/broken/[' }), [200, 200, 429]);
});

test('API settings disable rate limits, quotas, or both', async () => {
  const { api } = limitsBench();
  const session = keySession({ rate: 2, per: 60, quota_max: 3, quota_renewal_rate: 60 });
  assert.deepEqual(await api({ disable_quota: true }).statuses(session, 5, { keyId: 'a' }), [
    ...repeatOk(2),
    ...repeatRefusal(3),
  ]);
  assert.deepEqual(await api({ disable_rate_limit: true }).statuses(session, 5, { keyId: 'b' }), [
    ...repeatOk(3),
    ...repeatRefusal(2, 403),
  ]);
  const neither = api({ disable_rate_limit: true, disable_quota: true });
  assert.deepEqual(await neither.statuses(session, 5, { keyId: 'c' }), repeatOk(5));
});

test('counter pattern: keys with the same text share counters within their organisation', async () => {
  const withPattern = (rate_limit_pattern: string, more = {}) =>
    keySession({ rate: 2, per: 60, meta_data: { rate_limit_pattern, team: 'blue' }, ...more });
  const { api } = limitsBench();
  const { statuses } = api();
  const session = withPattern('team-$gw_meta.team');
  assert.deepEqual(await statuses(session, 1, { keyId: 'one' }), [200]);
  assert.deepEqual(await statuses(session, 2, { keyId: 'two' }), [200, 429]);
  assert.deepEqual(await statuses({ ...session, orgId: 'another' }, 1, { keyId: 'three' }), [200]);
  const empty = withPattern('$gw_meta.nothing$gw_context.nothing');
  for (const keyId of ['four', 'five']) assert.deepEqual(await statuses(empty, 3, { keyId }), [200, 200, 429]);
  const byCaller = withPattern('$gw_context.remote_addr');
  for (const address of ['1.1.1.1', 'x'.repeat(1000)]) {
    const from = { with: (call: object) => void Object.assign(call, { context: { remote_addr: address } }) };
    assert.deepEqual(await statuses(byCaller, 3, from), [200, 200, 429]);
  }
});

test('counter pattern: cannot name counters of a key or of another scope', async () => {
  const { api } = limitsBench();
  const plain = keySession({ rate: 1, per: 60 });
  assert.deepEqual(await api().statuses(plain, 1, { keyId: 'victim' }), [200]);
  const patterns = ['k:victim', '0::k:victim', 'rate:0::k:victim', 'victim'];
  for (const rate_limit_pattern of patterns)
    assert.deepEqual(
      await api().statuses(keySession({ rate: 1, per: 60, meta_data: { rate_limit_pattern } }), 1),
      [200],
    );
});

test('key limits: a loop counts only with check_limits, an endpoint without auth never', async () => {
  const { api } = limitsBench();
  const session = keySession({ rate: 1, per: 60, quota_max: 1, quota_renewal_rate: 60 });
  const { statuses } = api({ global_rate_limit: { rate: 1, per: 60 } });
  const looping = { with: (call: { loopCount: number }) => void call.loopCount++ };
  assert.deepEqual(await statuses(session, 5, looping), repeatOk(5));
  const checked = {
    with(call: { loopCount: number; checkLimitsInLoop: boolean }) {
      call.loopCount++;
      call.checkLimitsInLoop = true;
    },
  };
  assert.deepEqual(await statuses(session, 2, checked), [200, 429]);
  const open = { keyId: 'other', with: (call: object) => void Object.assign(call, { skipsAuth: true }) };
  assert.deepEqual(await api().statuses(session, 5, open), repeatOk(5));
});

test('key limits: asynchronous counters give the same results', async () => {
  const { api } = limitsBench({
    counters: local => ({
      take: async (...asked) => local.take(...asked),
      peek: async (...asked) => local.peek(...asked),
      slide: async (...asked) => local.slide(...asked),
      reset: async name => local.reset(name),
    }),
  });
  const session = keySession({ rate: 4, per: 60, quota_max: 2, quota_renewal_rate: 60 });
  const { call } = api({ global_rate_limit: { rate: 3, per: 60 } });
  const given = await Promise.all(Array.from({ length: 10 }, () => call(session)));
  assert.deepEqual(given.map(it => it.status).sort(), [200, 200, 403, 403, ...repeatRefusal(6)]);
});

test('context variables: later steps can use the limits in headers and bodies', async () => {
  const { api, clock } = limitsBench();
  const session = keySession({ rate: 4, per: 60, quota_max: 2, quota_renewal_rate: 3600 });
  const { exchange, walk } = api();
  const call = exchange(session);
  call.context = {};
  await walk(call);
  assert.deepEqual(call.context, {
    rate_limit_limit: 4,
    rate_limit_remaining: 3,
    rate_limit_reset: clock.ms / 1000 + 60,
    quota_limit: 2,
    quota_remaining: 1,
    quota_reset: clock.ms / 1000 + 3600,
  });
});

test('context variables: those of rate and quota are set independently', async () => {
  const { api, clock } = limitsBench();
  const contextOf = async (key: Key, keyId: string) => {
    const { exchange, walk } = api();
    const call = exchange(keySession(key), { keyId });
    call.context = {};
    await walk(call);
    return call.context;
  };
  assert.deepEqual(await contextOf({ rate: 4, per: 60 }, 'rate alone'), {
    rate_limit_limit: 4,
    rate_limit_remaining: 3,
    rate_limit_reset: clock.ms / 1000 + 60,
  });
  assert.deepEqual(await contextOf({ quota_max: 2, quota_renewal_rate: 3600 }, 'quota alone'), {
    quota_limit: 2,
    quota_remaining: 1,
    quota_reset: clock.ms / 1000 + 3600,
  });
});

test('quota monitor: a threshold emits one event, from the request that reaches it', async () => {
  const { api, emitted, clock } = limitsBench({
    settings: { 'limits.monitor_keys': 'true', 'limits.monitor_percent': '50' },
  });
  const session = keySession({
    quota_max: 10,
    quota_renewal_rate: 3600,
    monitor: { trigger_limits: [90, 80, 50, 12.5] },
  });
  await api().statuses(session, 12);
  const exceeded = emitted.splice(0).filter(it => it.event === 'TriggerExceeded');
  assert.deepEqual(
    exceeded.map(it => [it.trigger_limit, it.usage_percentage]),
    [
      [12.5, 20],
      [50, 50],
      [80, 80],
      [90, 90],
    ],
  );
  const { event, message, org_id, key } = exceeded[0]!;
  assert.deepEqual(
    { event, message, org_id, key },
    { event: 'TriggerExceeded', message: 'Quota trigger reached', org_id: orgId, key: 'hash of key' },
  );
  clock.ms += 3_600_000;
  await api().statuses(session, 2);
  assert.deepEqual(
    emitted.map(it => it.trigger_limit),
    [12.5],
  );
  const quiet = limitsBench();
  await quiet.api().statuses(session, 12);
  assert.ok(!quiet.events().includes('TriggerExceeded'));
});
