import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ValidationError } from '#operations/validation-error.ts';
import type { CheckResult } from './check-result.ts';
import { checkOas, oasSchema } from './oas.ts';
import { checkStreams } from './streams.ts';

const errorsIn = (checked: CheckResult<unknown>): readonly ValidationError[] => (checked.ok ? [] : checked.errors);

const gateway = () => ({
  info: { name: 'Orders', id: 'orders', state: { active: true } },
  server: { listenPath: { value: '/orders/', strip: true } },
  upstream: { url: 'http://127.0.0.1:9/', rateLimit: { enabled: true, rate: 10, per: 'PT1M' } },
});
const document = () => ({
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: { '/a': { get: { operationId: 'readA', responses: {} } } },
  'x-gw-api-gateway': gateway(),
  'x-own': [1, { kept: true }],
});

test('a valid document passes unchanged, with its author’s members', () => {
  const given = document();
  const checked = checkOas(given);
  assert.ok(checked.ok);
  assert.equal(checked.definition, given);
  assert.deepEqual(given, document());
  assert.deepEqual(oasSchema.parse(document()), document());
});

test('a document with missing members reports each with its path', () => {
  assert.deepEqual(errorsIn(checkOas({ openapi: '2.0', 'x-gw-api-gateway': { info: {} } })), [
    { path: 'openapi', message: 'must be an OpenAPI version 3.0 or 3.1' },
    { path: 'info', message: 'is required' },
    { path: 'paths', message: 'is required' },
    { path: 'x-gw-api-gateway.info.name', message: 'is required' },
    { path: 'x-gw-api-gateway.server', message: 'is required' },
    { path: 'x-gw-api-gateway.upstream', message: 'is required' },
  ]);
  assert.deepEqual(errorsIn(checkOas({ ...document(), 'x-gw-api-gateway': undefined })), [
    { path: 'x-gw-api-gateway', message: 'is required' },
  ]);
});

test('a TCP or TLS service needs a port and no listen path', () => {
  const withServer = (server: object) => ({
    ...document(),
    'x-gw-api-gateway': { ...document()['x-gw-api-gateway'], server },
  });
  for (const protocol of ['tcp', 'tls']) {
    assert.ok(checkOas(withServer({ protocol, port: 9300 })).ok);
    assert.deepEqual(errorsIn(checkOas(withServer({ protocol }))), [
      { path: 'x-gw-api-gateway.server.port', message: `is needed by a ${protocol} service` },
    ]);
  }
  assert.deepEqual(errorsIn(checkOas(withServer({ protocol: 'http', port: 9300 }))), [
    { path: 'x-gw-api-gateway.server.listenPath.value', message: 'is required' },
  ]);
});

test('members of the gateway extension are checked at every depth', () => {
  const given = document() as Record<string, unknown>;
  given['x-gw-api-gateway'] = {
    ...gateway(),
    middleware: {
      global: { cors: { maxAge: 'long' }, prePlugin: { plugins: [{ enabled: 'yes' }] } },
      operations: { readA: { allow: { enabled: 1 }, rateLimit: { per: 'often' }, postPlugins: [{ path: 2 }] } },
    },
  };
  assert.deepEqual(
    errorsIn(checkOas(given))
      .map(({ path }) => path.replace('x-gw-api-gateway.middleware.', ''))
      .sort(),
    [
      'global.cors.maxAge',
      'global.prePlugin.plugins[0].enabled',
      'operations.readA.allow.enabled',
      'operations.readA.postPlugins[0].path',
      'operations.readA.rateLimit.per',
    ],
  );
});

test('a duration is accepted in both notations and rejected in any other', () => {
  for (const [per, ok] of [
    ['PT1M', true],
    ['1m30s', true],
    ['60', false],
    ['a minute', false],
  ] as const) {
    const given = document();
    given['x-gw-api-gateway'].upstream.rateLimit.per = per;
    assert.equal(checkOas(given).ok, ok, per);
  }
});

