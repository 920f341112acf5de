import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classicToModel, findUnversionedKey, oasToModel } from './model.ts';

const gateway = (more: object = {}) => ({
  'x-gw-api-gateway': {
    info: { name: 'A', id: 'a', state: { active: true } },
    server: { listenPath: { value: '/a/', strip: true } },
    upstream: { url: 'http://127.0.0.1:9' },
    ...more,
  },
});

test('an empty classic definition becomes a model with every default and one version', () => {
  const model = classicToModel({});
  assert.equal(model.identity.name, '');
  assert.equal(model.authentication.enabled, true);
  assert.deepEqual(model.authMethods, ['token']);
  assert.equal(model.trafficLogs.enabled, true);
  assert.equal(model.customDomain.enabled, false);
  assert.equal(model.versionData.notVersioned, true);
  assert.equal(model.versions.length, 1);
  assert.deepEqual(model.versions[0]!.endpoints.allow, []);
});

test('a model names the format of its definition', () => {
  assert.equal(classicToModel({}).format, 'classic');
  assert.equal(oasToModel(gateway()).format, 'oas');
  assert.equal(oasToModel({ ...gateway(), 'x-gw-streaming': {} } as never).format, 'streams');
});

test('an absent block of the OpenAPI format is disabled', () => {
  const model = oasToModel(gateway());
  assert.equal(model.authentication.enabled, false);
  assert.deepEqual(model.authMethods, []);
  assert.equal(model.trafficLogs.enabled, false);
  assert.equal(model.listen.path, '/a/');
});

test('both formats give the same endpoint entries', () => {
  const classic = classicToModel({
    version_data: {
      not_versioned: true,
      versions: {
        Default: {
          use_extended_paths: true,
          extended_paths: {
            rate_limit: [{ path: '/p', method: 'GET', rate: 5, per: 90 }],
            transform: [
              {
                path: '/p',
                method: 'GET',
                template_data: {
                  input_type: 'json',
                  template_mode: 'blob',
                  template_source: 'e30=',
                  enable_session: true,
                },
              },
            ],
            circuit_breakers: [{ path: '/p', method: 'GET', disabled: true }],
          },
        },
      },
    },
  });
  const oas = oasToModel({
    paths: { '/p': { get: { operationId: 'p' } } },
    ...gateway({
      middleware: {
        operations: {
          p: {
            rateLimit: { enabled: true, rate: 5, per: '1m30s' },
            transformRequestBody: { enabled: true, format: 'json', body: 'e30=' },
            circuitBreaker: { enabled: false },
          },
        },
      },
    }),
  });
  const plain = (list: readonly { operationId?: string }[]) => list.map(({ operationId: _, ...entry }) => entry);
  for (const name of ['rateLimit', 'transformRequestBody', 'circuitBreaker'] as const)
    assert.deepEqual(plain(oas.versions[0]!.endpoints[name]), classic.versions[0]!.endpoints[name], name);
  assert.equal(classic.versions[0]!.endpoints.rateLimit[0]!.perSeconds, 90);
  assert.equal(oas.versions[0]!.endpoints.rateLimit[0]!.operationId, 'p');
  assert.deepEqual(classic.versions[0]!.endpoints.circuitBreaker, []);
});

test('older notations of endpoint lists are normalized to current entries', () => {
  const [version] = classicToModel({
    version_data: {
      versions: {
        a: {
          use_extended_paths: true,
          extended_paths: {
            cache: ['/c'],
            white_list: [
              {
                path: '/w',
                method_actions: { GET: { action: 'no_action' }, POST: { action: 'reply', code: 201, data: 'ok' } },
              },
            ],
          },
        },
      },
    },
  }).versions;
  assert.deepEqual(
    version!.endpoints.cache.map(({ path, method }) => `${method} ${path}`),
    ['GET /c', 'HEAD /c', 'OPTIONS /c'],
  );
  assert.deepEqual(
    version!.endpoints.allow.map(({ path, method }) => `${method} ${path}`),
    ['GET /w', 'POST /w'],
  );
  assert.deepEqual(
    version!.endpoints.mockResponse.map(({ method, code, body }) => [method, code, body]),
    [['POST', 201, 'ok']],
  );

  const [legacy] = classicToModel({ version_data: { versions: { a: { paths: { black_list: ['/b'] } } } } }).versions;
  assert.deepEqual(
    legacy!.endpoints.block.map(({ path, method }) => [path, method]),
    [['/b', '']],
  );
});

