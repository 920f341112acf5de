import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkMembers } from '#base/members.ts';
import { classicSchema } from '#definition/classic.ts';
import { definitionArbitrary, withoutUnknown } from '../../../tests/arbitraries/definition.ts';
import { onEveryEngine, type TestApp } from '../../../tests/support/app.ts';

const discovery = {
  cache_disabled: false,
  cache_timeout: 30,
  data_path: 'data',
  parent_data_path: 'parent',
  port_data_path: 'port',
  query_endpoint: 'http://127.0.0.1:9/where',
  target_path: '/t',
  endpoint_returns_list: true,
  use_discovery_service: false,
  use_nested_query: true,
  use_target_list: true,
};
const hook = { disabled: true, name: 'h', path: 'h.js', raw_body_only: true, require_session: true };
const validation = { enabled: true, expires_at_validation_skew: 1, issued_at_validation_skew: 2 };

/** The fields of the published classic format, each with a value that differs from its default. */
const everyField = {
  active: true,
  allowed_ips: ['10.0.0.1'],
  auth_configs: { authToken: { auth_header_name: 'X-Key' } },
  base_identity_provided_by: 'auth_token',
  blacklisted_ips: ['10.0.0.0/8'],
  certificate_pinning_disabled: true,
  certificates: ['c1'],
  client_certificates: ['c2'],
  config_data: { any: [1, { deep: null }] },
  config_data_disabled: true,
  custom_middleware_bundle: 'bundle.zip',
  custom_middleware_bundle_disabled: true,
  custom_plugin_auth_enabled: true,
  detailed_tracing: true,
  disable_quota: true,
  disable_rate_limit: true,
  do_not_track: true,
  domain: 'fields.example.org',
  domain_disabled: true,
  dont_set_quota_on_create: true,
  enable_batch_request_support: true,
  enable_context_vars: true,
  enable_coprocess_auth: true,
  enable_detailed_recording: true,
  enable_ip_blacklisting: true,
  enable_ip_whitelisting: true,
  enable_jwt: true,
  enable_proxy_protocol: true,
  enable_signature_checking: true,
  expiration: '2030-01-02 03:04',
  expire_analytics_after: 60,
  hmac_allowed_algorithms: ['hmac-sha256'],
  hmac_allowed_clock_skew: 1000.5,
  idp_client_id_mapping_disabled: true,
  internal: true,
  jwt_client_base_field: 'azp',
  jwt_default_policies: ['p1'],
  jwt_expires_at_validation_skew: 1,
  jwt_identity_base_field: 'sub',
  jwt_issued_at_validation_skew: 2,
  jwt_not_before_validation_skew: 3,
  jwt_policy_field_name: 'pol',
  jwt_scope_claim_name: 'scope',
  jwt_scope_to_policy_mapping: { read: 'p1' },
  jwt_signing_method: 'rsa',
  jwt_skip_kid: true,
  jwt_source: 'aHR0cDovLzEyNy4wLjAuMTo5',
  listen_port: 9010,
  name: 'Every field #fields',
  pinned_public_keys: { '*': 'k1,k2' },
  protocol: 'http',
  session_lifetime: 5,
  session_lifetime_respects_key_expiration: true,
  slug: 'every-field',
  strip_auth_data: true,
  tag_headers: ['x-tag'],
  tags: ['edge'],
  tags_disabled: true,
  upstream_certificates: { '*': 'c3' },
  upstream_certificates_disabled: true,
  use_basic_auth: true,
  use_go_plugin_auth: true,
  use_keyless: true,
  use_mutual_tls_auth: true,
  use_oauth2: true,
  use_openid: true,
  use_standard_auth: true,
  CORS: {
    allow_credentials: true,
    allowed_headers: ['a'],
    allowed_methods: ['GET'],
    allowed_origins: ['https://a.example'],
    debug: true,
    enable: true,
    exposed_headers: ['b'],
    max_age: 24,
    options_passthrough: true,
  },
  analytics_plugin: { enable: true, func_name: 'f', plugin_path: 'p.so' },
  auth: {
    auth_header_name: 'Authorization',
    cookie_name: 'c',
    name: 'authToken',
    param_name: 'p',
    disable_header: true,
    use_certificate: true,
    use_cookie: true,
    use_param: true,
    validate_signature: true,
    signature: {
      algorithm: 'MasherySHA256',
      allowed_clock_skew: 2,
      error_code: 401,
      error_message: 'no',
      header: 'X-Signature',
      param_name: 's',
      secret: 'secret',
      use_param: true,
    },
  },
  auth_provider: { meta: { a: 1 }, name: 'n', storage_engine: 's' },
  session_provider: { meta: { a: 1 }, name: 'n', storage_engine: 's' },
  basic_auth: {
    body_password_regexp: 'p=(.*)',
    body_user_regexp: 'u=(.*)',
    cache_ttl: 3,
    disable_caching: true,
    extract_from_body: true,
  },
  cache_options: {
    cache_all_safe_requests: true,
    cache_by_headers: ['accept'],
    cache_control_ttl_header: 'x-ttl',
    cache_response_codes: [200],
    cache_timeout: 60,
    enable_cache: true,
    enable_upstream_cache_control: true,
  },
  custom_middleware: {
    auth_check: hook,
    driver: 'otto',
    id_extractor: {
      disabled: true,
      extract_from: 'header',
      extract_with: 'value',
      extractor_config: { header_name: 'x-caller' },
    },
    post: [hook],
    post_key_auth: [hook],
    pre: [hook],
    response: [hook],
  },
  definition: {
    default: 'v1',
    enabled: false,
    fallback_to_default: true,
    key: 'x-version',
    location: 'header',
    name: 'v0',
    strip_path: true,
    strip_versioning_data: true,
    url_versioning_pattern: '^v\\d+$',
    versions: { v1: 'another' },
  },
  event_handlers: { events: { QuotaExceeded: [{ handler_name: 'eh_log_handler', handler_meta: { prefix: 'q' } }] } },
  external_oauth: {
    enabled: true,
    providers: [
      {
        introspection: {
          cache: { enabled: true, timeout: 5 },
          client_id: 'c',
          client_secret: 's',
          identity_base_field: 'sub',
          url: 'http://127.0.0.1:9/i',
          enabled: true,
        },
        jwt: {
          ...validation,
          not_before_validation_skew: 3,
          identity_base_field: 'sub',
          signing_method: 'rsa',
          source: 'http://127.0.0.1:9/keys',
        },
      },
    ],
  },
  global_rate_limit: { disabled: true, per: 1.5, rate: 10.5 },
  notifications: { oauth_on_keychange_url: 'http://127.0.0.1:9/n', shared_secret: 's' },
  oauth_meta: {
    allowed_access_types: ['client_credentials'],
    allowed_authorize_types: ['code'],
    auth_login_redirect: 'http://127.0.0.1:9/l',
  },
  openid_options: { providers: [{ client_ids: { Yw: 'p1' }, issuer: 'https://i.example' }], segregate_by_client: true },
  proxy: {
    check_host_against_uptime_tests: true,
    disable_strip_slash: true,
    enable_load_balancing: true,
    listen_path: '/every-field/',
    preserve_host_header: true,
    strip_listen_path: true,
    target_list: ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'],
    target_url: 'http://127.0.0.1:9/',
    service_discovery: discovery,
    transport: {
      proxy_url: 'http://127.0.0.1:9',
      ssl_ciphers: ['TLS_AES_128_GCM_SHA256'],
      ssl_force_common_name_check: true,
      ssl_insecure_skip_verify: true,
      ssl_max_version: 772,
      ssl_min_version: 771,
    },
  },
  request_signing: {
    algorithm: 'hmac-sha256',
    certificate_id: 'c',
    key_id: 'k',
    secret: 's',
    signature_header: 'X-Sig',
    header_list: ['date'],
    is_enabled: true,
  },
  response_processors: [{ name: 'header_injector', options: { add_headers: { a: 'b' } } }],
  scopes: {
    jwt: { scope_claim_name: 'scope', scope_to_policy: { read: 'p1' } },
    oidc: { scope_claim_name: 'scp', scope_to_policy: { write: 'p2' } },
  },
  uptime_tests: {
    check_list: [
      {
        body: 'b',
        commands: [{ message: 'm', name: 'send' }],
        enable_proxy_protocol: true,
        headers: { a: 'b' },
        method: 'GET',
        protocol: 'tcp',
        timeout: 5,
        url: 'http://127.0.0.1:9/up',
      },
    ],
    config: { expire_utime_after: 60, recheck_wait: 5, service_discovery: discovery },
  },
  version_data: {
    default_version: 'Default',
    not_versioned: true,
    versions: { Default: { name: 'Default' } },
  },
  graphql: {
    enabled: true,
    execution_mode: 'proxyOnly',
    introspection: { disabled: true },
    last_schema_update: '2026-01-02T03:04:05.678+02:00',
    playground: { enabled: true, path: '/playground' },
    schema: 'type Query { a: String }',
    version: '2',
    subgraph: { sdl: 'type A { a: String }' },
    engine: {
      data_sources: [
        {
          config: { a: [1] },
          internal: true,
          kind: 'REST',
          name: 's',
          root_fields: [{ fields: ['a'], type: 'Query' }],
        },
      ],
      field_configs: [{ disable_default_mapping: true, field_name: 'a', path: ['x'], type_name: 'Query' }],
      global_headers: [{ key: 'k', value: 'v' }],
    },
    proxy: {
      auth_headers: { a: 'b' },
      features: { use_immutable_headers: true },
      request_headers: { a: 'b' },
      request_headers_rewrite: { a: { value: 'b', remove: false } },
      subscription_type: 'sse',
      use_response_extensions: { on_error_forwarding: true },
    },
    supergraph: {
      disable_query_batching: true,
      global_headers: { a: 'b' },
      merged_sdl: 'type Query { a: String }',
      subgraphs: [
        { api_id: 'x', name: 'n', sdl: 's', subscription_type: 'sse', url: 'http://127.0.0.1:9/', headers: { a: 'b' } },
      ],
      updated_at: '2026-01-02T03:04:05Z',
    },
    type_field_configurations: [
      {
        data_source: { data_source_config: { a: null }, kind: 'HTTPJsonDataSource' },
        field_name: 'a',
        mapping: { disabled: true, path: 'p' },
        type_name: 'Query',
      },
    ],
  },
};

