import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { readKongConfig } from './kong.ts';
import { readKrakendConfig } from './krakend.ts';
import { readNginxConfig } from './nginx.ts';
import type { MigrationPlan } from './plan.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-products-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
function file(name: string, text: string): string {
  files += 1;
  const path = join(folder, `${files}-${name}`);
  writeFileSync(path, text);
  return path;
}

type Body = Record<string, never> & {
  proxy: Record<string, unknown>;
  version_data: { versions: { Default: Record<string, never> & { extended_paths: object } } };
};
const apisOf = ({ objects }: MigrationPlan) =>
  objects.filter(({ kind }) => kind === 'API').map(it => it.body as unknown as Body);
const reasonsOf = ({ leftOut }: MigrationPlan) => leftOut.map(({ what, reason }) => `${what}: ${reason}`);

describe('Kong', () => {
  const read = (text: string) => readKongConfig(file('kong.yaml', text));

  test('services, routes, plugins, consumers and upstreams become APIs and keys', () => {
    const plan = read(`
_format_version: "3.0"
x-shared: &limits { minute: 60, hour: 1000 }
upstreams:
- name: orders.upstream
  targets: [{ target: "10.0.0.1:80", weight: 200 }, { target: "10.0.0.2:80", weight: 100 }, { target: "10.0.0.3:80", weight: 0 }]
services:
- name: orders
  host: orders.upstream
  protocol: http
  path: /v1
  routes:
  - name: orders-route
    paths: [/orders, "~/regex/\\\\d+$"]
    hosts: [a.example, "*.example"]
    methods: [GET, POST]
    strip_path: false
    preserve_host: true
  plugins:
  - name: key-auth
    config: { key_names: [X-Key], key_in_query: false }
  - name: acl
    config: { allow: [staff] }
  - name: rate-limiting
    config: *limits
  - name: prometheus
consumers:
- username: ann
  acls: [{ group: staff }]
  keyauth_credentials: [{ key: ann-secret-key }]
  plugins: [{ name: rate-limiting, config: { second: 5 } }]
- username: bob
  keyauth_credentials: [{ key: bob-secret-key }]
  jwt_secrets: [{ key: x }]
`);
    const [api, ...others] = apisOf(plan);
    assert.equal(others.length, 0);
    assert.deepEqual(api?.proxy, {
      listen_path: '/orders',
      strip_listen_path: false,
      preserve_host_header: true,
      target_url: 'http://10.0.0.1:80/v1',
      enable_load_balancing: true,
      target_list: ['http://10.0.0.1:80/v1', 'http://10.0.0.1:80/v1', 'http://10.0.0.2:80/v1'],
    });
    assert.deepEqual(
      [api?.domain, api?.use_keyless, api?.use_standard_auth, api?.global_rate_limit],
      ['a.example', false, true, { rate: 60, per: 60 }],
    );
    assert.deepEqual(api?.version_data.versions.Default.extended_paths, {
      white_list: [
        { path: '/.*', method: 'GET' },
        { path: '/.*', method: 'POST' },
      ],
    });
    const keys = plan.objects.filter(({ kind }) => kind === 'key');
    assert.deepEqual(
      keys.map(({ id, body }) => [id, Object.keys((body as Body).access_rights ?? {}), (body as Body).rate]),
      [['ann-secret-key', [api?.api_id], 5]],
    );
    assert.deepEqual(reasonsOf(plan), [
      'x-shared: it has no equivalent',
      'services.orders.routes.orders-route: rate-limiting 1000 per hour: an API has one rate limit',
      'services.orders.routes.orders-route: plugin prometheus: it has no equivalent',
      'services.orders.routes.orders-route a.example~/regex/\\d+$: its path is a regular expression',
      'services.orders.routes.orders-route *.example/orders: its host is a pattern',
      'services.orders.routes.orders-route *.example~/regex/\\d+$: its path is a regular expression',
      'jwt_secrets: credentials of this kind are not moved',
      'key: no API that is moved accepts it',
    ]);
  });

  test('a route whose protection cannot be expressed is not moved', () => {
    for (const [plugin, reason] of [
      ['jwt', /the plugin jwt cannot be expressed/],
      ['openid-connect', /openid-connect cannot be expressed/],
      ['acl', /acl needs an authentication/],
      ['key-auth, config: { anonymous: guest }', /anonymous requests/],
    ] as const) {
      const plan = read(
        `services: [{ name: a, url: "http://127.0.0.1:9", routes: [{ paths: [/a] }], plugins: [{ name: ${plugin}${plugin === 'acl' ? ', config: { allow: [x] }' : ''} }] }]`,
      );
      assert.deepEqual(apisOf(plan), [], plugin);
      assert.ok(
        reasonsOf(plan).some(it => reason.test(it)),
        reasonsOf(plan).join('\n'),
      );
    }
    const loose = read(
      'services: [{ name: a, url: "http://127.0.0.1:9", routes: [{ paths: [/a], headers: { x: [1] } }, { paths: [/b], protocols: [grpc] }] }]',
    );
    assert.deepEqual([apisOf(loose).length, loose.leftOut.length], [0, 2]);
  });
});

