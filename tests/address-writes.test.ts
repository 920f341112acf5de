import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Answer, onEveryEngine, type TestApp } from './support/app.ts';
import { openApi } from './support/traffic.ts';
import { handling, webhook } from './support/webhooks.ts';

const upstream = { url: 'http://127.0.0.1:9/' };
const streamsType = { 'content-type': 'application/vnd.gw.streams.oas' };
const version = (members: object) => ({
  version_data: { not_versioned: true, versions: { Default: { name: 'Default', ...members } } },
});
const rewrite = (members: object) =>
  version({
    use_extended_paths: true,
    extended_paths: { url_rewrites: [{ path: '/a', method: 'GET', match_pattern: '.*', ...members }] },
  });

const classicPlaces: Readonly<Record<string, (address: string) => Record<string, unknown>>> = {
  'proxy.target_url': target_url => ({ proxy: { target_url } }),
  'proxy.target_list[1]': address => ({ proxy: { enable_load_balancing: true, target_list: [upstream.url, address] } }),
  'proxy.service_discovery.query_endpoint': query_endpoint => ({
    proxy: { service_discovery: { use_discovery_service: true, query_endpoint } },
  }),
  'proxy.transport.proxy_url': proxy_url => ({ proxy: { transport: { proxy_url } } }),
  'version_data.versions.Default.override_target': override_target => version({ override_target }),
  'version_data.versions.Default.extended_paths.url_rewrites[0].rewrite_to': rewrite_to => rewrite({ rewrite_to }),
  'version_data.versions.Default.extended_paths.url_rewrites[0].triggers[0].rewrite_to': rewrite_to =>
    rewrite({
      rewrite_to: '/b',
      triggers: [{ on: 'any', options: { header_matches: { 'X-A': { match_rx: 'a' } } }, rewrite_to }],
    }),
  'uptime_tests.check_list[0].url': url => ({ uptime_tests: { check_list: [{ url }] } }),
  jwt_source: jwt_source => ({ use_keyless: false, enable_jwt: true, jwt_source }),
  'jwt_jwks_uris[0].url': url => ({ use_keyless: false, enable_jwt: true, jwt_jwks_uris: [{ url }] }),
  'notifications.oauth_on_keychange_url': oauth_on_keychange_url => ({ notifications: { oauth_on_keychange_url } }),
  'upstream_auth.oauth.client_credentials.token_url': token_url => ({
    upstream_auth: { enabled: true, oauth: { enabled: true, client_credentials: { token_url } } },
  }),
  'event_handlers.events.AuthFailure[0].handler_meta.target_path': address =>
    handling('AuthFailure', webhook(address)) as Record<string, unknown>,
};

const gateway = 'x-gw-api-gateway';
const document = (more: Record<string, unknown>) => ({
  [gateway]: {
    info: { name: createPublicId(), state: { active: true } },
    server: { listenPath: { value: `/${createPublicId()}/` }, ...(more.server as object) },
    upstream: { ...upstream, ...(more.upstream as object) },
  },
  'x-gw-streaming': { streams: {} },
});
const oasPlaces: typeof classicPlaces = {
  'upstream.url': url => ({ upstream: { url } }),
  'upstream.loadBalancing.targets[0].url': url => ({
    upstream: { loadBalancing: { enabled: true, targets: [{ url, weight: 1 }] } },
  }),
  'upstream.serviceDiscovery.queryEndpoint': queryEndpoint => ({
    upstream: { serviceDiscovery: { enabled: true, queryEndpoint } },
  }),
  'server.eventHandlers[0].url': url => ({
    server: {
      eventHandlers: [{ enabled: true, trigger: 'AuthFailure', type: 'webhook', name: 'a', method: 'POST', url }],
    },
  }),
};

function assertRefused({ status, body, text }: Answer, expected: number, path: string): void {
  assert.equal(status, expected, `${path}: ${text}`);
  const message: string = body.Message ?? body.message ?? body.errors?.[0];
  assert.ok(message.startsWith(`${path}: connection to `), `${path}: ${text}`);
  assert.match(message, /refused: its address is (?:link-local|unspecified|cloud metadata|a management listener)/);
}

