import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClassicDefinition, OasDefinition } from '#definition/wire-types.ts';
import { summarize, withIds } from './rules.ts';
import { emptyWrapper, type StoredApi } from './schema.ts';
import { withoutVersion, withVersion } from './versions.ts';

const classic = (definition: ClassicDefinition) => summarize({ kind: 'classic', definition }, emptyWrapper);
const names = { id: 'db', api_id: 'pub', org_id: 'org' };

const document: OasDefinition = {
  'x-gw-api-gateway': {
    info: { name: 'Doc #not-a-category', versioning: null },
    server: { listenPath: { value: '/doc' }, authentication: { enabled: true } },
  },
};
const base: StoredApi = {
  kind: 'oas',
  definition: document,
  ...names,
  wrapper: emptyWrapper,
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-02T03:04:05Z',
  summary: summarize({ kind: 'oas', definition: document }, emptyWrapper),
};

test('equivalent listen paths and domains claim one canonical route', () => {
  const route = (definition: ClassicDefinition) => {
    const { domain, listen_path } = classic(definition);
    return `${domain}${listen_path}`;
  };
  assert.equal(route({ proxy: { listen_path: 'a//b/' } }), '/a/b');
  assert.equal(route({ proxy: { listen_path: '/' } }), '/');
  for (const listen_path of ['/café', '/caf%c3%a9/', 'x/../café'])
    assert.equal(route({ proxy: { listen_path } }), '/café');
  assert.equal(route({ proxy: { listen_path: '/%ff' } }), '/%FF');
  assert.equal(route({ proxy: { listen_path: '/{one}/{two:[a-z]{2}}' } }), '/{}/{:[a-z]{2}}');
  assert.equal(route({ domain: 'A.Example.', proxy: { listen_path: '/a' } }), 'a.example/a');
  assert.equal(route({ domain: 'a.example', domain_disabled: true, proxy: { listen_path: '/a' } }), '/a');
  assert.equal(route({ listen_port: 9, protocol: 'tcp', proxy: { listen_path: '/a' } }), ':9*');
});

test('internal APIs and portless TCP services claim no route', () => {
  for (const definition of [{}, { proxy: null }, { internal: true, proxy: { listen_path: '/a' } }]) {
    const { domain, listen_path } = classic(definition);
    assert.deepEqual([domain, listen_path], ['', '']);
  }
});

test('an API that requires authentication without a method requires a key', () => {
  assert.deepEqual(classic({}).auth_types, ['authToken']);
  assert.deepEqual(classic({ use_keyless: true, use_standard_auth: true }).auth_types, ['keyless']);
  assert.deepEqual(classic({ use_openid: true }).auth_types, ['oidc', 'other']);
  assert.deepEqual(classic({ use_keyless: true, use_mutual_tls_auth: true }).auth_types, ['mutualTLS', 'other']);
});

test('the categories of a document are stored beside it, not in its name', () => {
  const wrapper = { ...emptyWrapper, categories: ['eu'] };
  assert.deepEqual(summarize(base, wrapper).categories, ['eu']);
  assert.deepEqual(base.summary.categories, []);
});

test('setting ids changes nothing else, and leaves the input unchanged', () => {
  const before = structuredClone(document);
  const { definition } = withIds({ kind: 'oas', definition: document }, names);
  assert.deepEqual(document, before);
  assert.deepEqual(definition, {
    'x-gw-api-gateway': {
      ...document['x-gw-api-gateway'],
      info: { ...document['x-gw-api-gateway'].info, id: 'pub', dbId: 'db', orgId: 'org' },
    },
  });
});

test('a document stores its versions as a list, in order', () => {
  const asked = { base_api_id: 'pub', base_api_version_name: 'v1', new_version_name: 'v2', set_default: true };
  const two = withVersion(base, 'child-2', asked);
  const three = withVersion(two, 'child-3', { base_api_id: 'pub', new_version_name: 'v3' });
  const block = (api: StoredApi) => api.kind === 'oas' && api.definition['x-gw-api-gateway'].info.versioning;
  assert.deepEqual(block(three), {
    enabled: true,
    name: 'v1',
    location: 'header',
    key: 'x-gw-version',
    default: 'v2',
    versions: [
      { name: 'v2', id: 'child-2' },
      { name: 'v3', id: 'child-3' },
    ],
  });
  const one = withoutVersion(three, 'child-2');
  assert.deepEqual(block(one), {
    ...block(three),
    default: 'v1',
    versions: [{ name: 'v3', id: 'child-3' }],
  });
});

test('a version with the name of another version or of the base is rejected', () => {
  const first = { base_api_id: 'pub', base_api_version_name: 'v1', new_version_name: 'v2' };
  const two = withVersion(base, 'child', first);
  for (const new_version_name of ['v1', 'v2'])
    assert.throws(() => withVersion(two, 'other', { ...first, new_version_name }), /already has a version/);
});