describe('KrakenD', () => {
  test('endpoints with one backend become APIs, the others are listed', () => {
    const plan = readKrakendConfig(
      file(
        'krakend.json',
        JSON.stringify({
          version: 3,
          name: 'k',
          host: ['http://a.example'],
          timeout: '3s',
          cache_ttl: '300s',
          extra_config: { 'security/cors': { allow_origins: ['*'] }, 'telemetry/logging': {} },
          endpoints: [
            {
              endpoint: '/v1/users/{id}',
              backend: [{ url_pattern: '/users/{id}.json' }],
              input_headers: ['*'],
              input_query_strings: ['*'],
            },
            {
              endpoint: '/v1/users/{id}',
              method: 'DELETE',
              backend: [{ url_pattern: '/users/{id}.json' }],
              extra_config: { 'qos/ratelimit/router': { max_rate: 10 } },
            },
            { endpoint: '/same', backend: [{ url_pattern: '/same', host: ['http://b.example', 'http://c.example'] }] },
            { endpoint: '/merged', backend: [{ url_pattern: '/a' }, { url_pattern: '/b' }] },
            { endpoint: '/filtered', backend: [{ url_pattern: '/a', allow: ['id'] }] },
            { endpoint: '/guarded', backend: [{ url_pattern: '/a' }], extra_config: { 'auth/validator': {} } },
            { endpoint: '/other/{a}', backend: [{ url_pattern: '/x/{b}' }] },
          ],
        }),
      ),
    );
    const [users, same, ...others] = apisOf(plan);
    assert.equal(others.length, 0);
    assert.equal(users?.proxy.listen_path, '/v1/users/{id}');
    const pattern = '^/v1/users/([^/?]+)(?:\\?.*)?$';
    assert.deepEqual(users?.version_data.versions.Default.extended_paths, {
      white_list: [
        { path: '/.*', method: 'GET' },
        { path: '/.*', method: 'DELETE' },
      ],
      url_rewrites: [
        { path: '/.*', method: 'GET', match_pattern: pattern, rewrite_to: '/users/$1.json' },
        { path: '/.*', method: 'DELETE', match_pattern: pattern, rewrite_to: '/users/$1.json' },
      ],
    });
    assert.deepEqual(same?.proxy.target_list, ['http://b.example', 'http://c.example']);
    assert.deepEqual((same!.CORS as unknown as { allowed_origins: unknown }).allowed_origins, ['*']);
    assert.deepEqual(reasonsOf(plan), [
      'cache_ttl: it is not moved',
      'extra_config.telemetry/logging: it is not moved',
      'endpoints[3] GET /merged: it merges the responses of 2 backends',
      'endpoints[4] GET /filtered: its backend changes the response (allow)',
      'endpoints[5] GET /guarded: auth/validator cannot be expressed, and the API would be less protected',
      'endpoints[6] GET /other/{a}: its backend has other parameters, or another method',
    ]);
  });
});

