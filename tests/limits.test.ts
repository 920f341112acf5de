import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from './support/app.ts';
import { openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Limits from management to traffic and back, through real sockets. */

const upstreams = { open: undefined as Upstream | undefined };
before(async () => {
  upstreams.open = await startUpstream();
});
after(() => upstreams.open?.close());

async function publishLimited(app: TestApp, key: object, definition: object = {}) {
  const api = openApi(upstreams.open!, { use_keyless: false, ...definition });
  const url = await publish(app, api);
  const rights = { [api.api_id]: {} };
  const made = await app.ask('POST', `/api/keys/${createPublicId()}`, { body: { access_rights: rights, ...key } });
  assert.equal(made.status, 200, made.text);
  await waitUntilApplied(app);
  const id: string = made.body.key_id;
  const headers = { authorization: id };
  return {
    id,
    rights,
    url,
    call: (path = '/') => fetch(url + path, { headers }),
    async statuses(times: number) {
      const found: number[] = [];
      for (let n = 0; n < times; n++) {
        const reply = await fetch(`${url}/`, { headers });
        await reply.text();
        found.push(reply.status);
      }
      return found;
    },
    read: async () => (await app.ask('GET', `/api/keys/${encodeURIComponent(id)}`)).body.data,
    async change(body: object, query = '') {
      const path = `/api/keys/${encodeURIComponent(id)}${query}`;
      const changed = await app.ask('PUT', path, { body: { access_rights: rights, ...body } });
      assert.equal(changed.status, 200, changed.text);
      await waitUntilApplied(app);
    },
  };
}

onEveryEngine('Rate limits and quotas', current => {
  test('a key beyond its rate limit gets 429 with Retry-After', async () => {
    const { statuses, call } = await publishLimited(current(), { rate: 2, per: 3600 });
    assert.deepEqual(await statuses(3), [200, 200, 429]);
    const reply = await call();
    assert.equal(await reply.text(), '{\n    "error": "Rate Limit Exceeded"\n}');
    assert.ok(Number(reply.headers.get('retry-after')) > 3000);
  });

  test('a quota is in the response headers and on the key, and a request beyond it gets 403', async () => {
    const { call, read, statuses } = await publishLimited(current(), { quota_max: 3, quota_renewal_rate: 3600 });
    assert.equal((await read()).quota_remaining, 3);
    const reply = await call();
    assert.equal(reply.headers.get('x-ratelimit-limit'), '3');
    assert.equal(reply.headers.get('x-ratelimit-remaining'), '2');
    const { quota_remaining, quota_renews } = await read();
    assert.equal(quota_remaining, 2);
    assert.equal(reply.headers.get('x-ratelimit-reset'), String(quota_renews));
    assert.deepEqual(await statuses(3), [200, 200, 403]);
    assert.equal((await read()).quota_remaining, 0);
  });

  test('updating a key resets its counters, unless suppress_reset is set', async () => {
    const limits = { rate: 2, per: 3600, quota_max: 3, quota_renewal_rate: 3600 };
    const { statuses, change, read } = await publishLimited(current(), limits);
    assert.deepEqual(await statuses(3), [200, 200, 429]);
    await change({ ...limits, alias: 'as before' }, '?suppress_reset=1');
    assert.deepEqual(await statuses(1), [429]);
    assert.equal((await read()).quota_remaining, 1);
    await change({ ...limits, alias: 'anew' });
    assert.equal((await read()).quota_remaining, 3);
    assert.deepEqual(await statuses(3), [200, 200, 429]);
  });

  test('with dont_set_quota_on_create a key update does not reset the quota', async () => {
    const limits = { quota_max: 2, quota_renewal_rate: 3600 };
    const { statuses, change } = await publishLimited(current(), limits, { dont_set_quota_on_create: true });
    assert.deepEqual(await statuses(3), [200, 200, 403]);
    await change(limits);
    assert.deepEqual(await statuses(1), [403]);
  });

  test('a key deleted and created again under the same id starts with fresh counters, also per API', async () => {
    const app = current();
    const limit = { quota_max: 1, quota_renewal_rate: -1 };
    const key = await publishLimited(app, {});
    const rights = Object.fromEntries(Object.keys(key.rights).map(apiId => [apiId, { limit }]));
    await key.change({ access_rights: rights });
    assert.deepEqual(await key.statuses(2), [200, 403]);
    const shown = Object.values((await key.read()).access_rights)[0] as { limit: object };
    assert.deepEqual({ ...shown.limit }, { ...shown.limit, quota_remaining: 0, quota_renews: 0 });
    const path = `/api/keys/${encodeURIComponent(key.id)}`;
    assert.equal((await app.ask('DELETE', path)).status, 200);
    assert.equal((await app.ask('POST', path, { body: { access_rights: rights } })).status, 200);
    await waitUntilApplied(app);
    assert.deepEqual(await key.statuses(2), [200, 403]);
  });

  test('/gw/rate-limits/ returns the limits of a key without consuming them, and 401 without a key', async () => {
    const limits = { rate: 5, per: 60, quota_max: 3, quota_renewal_rate: 3600 };
    const { call, url, statuses } = await publishLimited(current(), limits);
    await statuses(1);
    for (let n = 0; n < 3; n++) {
      const reply = await call('/gw/rate-limits/');
      const { quota, rate_limit } = (await reply.json()) as { quota: object; rate_limit: object };
      assert.deepEqual({ ...quota, quota_renews: 0 }, { quota_max: 3, quota_remaining: 2, quota_renews: 0 });
      assert.deepEqual(rate_limit, { requests: 5, per_unit: 60 });
    }
    assert.equal((await fetch(`${url}/gw/rate-limits/`)).status, 401);
  });

  test('an API rate limit applies to all its clients together', async () => {
    const app = current();
    const open = openApi(upstreams.open!, { global_rate_limit: { rate: 2, per: 3600 } });
    const url = await publish(app, open);
    const found: number[] = [];
    for (let n = 0; n < 3; n++) found.push((await fetch(url)).status);
    assert.deepEqual(found, [200, 200, 429]);
  });
});

onEveryEngine(
  'limits of hashed keys',
  current => {
    test('the quota of a hashed key can be read and reset by its hash', async () => {
      const app = current();
      const limits = { quota_max: 2, quota_renewal_rate: 3600 };
      const { statuses, id, rights } = await publishLimited(app, limits);
      assert.deepEqual(await statuses(3), [200, 200, 403]);
      const { key_hash } = (await app.ask('GET', `/api/keys/${encodeURIComponent(id)}`)).body;
      const path = `/api/keys/${key_hash}`;
      assert.equal((await app.ask('GET', path)).body.data.quota_remaining, 0);
      assert.equal((await app.ask('PUT', path, { body: { access_rights: rights, ...limits } })).status, 200);
      await waitUntilApplied(app);
      assert.deepEqual(await statuses(3), [200, 200, 403]);
    });
  },
  { settings: { 'keys.at_rest': 'hashed' } },
);

onEveryEngine(
  'limits of organisations',
  current => {
    test('a quota of an organisation applies to all its APIs together until it is deleted', async () => {
      const app = current();
      const { org_id } = (await app.ask('GET', '/api/users/me')).body;
      const one = await publish(app, openApi(upstreams.open!));
      const two = await publish(app, openApi(upstreams.open!));
      const body = { org_id, quota_max: 2, quota_renewal_rate: 3600 };
      assert.equal((await app.ask('POST', '/admin/org/keys', { body })).status, 200);
      await waitUntilApplied(app);
      const statuses = async () => [(await fetch(one)).status, (await fetch(two)).status, (await fetch(one)).status];
      assert.deepEqual(await statuses(), [200, 200, 403]);
      const path = `/admin/org/keys/${org_id}`;
      assert.equal((await app.ask('GET', path)).body.data.quota_remaining, 0);
      assert.equal((await app.ask('PUT', path, { body })).status, 200);
      await waitUntilApplied(app);
      assert.deepEqual(await statuses(), [200, 200, 403]);
      assert.equal((await app.ask('DELETE', path)).status, 200);
      await waitUntilApplied(app);
      assert.deepEqual(await statuses(), [200, 200, 200]);
    });
  },
  { settings: { 'limits.organisations': 'true' } },
);
