import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { catalogue } from '../src/catalogue.ts';
import { onEveryEngine, type TestApp } from './support/app.ts';
import { makeAuthority } from './support/certificates.ts';

/** ETag, If-Match and If-None-Match (RFC 9110, 8.8.3 and 13) of management operations. */

type Body = Record<string, unknown>;

/** One kind of object: where it is, and how a body differs from the next one. */
interface Kind {
  readonly name: string;
  create(app: TestApp): Promise<string>;
  /** Body of a PUT; without one the objects have no update. */
  body?(version: number, app: TestApp): Body;
  /** Value in a response that `body` of the same version puts there. */
  read?(body: Body): unknown;
}

async function ok(app: TestApp, method: string, path: string, body?: unknown, headers?: Record<string, string>) {
  const answer = await app.ask(method, path, { body, ...(headers && { headers }) });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer;
}

const definition = (path: string, version = 0) => ({
  name: `Api ${path}`,
  proxy: { listen_path: `/${path}/`, target_url: 'http://127.0.0.1:1/' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  tags: [`v${version}`],
});
const oas = (path: string, version = 0) => ({
  openapi: '3.0.3',
  info: { title: `Oas ${path}`, version: `${version}` },
  paths: {},
  'x-gw-api-gateway': {
    info: { name: `Oas ${path}`, state: { active: true } },
    upstream: { url: 'http://127.0.0.1:1/' },
    server: { listenPath: { value: `/${path}/` } },
  },
});

const chosen = new Map<string, string>();
/** A name of its own for each kind and run. */
const uniqueName = (kind: string) => {
  const name = `${kind}${createPublicId()}`;
  chosen.set(kind, name);
  return name;
};
const nameOf = (kind: string) => chosen.get(kind)!;

const kinds: readonly Kind[] = [
  {
    name: 'classic API',
    async create(app) {
      const { body } = await ok(app, 'POST', '/api/apis', { api_definition: definition(uniqueName('classic')) });
      return `/api/apis/${body.ID}`;
    },
    body: version => ({ api_definition: definition(nameOf('classic'), version) }),
    read: body => (body.api_definition as Body).tags,
  },
  {
    name: 'classic API of the control API',
    async create(app) {
      const { body } = await ok(app, 'POST', '/gw/apis', { ...definition(uniqueName('gw')), api_id: nameOf('gw') });
      return `/gw/apis/${body.key}`;
    },
    body: version => ({ ...definition(nameOf('gw'), version), api_id: nameOf('gw') }),
    read: body => body.tags,
  },
  {
    name: 'OAS API',
    async create(app) {
      const { body } = await ok(app, 'POST', '/api/apis/oas', oas(uniqueName('oas')));
      return `/api/apis/oas/${body.ID}`;
    },
    body: version => oas(nameOf('oas'), version),
    read: body => (body.info as Body).version,
  },
  {
    name: 'policy',
    async create(app) {
      const { body } = await ok(app, 'POST', '/api/portal/policies', { name: uniqueName('policy'), rate: 0 });
      return `/api/portal/policies/${body.Message}`;
    },
    body: version => ({ name: nameOf('policy'), rate: version }),
    read: body => body.rate,
  },
  {
    name: 'key',
    async create(app) {
      const { body } = await ok(app, 'POST', '/api/keys', { alias: 'v0', quota_max: 5, quota_renewal_rate: 60 });
      return `/api/keys/${body.key_id}`;
    },
    body: version => ({ alias: `v${version}`, quota_max: 5, quota_renewal_rate: 60 }),
    read: body => (body.data as Body).alias,
  },
  {
    name: 'webhook',
    async create(app) {
      const { body } = await ok(app, 'POST', '/api/hooks', hook(0));
      return `/api/hooks/${body.ID}`;
    },
    body: version => hook(version),
    read: body => body.name,
  },
  {
    name: 'certificate',
    async create(app) {
      const form = new FormData();
      form.set('file', new Blob([makeAuthority(uniqueName('cert')).certPem]), 'a.pem');
      return `/api/certs/${(await ok(app, 'POST', '/api/certs', form)).body.id}`;
    },
  },
  {
    name: 'template',
    async create(app) {
      const { body } = await ok(app, 'POST', '/api/assets', { name: 'v0', data: {} });
      return `/api/assets/${body.Meta}`;
    },
    body: version => ({ name: `v${version}`, data: {} }),
    read: body => body.name,
  },
  {
    name: 'user',
    async create(app) {
      const { body } = await ok(app, 'POST', '/api/users', {
        ...user(0),
        email_address: `${uniqueName('u')}@example.org`,
      });
      return `/api/users/${body.Meta}`;
    },
    body: version => ({ ...user(version), email_address: `${nameOf('u')}@example.org` }),
    read: body => body.first_name,
  },
  {
    name: 'user group',
    async create(app) {
      const { body } = await ok(app, 'POST', '/api/usergroups', { name: 'v0', user_permissions: { apis: 'read' } });
      return `/api/usergroups/${body.Meta}`;
    },
    body: version => ({ name: `v${version}`, user_permissions: { apis: 'read' } }),
    read: body => body.name,
  },
  {
    name: 'identity profile',
    async create(app) {
      return `/api/sso/profiles/${(await ok(app, 'POST', '/api/sso/profiles', profile(0))).body.Meta}`;
    },
    body: version => profile(version),
    read: body => body.Name,
  },
  {
    name: 'organisation',
    async create(app) {
      const { body } = await ok(app, 'POST', '/admin/organisations', { owner_name: 'v0' });
      return `/admin/organisations/${body.Meta}`;
    },
    body: version => ({ owner_name: `v${version}` }),
    read: body => body.owner_name,
  },
];

function hook(version: number): Body {
  return { method: 'POST', target_path: 'http://127.0.0.1:1/hook', name: `v${version}`, header_map: { secret: 'x' } };
}
function user(version: number): Body {
  return { first_name: `v${version}`, last_name: 'B', active: true, user_permissions: { apis: 'read' } };
}
function profile(version: number): Body {
  const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
  const UseProviders = [{ Name: 'openid-connect', Key: 'client', Secret: 'planted', DiscoverURL }];
  return { Name: `v${version}`, ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } };
}

