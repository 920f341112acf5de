import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lintModel, lintRules } from './lint-rules.ts';
import { classicToModel, oasToModel } from './model.ts';
import { listReferenceRows } from './reference-rows.ts';

const classic = (more: object = {}) => ({
  name: 'Orders',
  active: true,
  use_keyless: false,
  use_standard_auth: true,
  ...more,
  proxy: { listen_path: '/orders/', target_url: 'https://orders.example/', ...(more as { proxy?: object }).proxy },
});

const find = (definition: object) =>
  lintModel(classicToModel(definition as never)).map(({ rule, path }) => `${rule} ${path}`);

describe('lint rules', () => {
  test('a sound definition has no findings', () => {
    assert.deepEqual(find(classic()), []);
  });

  /** A definition for each rule that breaks it and no other one. */
  const broken: Record<string, object> = {
    api_inactive: { active: false },
    auth_none: { use_keyless: true, use_standard_auth: false, global_rate_limit: { rate: 1, per: 1 } },
    auth_skipped: {
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            use_extended_paths: true,
            extended_paths: { ignored: [{ path: '/a', method: 'GET' }] },
          },
        },
      },
    },
    cors_credentials_without_origins: { CORS: { enable: true, allow_credentials: true } },
    cors_any_origin: { CORS: { enable: true, allowed_origins: ['*'] } },
    credential_in_query: { auth_configs: { authToken: { use_param: true, param_name: 'key' } } },
    listen_path_root: { proxy: { listen_path: '/' } },
    limits_none: { disable_rate_limit: true, disable_quota: true },
    recording_detailed: { enable_detailed_recording: true },
    recording_off: { do_not_track: true },
    ip_access_empty: { enable_ip_whitelisting: true },
    upstream_plaintext: { proxy: { target_url: 'http://orders.example/' } },
    target_plaintext: {
      proxy: { enable_load_balancing: true, target_list: ['https://a.example', 'http://b.example'] },
    },
    upstream_unverified: { proxy: { transport: { ssl_insecure_skip_verify: true } } },
    upstream_tls_old: { proxy: { transport: { ssl_min_version: 769 } } },
  };

  for (const { name, place } of lintRules) {
    test(`${name} is found where it applies, and alone`, () => {
      assert.ok(broken[name], `no example of ${name}`);
      assert.deepEqual(find(classic(broken[name])), [`${name} ${place.classic}`]);
    });
  }

  test('places are members of both formats', () => {
    const rows = listReferenceRows();
    const isMember = (path: string, format: 'classic' | 'oas') =>
      rows.some(row => row[format] === path || row[format]?.startsWith(`${path}.`));
    for (const { name, place } of lintRules) {
      assert.ok(isMember(place.classic, 'classic'), `${name}: ${place.classic}`);
      assert.ok(isMember(place.oas, 'oas'), `${name}: ${place.oas}`);
    }
  });

  test('findings of a document have the path of the extension', () => {
    const document = {
      openapi: '3.0.3',
      info: { title: 'A', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { name: 'A', state: { active: true } },
        server: { listenPath: { value: '/a/' } },
        upstream: { url: 'http://a.example/' },
        middleware: { global: { trafficLogs: { enabled: true } } },
      },
    };
    assert.deepEqual(
      lintModel(oasToModel(document as never)).map(({ path }) => path),
      [
        'x-gw-api-gateway.server.authentication.enabled',
        'x-gw-api-gateway.upstream.rateLimit',
        'x-gw-api-gateway.upstream.url',
      ],
    );
  });

  test('an internal API needs neither authentication nor limits of its own', () => {
    assert.deepEqual(find(classic({ internal: true, use_keyless: true, use_standard_auth: false })), []);
  });
});