/** Addresses that nothing connects to, whatever an organisation is granted. */
const forbidden = (app: TestApp) => [
  'http://169.254.169.254/latest',
  'https://0.0.0.0:8443',
  'http://[::ffff:169.254.169.254]/',
  'http://0xa9fea9fe/',
  'http://metadata.google.internal/',
  app.url.dashboard,
];

onEveryEngine('literal addresses in writes', app => {
  const add = (definition: object, more: object = {}) =>
    app().ask('POST', '/api/apis', { body: { api_definition: definition, ...more } });
  const addStreams = (body: object) =>
    app().ask('POST', '/api/apis/streams', { headers: streamsType, body: JSON.stringify(body) });

  test('an upstream with a forbidden literal address is refused, in every spelling and on every surface', async () => {
    for (const address of [...forbidden(app()), '169.254.169.254:80', 'tcp://0.0.0.0:80', 'h2c://[fe80::1]:50051']) {
      const definition = openApi({ url: address });
      assertRefused(await add(definition), 400, 'api_definition.proxy.target_url');
      const put = await app().ask('POST', '/gw/apis', { body: definition });
      assertRefused(put, 400, 'proxy.target_url');
      const imported = await app().ask('POST', '/admin/apis/import', {
        body: { apis: [{ api_definition: definition }] },
      });
      assert.match(imported.body.Errors[definition.api_id], /proxy\.target_url: connection to .* refused/);
    }
  });

  test('every address of a definition is checked, in both formats, when it is created and when it is changed', async () => {
    const address = 'http://169.254.169.254/x';
    for (const [path, more] of Object.entries(classicPlaces)) {
      assertRefused(await add(openApi(upstream, more(address))), 400, `api_definition.${path}`);
      const kept = openApi(upstream, more('http://127.0.0.1:9/x'));
      const made = await add(kept);
      assert.equal(made.status, 200, `${path}: ${made.text}`);
      const changed = openApi(upstream, { ...more(address), api_id: kept.api_id });
      const put = await app().ask('PUT', `/api/apis/${kept.api_id}`, { body: { api_definition: changed } });
      assertRefused(put, 400, `api_definition.${path}`);
    }
    for (const [path, more] of Object.entries(oasPlaces)) {
      assertRefused(await addStreams(document(more(address))), 400, `${gateway}.${path}`);
      const made = await addStreams(document(more('http://127.0.0.1:9/x')));
      assert.equal(made.status, 200, `${path}: ${made.text}`);
    }
  });

  test('names, relative targets, documents and free-form values are not refused', async () => {
    const definition = openApi(
      { url: 'http://upstream.example/' },
      {
        ...rewrite({ rewrite_to: '/169.254.169.254/x' }),
        config_data: { url: 'http://169.254.169.254/' },
      },
    );
    const made = await add(definition);
    assert.equal(made.status, 200, made.text);
    const servers = { ...document({}), servers: [{ url: 'http://0.0.0.0:8080' }] };
    const kept = await addStreams(servers);
    assert.equal(kept.status, 200, kept.text);
  });

  test('webhooks of organisations, of definitions and of the portal are refused by the same rules', async () => {
    const hook = { name: 'h', method: 'POST', target_path: upstream.url };
    const { body: made } = await app().ask('POST', '/api/hooks', { body: hook });
    const portalHook = { Name: 'h', URL: upstream.url, Method: 'POST', Events: [] };
    const { body: ofPortal } = await app().ask('POST', '/portal-api/webhooks', { body: portalHook });
    for (const address of forbidden(app())) {
      const body = { ...hook, target_path: address };
      assertRefused(await app().ask('POST', '/api/hooks', { body }), 400, 'target_path');
      assertRefused(await app().ask('PUT', `/api/hooks/${made.ID}`, { body }), 400, 'target_path');
      const hook_references = [{ event_name: 'AuthFailure', hook: { ...hook, target_path: address } }];
      assertRefused(await add(openApi(upstream), { hook_references }), 400, 'hook_references[0].hook.target_path');
      const portal = { ...portalHook, URL: address };
      assertRefused(await app().ask('POST', '/portal-api/webhooks', { body: portal }), 422, 'URL');
      assertRefused(await app().ask('PUT', `/portal-api/webhooks/${ofPortal.ID}`, { body: portal }), 422, 'URL');
    }
    const { body: kept } = await app().ask('GET', `/api/hooks/${made.ID}`);
    assert.equal(kept.target_path, upstream.url);
  });
});