test('credential sources are checked inline and under AuthSources', () => {
  const hmac = (sources: object) => {
    const given = document();
    Object.assign(given['x-gw-api-gateway'].server, {
      authentication: { enabled: true, hmac: { enabled: true, ...sources } },
    });
    return checkOas(given);
  };
  assert.ok(hmac({ header: { enabled: true, name: 'Authorization' } }).ok);
  assert.ok(hmac({ AuthSources: { header: { enabled: true, name: 'Authorization' } } }).ok);
  assert.ok(!hmac({ AuthSources: { header: { enabled: 'true' } } }).ok);
  assert.ok(!hmac({ header: { enabled: false, name: 'Authorization' } }).ok);
});

test('operation ids must be unique, and security must name declared schemes', () => {
  const given = {
    ...document(),
    paths: { '/a': { get: { operationId: 'x' } }, '/b': { get: { operationId: 'x' } } },
    security: [{ key: [] }],
  };
  assert.deepEqual(errorsIn(checkOas(given)), [
    { path: 'security[0]', message: 'key is not one of components.securitySchemes' },
    { path: 'paths./b.get.operationId', message: 'is not unique' },
  ]);
});

test('a streams document needs no OpenAPI part and no upstream', () => {
  const { upstream: _, ...rest } = gateway();
  const stream = { input: { http_server: { path: '/in' } }, output: { http_server: { path: '/out' } } };
  const given = { 'x-gw-api-gateway': rest, 'x-gw-streaming': { streams: { one: stream } } };
  const checked = checkStreams(given);
  assert.ok(checked.ok);
  assert.equal(checked.definition, given);
  assert.ok(checkStreams({ ...document(), 'x-gw-streaming': { streams: {} } }).ok);
});

test('a streams document without streams, or with an unknown pipeline member, is rejected', () => {
  assert.deepEqual(errorsIn(checkStreams({ 'x-gw-api-gateway': gateway(), 'x-gw-streaming': {} })), [
    { path: 'x-gw-streaming.streams', message: 'is required' },
  ]);
  assert.deepEqual(
    errorsIn(
      checkStreams({
        'x-gw-api-gateway': gateway(),
        'x-gw-streaming': { streams: { one: { pipeline: { bloblang: '' } } } },
      }),
    ),
    [{ path: 'x-gw-streaming.streams.one.pipeline.bloblang', message: 'no such member' }],
  );
  assert.deepEqual(
    errorsIn(checkStreams({})).map(({ path }) => path),
    ['x-gw-api-gateway', 'x-gw-streaming'],
  );
});

test('a document needs paths before OpenAPI 3.1, and extensions are allowed among them', () => {
  const { paths: _, ...without } = document();
  assert.equal(checkOas({ ...without, openapi: '3.1.0' }).ok, true);
  assert.deepEqual(checkOas({ ...without, openapi: '3.0.3' }), {
    ok: false,
    errors: [{ path: 'paths', message: 'is required' }],
  });
  assert.equal(checkOas({ ...document(), paths: { 'x-note': 'any' } }).ok, true);
});

test('an operationId equal to a default id of another operation is rejected', () => {
  const paths = { '/a': { get: { operationId: 'bGET' } }, '/b': { get: {} } };
  assert.deepEqual(checkOas({ ...document(), paths }), {
    ok: false,
    errors: [{ path: 'paths./b.get.operationId', message: 'is not unique' }],
  });
});

test('operation ids of a streams document must be unique', () => {
  const given = {
    ...document(),
    paths: { '/a': { get: { operationId: 'x' } }, '/b': { get: { operationId: 'x' } } },
    'x-gw-streaming': { streams: {} },
  };
  assert.deepEqual(errorsIn(checkStreams(given)), [{ path: 'paths./b.get.operationId', message: 'is not unique' }]);
});
