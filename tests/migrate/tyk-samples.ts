import { createHash } from 'node:crypto';

/** Exports of Tyk in the shapes and odd notations that installations have, each with the result it must have. */

export interface TykSample {
  readonly path: string;
  readonly text: string;
  readonly expected: readonly ExpectedRow[];
}

export interface ExpectedRow {
  readonly kind: string;
  readonly id: string;
  /** Undefined: served. */
  readonly reason?: RegExp;
  /** Differences that the table must have. */
  readonly different?: readonly RegExp[];
}

const json = (value: unknown) => JSON.stringify(value);
const upstreamUrl = 'http://127.0.0.1:9/';

const classic = (id: string, more: object = {}) => ({
  api_id: id,
  name: `API ${id}`,
  org_id: 'replaced',
  active: true,
  use_keyless: true,
  proxy: { listen_path: `/${id}/`, target_url: upstreamUrl, strip_listen_path: true },
  version_data: { not_versioned: true, default_version: '', versions: { Default: { name: 'Default', expires: '' } } },
  ...more,
});

const document = (id: string, more: object = {}, openapi: object = {}) => ({
  openapi: '3.0.3',
  info: { title: `API ${id}`, version: '1.0.0' },
  paths: { '/items': { get: { operationId: 'list', responses: { 200: { description: 'ok' } } } } },
  components: {},
  'x-tyk-api-gateway': {
    info: { id, orgId: 'replaced', name: `API ${id}`, state: { active: true } },
    server: { listenPath: { value: `/${id}/`, strip: true } },
    upstream: { url: upstreamUrl },
    ...more,
  },
  ...openapi,
});

const nulls = {
  tags: null,
  auth_configs: { authToken: null, jwt: { validate_signature: true, signature: null, use_certificate: false } },
  CORS: null,
  cache_options: null,
  event_handlers: { events: null },
  config_data: null,
  openid_options: null,
  custom_middleware: null,
  allowed_ips: null,
};