const tagPattern = /^"[0-9a-f]{32}-[0-9a-f]{16}"$/;

onEveryEngine(
  'Conditional requests',
  app => {
    const read = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await app().ask('GET', path, { headers });
      return { ...answer, tag: answer.headers.get('etag') ?? '' };
    };

    for (const kind of kinds)
      describe(kind.name, () => {
        test('a read has a strong tag, which stays the same until the object changes', async () => {
          const path = await kind.create(app());
          const { tag } = await read(path);
          assert.match(tag, tagPattern);
          assert.equal((await read(path)).tag, tag);
        });

        test('a read with the tag of its representation gets 304 without a body, and another tag the object', async () => {
          const path = await kind.create(app());
          const { tag } = await read(path);
          for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
            const unchanged = await read(path, { 'if-none-match': condition });
            assert.deepEqual([unchanged.status, unchanged.text, unchanged.tag], [304, '', tag], condition);
          }
          assert.equal((await read(path, { 'if-none-match': '"other"' })).status, 200);
          assert.equal((await read(path, { 'if-match': '"other"' })).status, 412);
          assert.equal((await read(path, { 'if-match': tag })).status, 200);
        });

        test('a removal with a tag that is not current gets 412 and removes nothing', async () => {
          const path = await kind.create(app());
          const { tag } = await read(path);
          const stale = await app().ask('DELETE', path, { headers: { 'if-match': '"0123"' } });
          assert.equal(stale.status, 412, stale.text);
          assert.equal((await read(path)).tag, tag);
          await ok(app(), 'DELETE', path, undefined, { 'if-match': tag });
          assert.notEqual((await read(path)).status, 200);
        });

        if (!kind.body || !kind.read) return;
        const { body, read: readValue } = kind as Required<Kind>;

        test('a write with a tag that is not current gets 412 and changes nothing; without a tag it wins', async () => {
          const path = await kind.create(app());
          const first = await read(path);
          const written = await ok(app(), 'PUT', path, body(1, app()), { 'if-match': first.tag });
          const second = await read(path);
          assert.notEqual(second.tag, first.tag);
          assert.equal(written.headers.get('etag'), `${second.tag.slice(0, 33)}"`);
          for (const condition of [first.tag, `W/${second.tag}`, '"x", "y"']) {
            const stale = await app().ask('PUT', path, { body: body(2, app()), headers: { 'if-match': condition } });
            assert.equal(stale.status, 412, stale.text);
            assert.match(stale.text, /has changed since it was read/);
            assert.equal((await read(path)).tag, second.tag);
          }
          // The tag of a write serves the next write, as the tag of a read does.
          const tag = written.headers.get('etag')!;
          await ok(app(), 'PUT', path, body(2, app()), { 'if-match': `"x", ${tag}` });
          await ok(app(), 'PUT', path, body(3, app()), { 'if-match': '*' });
          await ok(app(), 'PUT', path, body(4, app()));
          assert.deepEqual(readValue((await read(path)).body), readValue((await expected(4)).body));

          async function expected(version: number) {
            const other = await kind.create(app());
            await ok(app(), 'PUT', other, body(version, app()));
            return read(other);
          }
        });

        test('of writers with the same tag at the same time one succeeds and the others get 412', async () => {
          const path = await kind.create(app());
          const { tag } = await read(path);
          const answers = await Promise.all(
            [1, 2, 3, 4].map(version =>
              app().ask('PUT', path, { body: body(version, app()), headers: { 'if-match': tag } }),
            ),
          );
          const statuses = answers.map(({ status }) => status).sort();
          assert.deepEqual(statuses, [200, 412, 412, 412], answers.map(({ text }) => text).join('\n'));
        });

        test('If-None-Match: * refuses to replace an object', async () => {
          const path = await kind.create(app());
          const { tag } = await read(path);
          const refused = await app().ask('PUT', path, { body: body(1, app()), headers: { 'if-none-match': '*' } });
          assert.equal(refused.status, 412, refused.text);
          assert.equal((await read(path)).tag, tag);
        });
      });

    test('a condition on an upsert holds for the create and for the update', async () => {
      const path = `/gw/keys/named${createPublicId()}`;
      const put = (alias: string, headers: Record<string, string>) =>
        app().ask('POST', path, { body: { alias }, headers });
      assert.equal((await put('a', { 'if-match': '*' })).status, 412);
      assert.equal((await put('b', { 'if-none-match': '*' })).status, 200);
      assert.equal((await put('c', { 'if-none-match': '*' })).status, 412);
      const { body, headers } = await app().ask('GET', path);
      assert.equal(body.alias, 'b');
      assert.equal((await put('d', { 'if-match': headers.get('etag')! })).status, 200);
      const answers = await Promise.all(
        ['e', 'f', 'g'].map(alias =>
          app().ask('POST', `${path}x`, { body: { alias }, headers: { 'if-none-match': '*' } }),
        ),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412]);
    });

    test('a tag of a key serves a write although its quota was used since', async () => {
      const { body } = await ok(app(), 'POST', '/api/keys', { alias: 'a', quota_max: 9, quota_renewal_rate: 3600 });
      const path = `/api/keys/${body.key_id}`;
      const { tag } = await read(path);
      const { services } = app().application.installation;
      const stored = await services.keys.get(app().credentials.organisation_id, body.key_id);
      assert.ok(stored);
      await ok(app(), 'PUT', path, { alias: 'b', quota_max: 9, quota_renewal_rate: 3600 }, { 'if-match': tag });
    });

    test('a malformed tag, too many tags and a condition where there is no version get 400', async () => {
      const path = await kinds[3]!.create(app());
      for (const condition of ['unquoted', '"open', '"a" "b"', Array(200).fill('"a"').join(', ')]) {
        const answer = await app().ask('DELETE', path, { headers: { 'if-match': condition } });
        assert.equal(answer.status, 400, condition);
        assert.match(answer.text, /entity tags in quotes/);
      }
      const unversioned = await app().ask('POST', '/api/keys', { body: {}, headers: { 'if-match': '"a"' } });
      assert.equal(unversioned.status, 400);
      assert.match(unversioned.text, /leave out If-Match/);
    });

    test('a condition does not reveal objects of another organisation', async () => {
      const path = await kinds[0]!.create(app());
      const { accessKey: credential } = await app().stranger();
      for (const condition of ['*', (await read(path)).tag, '"other"']) {
        const known = await app().ask('DELETE', path, { credential, headers: { 'if-match': condition } });
        const unknown = await app().ask('DELETE', '/api/apis/unknown', {
          credential,
          headers: { 'if-match': condition },
        });
        assert.deepEqual([known.status, known.text], [unknown.status, unknown.text]);
      }
      assert.equal((await read(path)).status, 200);
    });

    test('a YAML representation has another tag than JSON, and the tag of either serves a write', async () => {
      const path = await kinds[2]!.create(app());
      const { tag: json } = await read(path);
      const yaml = await read(path, { accept: 'application/yaml' });
      assert.notEqual(yaml.tag, json);
      assert.equal((await read(path, { accept: 'application/yaml', 'if-none-match': json })).status, 200);
      await ok(app(), 'PUT', path, kinds[2]!.body!(1, app()), { 'if-match': yaml.tag });
    });
  },
  // Keys of tests need no API.
  { settings: { 'keys.allow_master_keys': 'true' } },
);

describe('Versioned operations', () => {
  const operations = catalogue as readonly AnyOperation[];

  test('every operation on one object of a versioned kind is declared so', () => {
    const nouns = new Set(['apis', 'policies', 'keys', 'webhooks', 'certificates', 'assets', 'users', 'user groups']);
    const single = /^\/(api|gw|admin)\/(?:[\w/-]+)\/\{\w+\}$/;
    const found = operations
      .filter(it => it.surface !== 'portal' && nouns.has(it.noun) && single.test(it.path) && !it.versioned)
      .map(it => it.name);
    assert.deepEqual(found.sort(), [...withoutVersion].sort());
  });
});

/** Paths that end with an id and name no single stored object: lists, derived documents, creates. */
const withoutVersion: readonly string[] = [
  'createCustomKey',
  'deleteCertificateDependencies',
  'getCertificateDependencies',
  'getDelivery',
  'getGatewayCertificates',
  'getOperatorDelivery',
  'listApiRevisions',
  'listAssetRevisions',
  'listCertificateRevisions',
  'listHookRevisions',
  'listPolicyRevisions',
  'listUserGroupRevisions',
  'listUserRevisions',
];
