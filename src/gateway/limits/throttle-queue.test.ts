import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBenches, keySession, limitsBench } from '../../../tests/support/limit-fixtures.ts';
import { eventually } from '../../../tests/support/upstream.ts';

after(closeBenches);

const throttled = { rate: 1, per: 60, throttle_interval: 0.005, throttle_retry_limit: 3000 };
/** Whether a promise has been kept by now. */
const isOpen = async (waiting: Promise<unknown>) => (await Promise.race([waiting, Promise.resolve('open')])) === 'open';

for (const algorithm of ['window', 'sliding']) {
  test(`throttling: a request above the rate waits until it is allowed and counts once (${algorithm})`, async () => {
    const { api, clock, emitted } = limitsBench({ settings: { 'limits.rate_algorithm': algorithm } });
    const session = keySession({ ...throttled, quota_max: 3, quota_renewal_rate: 3600 });
    const { call, statuses } = api();
    assert.deepEqual(await statuses(session, 1), [200]);
    const held = call(session);
    for (const tries of [3, 6]) {
      await eventually(() => assert.ok(emitted.length >= tries, 'it tries again and again'));
      assert.ok(await isOpen(held));
      clock.ms += 30_000;
    }
    await eventually(async () => assert.ok(!(await isOpen(held)), 'it goes on'));
    assert.equal((await held).status, 200);
    assert.ok(emitted.every(it => it.event === 'RatelimitExceeded'));
    clock.ms += 60_000;
    const last = await call(session);
    assert.equal(last.status, 200);
    assert.equal(last.headers.get('x-ratelimit-remaining'), '0');
  });
}

test('throttling: after its retries a request is refused; each failed attempt emits an event', async () => {
  const { api, events } = limitsBench();
  const session = keySession({ ...throttled, throttle_interval: 0.001, throttle_retry_limit: 3 });
  const { call, statuses } = api();
  await statuses(session, 1);
  const response = await call(session);
  assert.equal(response.status, 429);
  assert.ok(response.headers.has('retry-after'));
  assert.deepEqual(events(), Array(4).fill('RatelimitExceeded'));
});

test('throttling: settings of the access right override those of the key; without any a request is refused at once', async () => {
  const limit = { rate: 1, per: 60, throttle_retry_limit: -1 };
  const session = keySession({ ...throttled, access_rights: { api: { limit } } });
  assert.deepEqual(await limitsBench().api().statuses(session, 2), [200, 429]);
});

test('throttling: a disconnected client frees its place', async () => {
  const { api } = limitsBench({ settings: { 'limits.max_throttled_requests': '1' } });
  const session = keySession(throttled);
  const { exchange, walk, call, statuses } = api();
  await statuses(session, 1);
  const leaving = exchange(session);
  const held = walk(leaving);
  await eventually(() => assert.ok(leaving.onDisconnect));
  assert.equal((await call(session)).status, 429, 'there is room for one only');
  leaving.isClientDisconnected = true;
  leaving.onDisconnect?.();
  assert.equal((await held).status, 499);
  assert.equal(leaving.onDisconnect, undefined);
  const next = exchange(session);
  const waiting = walk(next);
  await eventually(() => assert.ok(next.onDisconnect));
  next.isClientDisconnected = true;
  next.onDisconnect?.();
  await waiting;
});

test('throttling: a disconnected client leaves no timer behind', async () => {
  const { api } = limitsBench();
  const countTimers = () => process.getActiveResourcesInfo().filter(it => it === 'Timeout').length;
  const session = keySession({ ...throttled, throttle_interval: 5, throttle_retry_limit: 1 });
  const { exchange, walk, statuses } = api();
  await statuses(session, 1);
  const timersBefore = countTimers();
  const leaving = exchange(session);
  const held = walk(leaving);
  await eventually(() => assert.ok(leaving.onDisconnect));
  assert.equal(countTimers(), timersBefore + 1);
  leaving.isClientDisconnected = true;
  leaving.onDisconnect?.();
  assert.equal((await held).status, 499);
  assert.equal(countTimers(), timersBefore);
});

test('throttling: limits.max_throttled_requests bounds the throttled requests of all APIs together', async () => {
  const { api } = limitsBench({ settings: { 'limits.max_throttled_requests': '1' } });
  const session = keySession({ ...throttled, access_rights: { one: {}, other: {} } });
  const [one, other] = [api({ api_id: 'one' }), api({ api_id: 'other' })];
  await one.statuses(session, 1);
  const leaving = one.exchange(session);
  const held = one.walk(leaving);
  await eventually(() => assert.ok(leaving.onDisconnect));
  const second = other.exchange(session);
  const refused = other.walk(second);
  await eventually(async () => assert.ok(second.onDisconnect || !(await isOpen(refused))));
  assert.equal(second.onDisconnect, undefined, 'it is not held');
  assert.equal((await refused).status, 429);
  leaving.isClientDisconnected = true;
  leaving.onDisconnect?.();
  await held;
  const next = other.exchange(session);
  const waiting = other.walk(next);
  await eventually(() => assert.ok(next.onDisconnect, 'the room that is left serves the other API'));
  next.isClientDisconnected = true;
  next.onDisconnect?.();
  await waiting;
});

test('throttling: no request waits longer than limits.max_throttle_seconds', async () => {
  const { api, clock, emitted } = limitsBench({ settings: { 'limits.max_throttle_seconds': '30' } });
  const { call, statuses } = api();
  const session = keySession({ ...throttled, per: 3600 });
  await statuses(session, 1);
  const held = call(session);
  await eventually(() => assert.ok(emitted.length >= 2));
  clock.ms += 30_000;
  assert.equal((await held).status, 429);
  const slow = keySession({ ...throttled, per: 3600, throttle_interval: 31 });
  assert.deepEqual(await statuses(slow, 2, { keyId: 'slow' }), [200, 429]);
});
