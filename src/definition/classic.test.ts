import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ValidationError } from '#operations/validation-error.ts';
import { checkClassic, classicSchema } from './classic.ts';

const errorsIn = (value: unknown): ValidationError[] => {
  const checked = checkClassic(value);
  return checked.ok ? [] : checked.errors;
};

const sample = {
  name: 'Orders #shop',
  api_id: 'orders-1',
  org_id: '5e9d9544a1dcd60001d0ed20',
  active: true,
  use_keyless: true,
  proxy: { listen_path: '/orders/', target_url: 'http://127.0.0.1:9/', strip_listen_path: true, target_list: null },
  definition: { location: 'header', key: 'x-api-version', versions: null },
  version_data: {
    not_versioned: true,
    versions: {
      Default: {
        name: 'Default',
        use_extended_paths: true,
        global_headers: { a: 'b' },
        extended_paths: {
          white_list: [
            { path: '/a', method: 'GET', ignore_case: false, method_actions: { GET: { action: 'no_action' } } },
          ],
          url_rewrites: [{ path: '/r', method: 'GET', match_pattern: '/r/(.*)', rewrite_to: '/$1', triggers: null }],
          cache: ['/c'],
        },
      },
    },
  },
  CORS: { enable: true, max_age: 24, allowed_origins: null },
  event_handlers: { events: { QuotaExceeded: [{ handler_name: 'eh_log_handler', handler_meta: { prefix: 'q' } }] } },
  graphql: { enabled: false, execution_mode: 'proxyOnly', last_schema_update: null, engine: { data_sources: null } },
};

test('a checked classic definition is the one written, without null and with nothing added', () => {
  const before = structuredClone(sample);
  const checked = checkClassic(sample);
  assert.ok(checked.ok);
  const withoutNulls = JSON.stringify(sample, (_name, value) => value ?? undefined);
  assert.deepEqual(checked.definition, JSON.parse(withoutNulls));
  assert.deepEqual(sample, before);
  assert.deepEqual(classicSchema.parse(sample), before);
});

test('an empty classic definition is valid, and null means an empty container', () => {
  assert.deepEqual(errorsIn({}), []);
  assert.deepEqual(errorsIn({ tags: null, proxy: null, auth_configs: null, version_data: { versions: null } }), []);
});

test('a classic definition with several errors reports all of them, each with its path', () => {
  const errors = errorsIn({
    name: 7,
    api_id: 'a/b',
    active: 'yes',
    listen_port: 70_000,
    proxy: { target_list: ['http://a', 'http://b', 3] },
    version_data: { versions: { '': { extended_paths: { size_limits: [{ size_limit: 'big' }] } } } },
    graphql: { engine: { field_configs: [{ path: 'x' }] }, supergraph: { subgraphs: [{ headers: { a: 1 } }] } },
  });
  assert.deepEqual(errors.map(({ path }) => path).sort(), [
    'active',
    'api_id',
    'graphql.engine.field_configs[0].path',
    'graphql.supergraph.subgraphs[0].headers.a',
    'listen_port',
    'name',
    'proxy.target_list[2]',
    'version_data.versions[""].extended_paths.size_limits[0].size_limit',
  ]);
  assert.equal(errors.find(({ path }) => path === 'listen_port')?.message, 'must be at most 65535');
  assert.equal(errors.find(({ path }) => path === 'name')?.message, 'must be a string');
});

test('a classic definition that is no object is rejected at its root', () => {
  for (const value of [null, 7, 'x', [], undefined])
    assert.deepEqual(errorsIn(value), [{ path: '', message: 'must be an object' }]);
});

test('a regular expression that cannot run in linear time is rejected', () => {
  const [error] = errorsIn({ definition: { url_versioning_pattern: '(?!a)b' } });
  assert.equal(error?.path, 'definition.url_versioning_pattern');
});

test('a value outside an enum is rejected with the allowed values', () => {
  assert.deepEqual(errorsIn({ definition: { location: 'cookie' } }), [
    { path: 'definition.location', message: 'must be one of header, url-param, url' },
  ]);
  assert.deepEqual(
    errorsIn({ graphql: { execution_mode: 'other' } }).map(({ path }) => path),
    ['graphql.execution_mode'],
  );
});

test('an invalid schema of a GraphQL proxy is rejected with its errors, a draft without one is not', () => {
  const errorsOf = (schema: string, enabled = true) => errorsIn({ graphql: { enabled, schema } });
  assert.deepEqual(errorsOf('type Query { a: Missing }'), [
    { path: 'graphql.schema', message: 'is invalid: Unknown type "Missing".' },
  ]);
  assert.deepEqual([errorsOf('type Query { a: Int }'), errorsOf(''), errorsOf('type Query {', false)], [[], [], []]);
});

test('an auth method with all credential sources disabled is rejected', () => {
  assert.deepEqual(errorsIn({ enable_jwt: true, auth_configs: { jwt: { disable_header: true } } }), [
    {
      path: 'auth_configs.jwt',
      message: 'all auth sources are disabled for jwt, at least one of header/cookie/query must be enabled',
    },
  ]);
});

test('IP ranges are checked once their list is enabled', () => {
  const allowed_ips = ['10.0.0.1', '10.0.0.0/8', '::1/128', '10.0.0.0/33', 'host'];
  assert.deepEqual(errorsIn({ allowed_ips }), []);
  assert.deepEqual(errorsIn({ allowed_ips, enable_ip_whitelisting: true }), [
    { path: 'allowed_ips[3]', message: 'invalid IP/CIDR "10.0.0.0/33"' },
    { path: 'allowed_ips[4]', message: 'invalid IP/CIDR "host"' },
  ]);
});

test('an endpoint entry that matches no request is rejected: without a path, with an unknown method', () => {
  const place = 'version_data.versions.v1.extended_paths.black_list';
  const action = { action: 'no_action' };
  const black_list = [
    { path: '/a', method_actions: { '*': action } },
    { path: '/a', method: 'GET,POST' },
    { path: null, method_actions: { GET: action } },
    { path: '/a', method: 'all' },
    ...[{ path: '/a' }, { path: '', method: '' }, { path: '/a', method: 'get' }, { path: '/a', method: 'M-SEARCH' }],
  ];
  assert.deepEqual(
    errorsIn({ version_data: { versions: { v1: { extended_paths: { black_list, cache: ['/c'] } } } } }),
    [
      {
        path: `${place}[0].method_actions`,
        message: '"*" is not the name of a method; none stands for every method',
      },
      {
        path: `${place}[1].method`,
        message: '"GET,POST" is not the name of a method; none stands for every method',
      },
      { path: `${place}[2].path`, message: 'is required' },
      { path: `${place}[3].method`, message: '"all" is not the name of a method; none stands for every method' },
    ],
  );
});

test('a domain with a port is rejected, since hosts are matched without it', () => {
  for (const domain of ['a.example:8080', ':9001', 'a.example:'])
    assert.deepEqual(errorsIn({ domain }), [
      { path: 'domain', message: 'must not contain a port: the listener has the dedicated port' },
    ]);
  for (const domain of ['a.example', '{h:[a-z]+}.example', 'a.{h:\\d+}', '[::1]'])
    assert.deepEqual(errorsIn({ domain }), []);
});

test('load balancing needs a target, and a TCP service a port', () => {
  assert.deepEqual(
    errorsIn({ proxy: { enable_load_balancing: true }, protocol: 'tcp' }).map(({ path }) => path),
    ['listen_port', 'proxy.target_list'],
  );
});