const minimal = (name: string) => ({
  api_definition: { name, api_id: name, proxy: { listen_path: `/${name}/`, target_url: 'http://127.0.0.1:9/' } },
});

/** What was read back, without what is the server's to give. */
async function readBack(app: TestApp, id: string) {
  const { body } = await app.ask('GET', `/api/apis/${id}`);
  const { id: _id, api_id, org_id: _org, is_oas, ...definition } = body.api_definition;
  assert.equal(api_id, id);
  assert.equal(is_oas, false);
  return definition;
}

onEveryEngine('fields of a classic definition', app => {
  test('every field is stored by an update and read back as written', async () => {
    await app().ask('POST', '/api/apis', { body: minimal('fields') });
    const body = { api_definition: { ...everyField, api_id: 'fields', org_id: 'somebody else', is_oas: true } };
    const { status, body: answer } = await app().ask('PUT', '/api/apis/fields', { body });
    assert.deepEqual([status, answer], [200, { Status: 'OK', Message: 'API updated', Meta: null }]);
    assert.deepEqual(await readBack(app(), 'fields'), everyField);
  });

  test('every field of a wrong type is rejected with its path, and nothing is changed', async () => {
    await app().ask('POST', '/api/apis', { body: minimal('wrong') });
    const before = await app().ask('GET', '/api/apis/wrong');
    for (const [place, wrong] of wrongTypes(everyField)) {
      const answer = await app().ask('PUT', '/api/apis/wrong', { body: { api_definition: wrong } });
      assert.equal(answer.status, 400, `${place}: ${answer.text}`);
      assert.ok(answer.body.Message.includes(`api_definition.${place}: `), `${place}: ${answer.body.Message}`);
    }
    assert.deepEqual((await app().ask('GET', '/api/apis/wrong')).body, before.body);
  });

  test('any valid definition is read back unchanged', async () => {
    await app().ask('POST', '/api/apis', { body: minimal('any') });
    await fc.assert(
      fc.asyncProperty(definitionArbitrary(), async given => {
        const { id: _id, api_id: _api, org_id: _org, is_oas: _oas, ...definition } = withoutUnknown(given);
        const answer = await app().ask('PUT', '/api/apis/any', { body: { api_definition: definition } });
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(
          await readBack(app(), 'any'),
          JSON.parse(JSON.stringify(checkMembers(classicSchema, definition).value)),
        );
      }),
      { numRuns: 25 },
    );
  });
});

/** The sample once for each of its plain members, with a value there that no rule accepts. */
function* wrongTypes(sample: Record<string, unknown>): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(sample)) {
    const wrong = typeof value === 'number' || typeof value === 'boolean' ? 'no such thing' : 7;
    yield [name, { ...sample, [name]: wrong }];
  }
  yield ['proxy.target_list[2]', { proxy: { target_list: ['http://a', 'http://b', 3] } }];
  yield ['CORS.max_age', { CORS: { max_age: 1.5 } }];
  yield ['graphql.engine.field_configs[0].path', { graphql: { engine: { field_configs: [{ path: 'x' }] } } }];
  yield [
    'uptime_tests.check_list[0].commands[0].name',
    { uptime_tests: { check_list: [{ commands: [{ name: 1 }] }] } },
  ];
}
