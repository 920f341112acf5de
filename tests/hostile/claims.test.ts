import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi, publish } from '../support/traffic.ts';
import { withSettings } from '../support/with-settings.ts';
import { rawRequest } from './raw-request.ts';

const claims = [
  ...['CF-Connecting-IP', 'True-Client-IP', 'Fastly-Client-IP', 'X-Envoy-External-Address', 'X-Azure-ClientIP'],
  ...['WL-Proxy-Client-IP', 'X-Appengine-User-IP', 'X-Client-Cert', 'X-Client-Cert-Chain', 'SSL-Client-Verify'],
  ...['SSL-Client-S-DN', 'X-SSL-Client-DN', 'X-Waws-Unencoded-Url', 'X-Remote-User', 'Remote-User', 'Client-Cert'],
  ...['X-Forwarded-Client-Cert', 'X-Original-Uri', 'Fly-Client-IP', 'X-Auth-Request-Email', 'X-Amzn-Mtls-Clientcert'],
];
const createClaims = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, 'claimed']));

withSettings('Client identity headers', {}, (app, upstream) => {
  test('identity headers of an untrusted client are removed in any spelling', async () => {
    const url = await publish(app(), openApi(upstream()));
    const spellings = claims.flatMap(name => [name, name.toUpperCase(), name.replaceAll('-', '_')]);
    await rawRequest(url, { ...createClaims(spellings), 'X-Harmless': 'kept' });
    const { headers } = upstream().requests.at(-1)!;
    const passed = Object.entries(headers).filter(([, value]) => String(value).includes('claimed'));
    assert.deepEqual(passed, []);
    assert.equal(headers['x-harmless'], 'kept');
  });

  test('credentials of the installation are not forwarded to upstreams', async () => {
    const url = await publish(app(), openApi(upstream()));
    await rawRequest(url, { 'X-Gw-Authorization': 'secret', 'Admin-Auth': 'secret', x_gw_authorization: 'secret' });
    assert.ok(!JSON.stringify(upstream().requests.at(-1)!.headers).includes('secret'));
  });

  test('an API that reads its key from such a header receives it', async () => {
    const definition = openApi(upstream(), {
      use_keyless: false,
      use_standard_auth: true,
      auth_configs: { authToken: { auth_header_name: 'X-Gw-Authorization' } },
    });
    const url = await publish(app(), definition);
    const rights = { [definition.api_id]: { api_id: definition.api_id, api_name: 'Test', versions: ['Default'] } };
    const key = await app().ask('POST', '/api/keys', {
      body: { rate: 0, per: 0, quota_max: -1, access_rights: rights },
    });
    assert.equal(key.status, 200, key.text);
    assert.equal(await rawRequest(url, { 'X-Gw-Authorization': key.body.key_id }), 200);
    assert.equal(await rawRequest(url, { 'X-Gw-Authorization': 'other' }), 403);
  });

  test('a double-encoded path is refused', async () => {
    const url = await publish(app(), openApi(upstream()));
    for (const path of ['/%252e%252e/admin', '/%2561dmin', '/o/..%252fx', '/a%255Cb', '/%25252e'])
      assert.equal(await rawRequest(url + path, {}), 400, path);
    assert.equal(await rawRequest(`${url}/100%25`, {}), 200);
    assert.equal(await rawRequest(`${url}/100%25/x%25zz`, {}), 200);
    assert.equal(await rawRequest(`${url}/q?a=%2561`, {}), 200);
  });
});

withSettings(
  'Client identity headers of trusted proxies',
  { 'gateway.trusted_proxies': '127.0.0.1' },
  (app, upstream) => {
    test('identity headers of a trusted proxy are forwarded', async () => {
      await rawRequest(
        await publish(app(), openApi(upstream())),
        createClaims(['CF-Connecting-IP', 'SSL-Client-Verify']),
      );
      const { headers } = upstream().requests.at(-1)!;
      assert.deepEqual([headers['cf-connecting-ip'], headers['ssl-client-verify']], ['claimed', 'claimed']);
    });
  },
);

const claimSetting = 'X-Tenant,x-who-*,x-gw-*,!remote-user,!ssl-client-*';
const settingNames = ['X-Tenant', 'X-Who-Am-I', 'Remote-User', 'SSL-Client-Verify', 'X-Remote-User'];
const batchOf = (headers: Record<string, string>) =>
  JSON.stringify({ requests: [{ relative_url: 'a', headers }, { relative_url: 'b' }] });

withSettings(
  'gateway.client_claim_headers in batch parts',
  { 'gateway.client_claim_headers': claimSetting, 'gateway.trusted_proxies': '127.0.0.1' },
  (app, upstream) => {
    const findClaimedNames = (headers: object, value: string) =>
      Object.entries(headers).flatMap(([name, given]) => (given === value ? [name] : []));

    test('identity headers of a batch part are removed, and those of the trusted proxy that sent the batch apply', async () => {
      const url = await publish(app(), openApi(upstream(), { enable_batch_request_support: true }));
      const before = upstream().requests.length;
      const whole = { ...Object.fromEntries(settingNames.map(name => [name, 'proxy'])), 'X-Gw-Explain': 'proxy' };
      const body = batchOf(createClaims(settingNames));
      const answered = await fetch(`${url}/gw/batch/`, { method: 'POST', headers: whole, body });
      assert.equal(answered.status, 200);
      const [a, b] = upstream()
        .requests.slice(before)
        .sort((one, other) => one.url.localeCompare(other.url));
      assert.deepEqual(findClaimedNames(a!.headers, 'claimed').sort(), ['remote-user', 'ssl-client-verify']);
      for (const { headers } of [a!, b!])
        assert.deepEqual(findClaimedNames(headers, 'proxy').sort(), ['x-remote-user', 'x-tenant', 'x-who-am-i']);
    });
  },
);

withSettings(
  'gateway.client_claim_headers in debug requests',
  { 'gateway.client_claim_headers': claimSetting },
  (app, upstream) => {
    test('identity headers of a debug request are removed', async () => {
      const spec = openApi(upstream());
      const asked = { spec, request: { path: '/a', headers: createClaims(settingNames) } };
      const { status, text } = await app().ask('POST', '/gw/debug', { body: asked });
      assert.equal(status, 200, text);
      const { headers } = upstream().requests.at(-1)!;
      const passed = Object.keys(headers).filter(name => headers[name] === 'claimed');
      assert.deepEqual(passed.sort(), ['remote-user', 'ssl-client-verify']);
    });
  },
);

withSettings(
  'gateway.client_claim_headers',
  {
    'gateway.client_claim_headers': 'X-Tenant,x-who-*,!remote-user,!ssl-client-*',
    'gateway.double_encoding': 'pass',
  },
  (app, upstream) => {
    test('the setting adds and removes header names', async () => {
      const names = ['X-Tenant', 'x_tenant', 'X-Who-Am-I', 'Remote-User', 'SSL-Client-Verify', 'X-Remote-User'];
      await rawRequest(await publish(app(), openApi(upstream())), createClaims(names));
      const { headers } = upstream().requests.at(-1)!;
      const passed = Object.keys(headers).filter(name => headers[name] === 'claimed');
      assert.deepEqual(passed.sort(), ['remote-user', 'ssl-client-verify']);
    });

    test('a double-encoded path is forwarded unchanged', async () => {
      const url = await publish(app(), openApi(upstream()));
      assert.equal(await rawRequest(`${url}/%2561dmin`, {}), 200);
      assert.equal(upstream().requests.at(-1)!.url, '/%2561dmin');
    });
  },
);