/** Keys are shown as digests. */
const toDigest = (key: string) => `#${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;

type Maker = (id: string) => TykSample;
const whole = /patterns of endpoints match whole paths/;
const typed = /read with the type that the member has/;

const makers: readonly Maker[] = [
  id => ({ path: `apps/${id}.json`, text: json(classic(id)), expected: [{ kind: 'API', id }] }),
  id => ({
    path: `apps/${id}.json`,
    text: `\uFEFF${json(classic(id, nulls))}`,
    expected: [{ kind: 'API', id, different: [/validate_signature: legacy member/] }],
  }),
  id => ({
    path: `apps/${id}.json`,
    text: json(
      classic(id, {
        cache_options: { cache_timeout: '60', enable_cache: 'true' },
        expire_analytics_after: '0',
        active: 'true',
      }),
    ),
    expected: [{ kind: 'API', id, different: [typed] }],
  }),
  id => ({
    path: `apps/${id}.json`,
    text: json(
      classic(id, { made_up_member: 1, proxy: { listen_path: `/${id}`, target_url: upstreamUrl, odd: true } }),
    ),
    expected: [
      {
        kind: 'API',
        id,
        different: [
          /made_up_member: no such member/,
          /proxy.odd: no such member/,
          /the listen path matches whole segments/,
        ],
      },
    ],
  }),
  id => ({
    path: `dashboard/${id}.json`,
    text: json({
      apis: [
        { api_model: {}, api_definition: classic(`${id}a`), hook_references: [], is_site: false, sort_by: 0 },
        { api_definition: classic(`${id}b`) },
      ],
      pages: 1,
    }),
    expected: [
      { kind: 'API', id: `${id}a` },
      { kind: 'API', id: `${id}b` },
    ],
  }),
  id => ({
    path: `apps/${id}-oas.json`,
    text: json(document(id, { middleware: { operations: { list: { allow: { enabled: true } } }, global: null } })),
    expected: [{ kind: 'API', id, different: [whole] }],
  }),
  id => ({
    path: `both/${id}.json`,
    text: json([{ api_definition: classic(id, { is_oas: true }), oas: document(id) }, classic(id, { is_oas: true })]),
    expected: [{ kind: 'API', id }],
  }),
  id => ({
    path: `apps/${id}.json`,
    text: json(classic(id, { is_oas: true })),
    expected: [{ kind: 'API', id, different: [/its OpenAPI document is not in the export/] }],
  }),
  id => ({
    path: `yaml/${id}.yaml`,
    text: `base: &proxy\n  target_url: ${upstreamUrl}\n  strip_listen_path: true\n---\n{}\n`,
    expected: [
      { kind: 'document', id: '-', reason: /it is no definition/ },
      { kind: 'document', id: '-', reason: /it is no definition/ },
    ],
  }),
  id => ({
    path: `yaml/${id}.yml`,
    text: [
      '- &first',
      `  api_id: ${id}c`,
      `  name: &name Anchored`,
      '  active: true',
      '  use_keyless: true',
      '  org_id: replaced',
      `  proxy: &proxy { listen_path: /${id}c/, target_url: "${upstreamUrl}", strip_listen_path: true }`,
      '  version_data: { not_versioned: true, versions: { Default: { name: Default } } }',
      '- <<: *first',
      `  api_id: ${id}d`,
      `  proxy: { <<: *proxy, listen_path: /${id}d/ }`,
    ].join('\n'),
    expected: [
      { kind: 'API', id: `${id}c` },
      { kind: 'API', id: `${id}d` },
    ],
  }),
  id => ({
    path: `crd/${id}.yaml`,
    text: `apiVersion: tyk.tyk.io/v1alpha1\nkind: ApiDefinition\nmetadata:\n  name: crd-${id}\nspec:\n${[
      `api_id: ${id}`,
      `name: From a cluster`,
      'protocol: http',
      'active: true',
      'use_keyless: true',
      `proxy: { listen_path: /${id}/, target_url: "${upstreamUrl}", strip_listen_path: true }`,
    ]
      .map(line => `  ${line}`)
      .join('\n')}\n`,
    expected: [{ kind: 'API', id }],
  }),
  id => ({
    path: `apps/${id}.json`,
    text: json(
      classic(id, {
        version_data: {
          not_versioned: true,
          versions: {
            Default: {
              name: 'Default',
              use_extended_paths: true,
              global_headers: { 'x-request': '$tyk_context.request_id', 'x-user': '$tyk_meta.user' },
              extended_paths: {
                url_rewrites: [
                  { path: '/loop', method: 'GET', match_pattern: '/loop', rewrite_to: 'tyk://self/other' },
                ],
                white_list: [],
                transform: [
                  {
                    path: '/t',
                    method: 'POST',
                    template_data: {
                      template_mode: 'blob',
                      input_type: 'json',
                      template_source: Buffer.from('{"id": "{{ ._tyk_context.request_id }}"}').toString('base64'),
                    },
                  },
                ],
              },
            },
          },
        },
        enable_context_vars: true,
      }),
    ),
    expected: [{ kind: 'API', id, different: [whole, /a body that cannot be transformed is rejected/] }],
  }),
  id => ({
    path: `apps/${id}.json`,
    text: json(
      classic(id, { custom_middleware: { driver: 'otto', pre: [{ name: 'plugin', path: 'middleware/plugin.js' }] } }),
    ),
    expected: [{ kind: 'API', id, reason: /plugin/i }],
  }),
  id => ({
    path: `apps/${id}.json`,
    text: json(classic(id, { active: false })),
    expected: [{ kind: 'API', id, reason: /^the API is inactive$/ }],
  }),
  id => ({
    path: `apps/${id}.json`,
    text: json(classic(id, { global_rate_limit: { rate: 10, per: '10s' } })),
    expected: [{ kind: 'API', id, reason: /^not moved: global_rate_limit\.per: / }],
  }),
  id => ({
    path: `broken/${id}.json`,
    text: `{"api_id": "${id}", "secret": hidden-in-a-broken-file`,
    expected: [{ kind: 'file', id: '-', reason: /^not moved: invalid JSON or YAML \(line 1\)$/ }],
  }),
  id => ({
    path: `apps/${id}.json`,
    text: json({ proxy: { listen_path: '/', target_url: upstreamUrl } }),
    expected: [{ kind: 'API', id: '-', reason: /it has no id, listen path or name/ }],
  }),
  id => ({
    path: `policies/${id}.json`,
    text: json({
      [`${id}p`]: {
        name: `Policy ${id}`,
        org_id: 'replaced',
        active: true,
        rate: '100',
        per: 60,
        quota_max: '-1',
        quota_renewal_rate: null,
        access_rights: {
          [`${id}x`]: {
            api_id: `${id}x`,
            api_name: 'Gone',
            versions: ['Default'],
            allowed_urls: null,
            limit: { set_by_policy: false, rate: 1, per: 1 },
          },
        },
        partitions: null,
        tags: null,
        hmac_enabled: false,
      },
    }),
    expected: [{ kind: 'policy', id: `${id}p`, different: [typed] }],
  }),
  id => ({
    path: `policies/list-${id}.json`,
    text: json({
      Data: [
        {
          _id: id.slice(1).padStart(24, '0'),
          id: `${id}q`,
          name: `Listed ${id}`,
          state: 'active',
          access_rights: {},
          rate: 0,
          per: 0,
        },
        { name: 'no id', access_rights: {}, state: 'active' },
      ],
      Pages: 1,
    }),
    expected: [
      { kind: 'policy', id: `${id}q` },
      { kind: 'policy', id: '-', reason: /it has no id/ },
    ],
  }),
  id => ({
    path: `policies/bad-${id}.json`,
    text: json([{ id: `${id}r`, name: `Bad ${id}`, state: 'active', access_rights: {}, rate: 1, per: '10s' }]),
    expected: [{ kind: 'policy', id: `${id}r`, reason: /^not moved: per: / }],
  }),
  id => {
    const legacy = `5e9d9544a1dcd60001d0ed20${id}0123456789abcdef`;
    const token = Buffer.from(json({ org: '5e9d9544a1dcd60001d0ed20', id, h: 'murmur64' })).toString('base64');
    const session = {
      org_id: '5e9d9544a1dcd60001d0ed20',
      rate: '5',
      per: 1,
      quota_max: -1,
      access_rights: { x: { api_id: 'x', versions: null } },
      apply_policies: null,
    };
    return {
      path: `keys/${id}.json`,
      text: json({
        keys: [
          { key_id: legacy, data: session },
          { key_id: token, data: session },
          { key_hash: 'abc', data: session },
        ],
      }),
      expected: [
        { kind: 'key', id: toDigest(legacy), different: [typed] },
        {
          kind: 'key',
          id: toDigest(token),
          reason: /names the organisation 5e9d9544a1dcd60001d0ed20 and is valid there only/,
        },
        { kind: 'key', id: '-', reason: /only its hash is in the export/ },
      ],
    };
  },
  id => ({
    path: `apps/${id}.json`,
    text: json(classic(id, { jwt_source: '-----BEGIN PUBLIC KEY-----', pinned_public_keys: {} })),
    expected: [{ kind: 'API', id }],
  }),
  id => ({
    path: `certs/${id}.pem`,
    text: 'no certificate',
    expected: [{ kind: 'file', id: '-', reason: /it has no PEM text/ }],
  }),
  id => ({
    path: `other/${id}.json`,
    text: json([
      { email_address: 'a@b.example', password: 'x' },
      { target_path: 'http://127.0.0.1:9', method: 'POST' },
      7,
      { files: [], type: 'apidef' },
    ]),
    expected: [
      { kind: 'document', id: '-', reason: /users are not moved/ },
      { kind: 'document', id: '-', reason: /POST \/api\/hooks/ },
      { kind: 'value', id: '-', reason: /it is no object/ },
    ],
  }),
];

/** `count` exports; each maker in turn, with ids of its own. */
export const makeTykSamples = (count: number): TykSample[] =>
  Array.from({ length: count }, (_unused, index) => makers[index % makers.length]!(`m${index}`));
