import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { eventually, openApi, publish, storeUnchecked, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { handling, webhook } from '../support/webhooks.ts';

describe('Upstream addresses', () => {
  let app: TestApp;
  let upstream: Upstream;
  let logged = '';
  before(async () => {
    upstream = await startUpstream();
    app = await startApp('sqlite', {
      onTrafficLog(lines) {
        logged += lines;
      },
    });
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  const answerAt = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(url, init);
    return { status: response.status, text: await response.text() };
  };
  const refused = { status: 502, text: '{"error":"The upstream address is not allowed"}' };
  const plain = ({ status, text }: { status: number; text: string }) => ({
    status,
    text: text.replace(/\s+(?=["{}])/g, ''),
  });

  test('a host name of this machine with a management port is refused, and the reason is logged', async () => {
    const { port } = new URL(app.url.dashboard);
    const url = await publish(app, openApi({ url: `http://localhost:${port}` }));
    const got = await answerAt(`${url}/admin/organisations`, {
      headers: { 'admin-auth': app.credentials.admin_secret },
    });
    assert.deepEqual(plain(got), refused);
    await eventually(() => assert.match(logged, /upstream_address_refused.*a management listener/));
    assert.ok(!got.text.includes(port) && !got.text.includes('127.0.0.1'));
  });

  test('an upstream host chosen by the client is subject to the same rules', async () => {
    const { port } = new URL(app.url.portal);
    const rewrite = { path: '/h', method: 'GET', match_pattern: '/h\\?h=(.*)', rewrite_to: 'http://$1/x' };
    const version = { name: 'Default', use_extended_paths: true, extended_paths: { url_rewrites: [rewrite] } };
    const definition = openApi(upstream, { version_data: { not_versioned: true, versions: { Default: version } } });
    const url = await publish(app, definition);
    assert.equal((await answerAt(`${url}/h?h=127.0.0.1:${upstream.port}`)).status, 200);
    const before = upstream.requests.length;
    for (const host of [
      `0.0.0.0:${upstream.port}`,
      `[::]:${upstream.port}`,
      `[::ffff:0.0.0.0]:${upstream.port}`,
      '169.254.169.254',
      '[fd00:ec2::254]',
      'metadata.google.internal',
      `127.0.0.1:${port}`,
      `127.1:${port}`,
      `[::ffff:7f00:1]:${port}`,
      `localhost:${port}`,
    ])
      assert.deepEqual(plain(await answerAt(`${url}/h?h=${host}`)), refused, host);
    assert.equal(upstream.requests.length, before);
  });
});

describe('Networks of organisations', () => {
  let app: TestApp;
  let upstream: Upstream;
  let tenant: Awaited<ReturnType<TestApp['stranger']>>;
  before(async () => {
    upstream = await startUpstream();
    app = await startApp('sqlite', {
      settings: { 'tenants.grants': '{}', 'events.max_attempts': '1', 'uptime.interval_ms': '50' },
    });
    tenant = await app.stranger();
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  async function publishAs(credential: string, definition: ReturnType<typeof openApi>): Promise<string> {
    const { status, text } = await app.ask('POST', '/api/apis', { credential, body: { api_definition: definition } });
    assert.equal(status, 200, text);
    await waitUntilApplied(app);
    return app.url.gateway + definition.proxy.listen_path;
  }
  const grant = async (networks: readonly string[]) => {
    const { status, text } = await app.ask('PUT', `/admin/organisations/${tenant.orgId}/grants`, {
      body: { networks },
    });
    assert.equal(status, 200, text);
    await waitUntilApplied(app);
  };
  const statusAt = async (url: string) => {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  };

  test('a tenant reaches only public addresses unless the operator grants a network, and until the grant is revoked', async () => {
    const url = await publishAs(tenant.accessKey, openApi(upstream));
    const own = await publishAs(app.credentials.admin_access_key, openApi(upstream));
    assert.deepEqual([await statusAt(url), await statusAt(own)], [502, 200]);
    await grant(['public', 'loopback']);
    assert.equal(await statusAt(url), 200);
    await grant(['public', '127.0.0.0/8']);
    assert.equal(await statusAt(url), 200);
    await grant(['private']);
    assert.deepEqual([await statusAt(url), await statusAt(own)], [502, 200]);
  });

  test('no grant gives access to the management listeners', async () => {
    await grant(['public', 'private', 'loopback', '0.0.0.0/0']);
    const definition = openApi(upstream);
    const url = await publishAs(tenant.accessKey, definition);
    await storeUnchecked(app, tenant.orgId, {
      ...definition,
      proxy: { ...definition.proxy, target_url: app.url.dashboard },
    });
    assert.equal(await statusAt(`${url}/hello`), 502);
  });

  test('key sets, service registries and uptime tests of a tenant are limited to its networks', async () => {
    await grant(['public']);
    const countRequests = () =>
      upstream.requests.filter(({ url }) => /^\/(?:jwks|registry|alive|token)/.test(url)).length;
    const jwt = openApi(upstream, {
      use_keyless: false,
      enable_jwt: true,
      jwt_signing_method: 'rsa',
      jwt_source: `${upstream.url}/jwks`,
      jwt_identity_base_field: 'sub',
    });
    const discovery = { use_discovery_service: true, query_endpoint: `${upstream.url}/registry`, data_path: 'host' };
    const found = openApi(upstream, { proxy: { service_discovery: discovery } });
    const tested = openApi(upstream, { uptime_tests: { check_list: [{ url: `${upstream.url}/alive` }] } });
    const token = 'eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.eyJzdWIiOiJhIn0.AAAA';
    const ask = async (credential: string, suffix: string) => {
      for (const definition of [jwt, found, tested])
        await publishAs(credential, {
          ...definition,
          api_id: `${definition.api_id}${suffix}`,
          proxy: { ...definition.proxy, listen_path: `${definition.proxy.listen_path}${suffix}` },
        });
      await fetch(`${app.url.gateway}${jwt.proxy.listen_path}${suffix}`, { headers: { authorization: token } });
      await fetch(`${app.url.gateway}${found.proxy.listen_path}${suffix}`);
    };
    await ask(tenant.accessKey, 't');
    assert.equal(countRequests(), 0);
    await ask(app.credentials.admin_access_key, 'o');
    const paths = () => new Set(upstream.requests.map(({ url }) => url));
    await eventually(() => assert.ok(['/jwks', '/registry', '/alive'].every(path => paths().has(path))));
  });

  test('a webhook of a tenant is limited to its networks, and its log omits the address', async () => {
    await grant(['public']);
    const hook = webhook(`http://localhost:${upstream.port}/refused`);
    const definition = openApi(upstream, { use_keyless: false, ...handling('AuthFailure', hook) });
    const url = await publishAs(tenant.accessKey, definition);
    assert.equal((await fetch(url, { headers: { authorization: 'unknown' } })).status, 403);
    const { error } = await eventually(async () => {
      const { body } = await app.ask('GET', '/api/deliveries', { credential: tenant.accessKey });
      assert.equal(body.deliveries[0]?.state, 'dead');
      return body.deliveries[0];
    });
    assert.match(error, /localhost cannot be resolved, or requests to it are not allowed/);
    assert.ok(!upstream.requests.some(({ url: path }) => path === '/refused'));
  });
});