test('own token and JWT settings win over the older location', () => {
  const auth = { auth_header_name: 'X-Key' };
  assert.equal(classicToModel({ auth }).token.headerName, 'X-Key');
  assert.equal(
    classicToModel({ auth, auth_configs: { authToken: { auth_header_name: 'X-Own' } } }).token.headerName,
    'X-Own',
  );
});

test('the component of a scheme gives its kind and credential source', () => {
  const model = oasToModel({
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'query', name: 'k' },
        person: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
    },
    ...gateway({
      server: {
        listenPath: { value: '/a/' },
        authentication: {
          enabled: true,
          securitySchemes: {
            key: { enabled: true },
            person: { enabled: true, source: 's', AuthSources: { header: { enabled: true, name: 'A' } } },
          },
        },
      },
    }),
  });
  assert.deepEqual(model.authMethods, ['jwt', 'token']);
  assert.deepEqual([model.token.queryEnabled, model.token.queryName, model.token.headerEnabled], [true, 'k', false]);
  assert.deepEqual([model.jwt.source, model.jwt.headerEnabled, model.jwt.headerName], ['s', true, 'A']);
});

test('the first of several enabled schemes of one kind counts, in any order of components', () => {
  const headerOf = (names: readonly string[], components: readonly string[], security?: string) =>
    oasToModel({
      components: {
        securitySchemes: Object.fromEntries(components.map(name => [name, { type: 'apiKey', in: 'header', name }])),
      },
      ...(security && { security: [{ [security]: [] }] }),
      ...gateway({
        server: {
          listenPath: { value: '/a/' },
          authentication: {
            enabled: true,
            securitySchemes: Object.fromEntries(names.map(name => [name, { enabled: name !== 'X-Off' }])),
          },
        },
      }),
    }).token.headerName;
  for (const components of [
    ['X-Off', 'X-One', 'X-Two'],
    ['X-Two', 'X-One', 'X-Off'],
  ]) {
    assert.equal(headerOf(['X-One', 'X-Two'], components), 'X-One');
    assert.equal(headerOf(['X-Two', 'X-One'], components), 'X-Two');
    assert.equal(headerOf(['X-Off', 'X-Two', 'X-One'], components), 'X-Two', 'an enabled one goes before');
    assert.equal(headerOf(['X-One', 'X-Two'], components, 'X-Two'), 'X-Two', 'one that is asked for goes before');
  }
});

test('a classic IP list counts once its own switch is on', () => {
  const lists = { allowed_ips: ['10.0.0.1'], blacklisted_ips: ['10.0.0.2'] };
  assert.equal(classicToModel(lists).ipAccess.enabled, false);
  const { enabled, allow, block } = classicToModel({ ...lists, enable_ip_blacklisting: true }).ipAccess;
  assert.deepEqual({ enabled, allow, block }, { enabled: true, allow: [], block: ['10.0.0.2'] });
});

test('the older cache timeout of service discovery also enables the cache', () => {
  const readCaching = (serviceDiscovery: object) => {
    const { cacheEnabled, cacheSeconds } = oasToModel(
      gateway({ upstream: { url: 'http://127.0.0.1:9', serviceDiscovery: { enabled: true, ...serviceDiscovery } } }),
    ).serviceDiscovery;
    return [cacheEnabled, cacheSeconds];
  };
  assert.deepEqual(readCaching({ cacheTimeout: 5 }), [true, 5]);
  assert.deepEqual(readCaching({ cacheTimeout: 5, cache: { enabled: false, timeout: 7 } }), [false, 7]);
  assert.deepEqual(readCaching({}), [false, 0]);
});

test('reading a model leaves the definition unchanged', () => {
  const definition = {
    auth: { auth_header_name: 'k' },
    version_data: {
      versions: { a: { use_extended_paths: true, extended_paths: { cache: ['/c'], advance_cache_config: [] } } },
    },
  };
  const before = structuredClone(definition);
  classicToModel(definition);
  assert.deepEqual(definition, before);
});

test('an API without versioning is served by its only version or the one with a default name', () => {
  assert.equal(findUnversionedKey(['v1']), 'v1');
  assert.equal(findUnversionedKey(['v1', 'Default']), 'Default');
  assert.equal(findUnversionedKey(['', 'Default']), undefined);
  assert.equal(findUnversionedKey(['v1', 'v2']), undefined);
});
