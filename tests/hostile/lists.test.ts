import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi, publish, waitUntilApplied } from '../support/traffic.ts';
import type { Upstream } from '../support/upstream.ts';
import { withSettings } from '../support/with-settings.ts';
import { rawRequest } from './raw-request.ts';

const lists = (upstream: Upstream, extended_paths: object, more: object = {}) =>
  openApi(upstream, {
    version_data: {
      not_versioned: true,
      versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
    },
    ...more,
  });
const head = (url: string) => rawRequest(url, {}, 'HEAD');
const get = (url: string) => rawRequest(url, {});

withSettings('Allow, block and ignore lists', {}, (app, upstream) => {
  test('an allow list with only reply entries blocks every other endpoint', async () => {
    const reply = { GET: { action: 'reply', code: 418, data: 'made', headers: {} } };
    const definition = lists(upstream(), { white_list: [{ path: '/made', method_actions: reply }] });
    const url = await publish(app(), definition);
    const before = upstream().requests.length;
    assert.deepEqual(
      [await get(`${url}/made`), await get(`${url}/other`), await rawRequest(`${url}/made`, {}, 'POST')],
      [418, 403, 403],
    );
    assert.equal(upstream().requests.length, before);
  });

  test('a reply entry of an ignore list is served without a key', async () => {
    const reply = { GET: { action: 'reply', code: 418, data: 'made', headers: {} } };
    const ignored = [{ path: '/open', method_actions: reply }];
    const url = await publish(
      app(),
      lists(upstream(), { ignored }, { use_keyless: false, use_standard_auth: true, auth_configs: { authToken: {} } }),
    );
    assert.deepEqual([await get(`${url}/open`), await get(`${url}/closed`)], [418, 401]);
  });

  test('HEAD is blocked, allowed, mocked and rate limited like GET', async () => {
    const blocked = await publish(app(), lists(upstream(), { black_list: [{ path: '/b', method: 'GET' }] }));
    assert.deepEqual([await head(`${blocked}/b`), await head(`${blocked}/c`)], [403, 200]);
    const allowed = await publish(app(), lists(upstream(), { white_list: [{ path: '/a', method: 'GET' }] }));
    assert.deepEqual([await head(`${allowed}/a`), await head(`${allowed}/c`)], [200, 403]);
    const mocked = await publish(
      app(),
      lists(upstream(), { mock_response: [{ path: '/m', method: 'GET', code: 418, body: 'x', headers: {} }] }),
    );
    assert.equal(await head(`${mocked}/m`), 418);
    const limited = await publish(
      app(),
      lists(upstream(), { rate_limit: [{ path: '/l', method: 'GET', rate: 1, per: 60 }] }),
    );
    assert.deepEqual([await get(`${limited}/l`), await head(`${limited}/l`)], [200, 429]);
  });

  test('HEAD with an entry of its own does not use the entry of GET', async () => {
    const mock = (method: string, code: number) => ({ path: '/m', method, code, body: '', headers: {} });
    const url = await publish(app(), lists(upstream(), { mock_response: [mock('GET', 418), mock('HEAD', 204)] }));
    assert.deepEqual([await head(`${url}/m`), await get(`${url}/m`)], [204, 418]);
  });

  test('OPTIONS with options_passthrough is subject to IP lists, block lists and the body size limit', async () => {
    const CORS = { enable: true, options_passthrough: true };
    const options = (url: string) => rawRequest(url, {}, 'OPTIONS');
    const elsewhere = await publish(
      app(),
      openApi(upstream(), { CORS, enable_ip_whitelisting: true, allowed_ips: ['10.0.0.1'] }),
    );
    assert.equal(await options(elsewhere), 403);
    const url = await publish(app(), lists(upstream(), { black_list: [{ path: '/b', method: '' }] }, { CORS }));
    assert.deepEqual([await options(`${url}/b`), await options(`${url}/c`)], [403, 200]);
    const large = await fetch(`${url}/c`, { method: 'OPTIONS', body: 'x'.repeat(70_000) });
    assert.equal(large.status, 413);
  });
});

const keyOf = async (app: Parameters<typeof publish>[0], apiId: string, allowed_urls: object[]) => {
  const rights = { [apiId]: { api_id: apiId, api_name: 'Test', versions: ['Default'], allowed_urls } };
  const made = await app.ask('POST', '/api/keys', { body: { rate: 0, per: 0, quota_max: -1, access_rights: rights } });
  assert.equal(made.status, 200, made.text);
  await waitUntilApplied(app);
  return String(made.body.key_id);
};

for (const whole of ['false', 'true'])
  withSettings(`allowed_urls, whole paths ${whole}`, { 'gateway.allowed_urls_whole_path': whole }, (app, upstream) => {
    test('allowed_urls match below the listen path, or the whole path with the setting', async () => {
      const definition = openApi(upstream(), {
        use_keyless: false,
        use_standard_auth: true,
        auth_configs: { authToken: {} },
        proxy: { listen_path: '/adm/' },
      });
      const url = await publish(app(), definition);
      const authorization = await keyOf(app(), definition.api_id, [
        { url: '/adm/users', methods: ['GET'] },
        { url: '/below', methods: ['GET'] },
      ]);
      const ask = (path: string, method = 'GET') => rawRequest(url + path, { authorization }, method);
      assert.equal(await ask('/users'), whole === 'true' ? 200 : 403);
      assert.deepEqual(
        [await ask('/below'), await ask('/below', 'HEAD'), await ask('/below', 'POST')],
        [200, 200, 403],
      );
      assert.equal(await ask('/adm/users'), 200);
    });
  });