describe('nginx', () => {
  const read = (text: string) => readNginxConfig(file('site.conf', text));

  test('locations with proxy_pass become APIs, every other line is listed', () => {
    const plan = read(`# site
upstream app { server 10.0.0.1:8080 weight=2; server 10.0.0.2:8080 max_fails=3; server 10.0.0.9 backup; least_conn; }
http {
  server {
    listen 80; server_name a.example b.example;
    proxy_set_header Host $host;
    client_max_body_size 2m;
    location /api/ {
      proxy_pass http://app/v1/;
      add_header X-Served "by nginx; here";
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Static 'yes';
      proxy_read_timeout 5s;
      allow 10.0.0.0/8; deny all;
    }
    location ~ \\.php$ { proxy_pass http://app; }
    location = /exact { proxy_pass http://app; }
    location /static/ { root /var/www; }
    location /vars/ { proxy_pass http://$backend; }
  }
}`);
    assert.deepEqual(
      apisOf(plan).map(({ domain, proxy }) => [
        domain,
        proxy.listen_path,
        proxy.strip_listen_path,
        proxy.preserve_host_header,
      ]),
      [
        ['a.example', '/api/', true, false],
        ['b.example', '/api/', true, false],
      ],
    );
    const [api] = apisOf(plan);
    assert.deepEqual(api?.proxy.target_list, [
      'http://10.0.0.1:8080/v1/',
      'http://10.0.0.1:8080/v1/',
      'http://10.0.0.2:8080/v1/',
    ]);
    assert.deepEqual(api?.allowed_ips, ['10.0.0.0/8']);
    const { global_headers, global_response_headers, global_size_limit } = api!.version_data.versions.Default;
    assert.deepEqual(
      [global_headers, global_response_headers, global_size_limit],
      [{ 'X-Static': 'yes' }, { 'X-Served': 'by nginx; here' }, 2_097_152],
    );
    assert.deepEqual(
      plan.leftOut.map(({ source, what, reason }) => `${source.replace(/^.*:/, '')} ${what}: ${reason}`),
      [
        '2 server 10.0.0.2:8080 max_fails=3: it is not moved',
        '2 server 10.0.0.9: backup servers have no equivalent',
        '2 least_conn: targets are used in turn',
        '13 proxy_read_timeout 5s: it is not moved',
        '16 location ~ \\.php$: regular expressions are no listen paths',
        '17 location = /exact: it matches one path alone',
        '18 location /static/: it has no proxy_pass',
        '19 proxy_pass http://$backend: variables are not moved',
      ],
    );
  });

  test('a location whose protection cannot be expressed is not moved', () => {
    for (const [directive, reason] of [
      ['auth_basic "x";', /auth_basic cannot be expressed/],
      ['auth_request /auth;', /auth_request cannot be expressed/],
      ['deny 10.0.0.1; allow 10.0.0.0/8; deny all;', /allow and deny rules cannot be expressed/],
      ['satisfy any;', /satisfy cannot be expressed/],
      ['if ($x) { return 403; }', /it has blocks of its own/],
    ] as const) {
      for (const text of [
        `location /a/ { ${directive} proxy_pass http://127.0.0.1:9; }`,
        `${directive} location /a/ { proxy_pass http://127.0.0.1:9; }`,
      ]) {
        if (text.startsWith('if')) continue;
        const plan = read(`server { ${text} }`);
        assert.deepEqual(apisOf(plan), [], text);
        assert.ok(
          reasonsOf(plan).some(it => reason.test(it)),
          `${text}: ${reasonsOf(plan).join('\n')}`,
        );
      }
    }
    assert.equal(
      apisOf(read('server { auth_basic "x"; location /a/ { auth_basic off; proxy_pass http://127.0.0.1:9; } }')).length,
      1,
    );
  });

  test('a file that is no configuration is listed with its line', () => {
    for (const text of ['server {\n location / {\n', '}\n', 'server { "open }', '{}'])
      assert.match(read(text).leftOut[0]?.source ?? '', /:\d+$/, text);
  });
});
