import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, startApp, type TestApp } from './support/app.ts';
import { addPerson } from './support/browser.ts';
import { makeAuthority } from './support/certificates.ts';

/** Objects that others depend on: they are listed, and a delete refuses on demand. */

async function ok(app: TestApp, method: string, path: string, body?: unknown) {
  const answer = await app.ask(method, path, { body });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

const definition = (more: Record<string, unknown> = {}) => ({
  name: `D ${createPublicId()}`,
  proxy: { listen_path: `/d${createPublicId()}/`, target_url: 'http://127.0.0.1:1/' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  ...more,
});
const createApi = async (app: TestApp, more: Record<string, unknown> = {}, beside: object = {}): Promise<string> =>
  (await ok(app, 'POST', '/api/apis', { api_definition: definition(more), ...beside })).ID;

interface Case {
  readonly kind: string;
  /** Creates an object with dependents: its path, and the dependents as `kind id`. */
  create(app: TestApp): Promise<{ path: string; expected: string[] }>;
}

const cases: readonly Case[] = [
  {
    kind: 'API',
    async create(app) {
      const id = await createApi(app, { use_keyless: false, use_oauth2: true });
      const access_rights = { [id]: { api_id: id, versions: ['Default'] } };
      const looping = await createApi(app, {
        proxy: { listen_path: `/l${createPublicId()}/`, target_url: `gw://${id}/` },
      });
      const { Message: policy } = await ok(app, 'POST', '/api/portal/policies', {
        name: createPublicId(),
        access_rights,
      });
      const { key_hash: key } = await ok(app, 'POST', '/api/keys', { access_rights });
      const client = { redirect_uri: 'http://127.0.0.1/callback', policy_id: policy };
      const { client_id } = await ok(app, 'POST', `/api/apis/oauth/${id}`, client);
      return {
        path: `/api/apis/${id}`,
        expected: [`apis ${looping}`, `policies ${policy}`, `keys ${key}`, `oauth clients ${client_id}`],
      };
    },
  },
  {
    kind: 'policy',
    async create(app) {
      const id = await createApi(app, { use_keyless: false, use_oauth2: true });
      const access_rights = { [id]: { api_id: id, versions: ['Default'] } };
      const { Message: policy } = await ok(app, 'POST', '/api/portal/policies', {
        name: createPublicId(),
        access_rights,
      });
      const { key_hash: key } = await ok(app, 'POST', '/api/keys', { apply_policies: [policy] });
      const client = { redirect_uri: 'http://127.0.0.1/callback', policy_id: policy };
      const { client_id } = await ok(app, 'POST', `/api/apis/oauth/${id}`, client);
      const named = await createApi(app, { enable_jwt: true, use_keyless: false, jwt_default_policies: [policy] });
      return {
        path: `/api/portal/policies/${policy}`,
        expected: [`keys ${key}`, `oauth clients ${client_id}`, `apis ${named}`],
      };
    },
  },
  {
    kind: 'certificate',
    async create(app) {
      const form = new FormData();
      form.set('file', new Blob([makeAuthority(createPublicId()).certPem]), 'a.pem');
      const { id } = await ok(app, 'POST', '/api/certs', form);
      const api = await createApi(app, { use_mutual_tls_auth: true, client_certificates: [id] });
      const { key_hash: key } = await ok(app, 'POST', '/api/keys', {
        mtls_static_certificate_bindings: [id],
        access_rights: { [api]: { api_id: api, versions: ['Default'] } },
      });
      return { path: `/api/certs/${id}`, expected: [`apis ${api}`, `keys ${key}`] };
    },
  },
  {
    kind: 'webhook',
    async create(app) {
      const hook = { method: 'POST', target_path: 'http://127.0.0.1:1/hook', name: 'h' };
      const { ID: id } = await ok(app, 'POST', '/api/hooks', hook);
      const api = await createApi(app, {}, { hook_references: [{ event_name: 'AuthFailure', hook: { id } }] });
      return { path: `/api/hooks/${id}`, expected: [`apis ${api}`] };
    },
  },
  {
    kind: 'user group',
    async create(app) {
      const { Meta: id } = await ok(app, 'POST', '/api/usergroups', { name: 'g', user_permissions: { apis: 'read' } });
      const api = await createApi(app, {}, { user_group_owners: [id] });
      const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
      const UseProviders = [{ Name: 'openid-connect', Key: 'client', Secret: 'planted', DiscoverURL }];
      const profile = { Name: 'P', ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } };
      const { Meta } = await ok(app, 'POST', '/api/sso/profiles', { ...profile, DefaultUserGroupID: id });
      return { path: `/api/usergroups/${id}`, expected: [`sso profiles ${Meta}`, `apis ${api}`] };
    },
  },
];

onEveryEngine('Dependents', app => {
  for (const { kind, create } of cases)
    describe(kind, () => {
      test('are listed, refuse a delete with force=false by their names, and do not refuse one without', async () => {
        const { path, expected } = await create(app());
        const { dependents, total } = await ok(app(), 'GET', `${path}/dependents`);
        const found = dependents.map((it: { kind: string; id: string }) => `${it.kind} ${it.id}`);
        assert.deepEqual([found.sort(), total], [[...expected].sort(), expected.length]);
        const refused = await app().ask('DELETE', `${path}?force=false`);
        assert.equal(refused.status, 409, refused.text);
        for (const { name } of dependents) assert.ok(refused.text.includes(name), `${name}: ${refused.text}`);
        assert.equal((await app().ask('GET', path)).status, 200);
        await ok(app(), 'DELETE', path);
      });

      test('are needed by force=false alone: an object without any is deleted', async () => {
        const { path } = await create(app());
        await ok(app(), 'DELETE', `${path}?force=true`);
        assert.equal((await app().ask('GET', `${path}/dependents`)).status, 404);
      });
    });

  test('a group with users is refused with and without force, and its users are listed', async () => {
    const group = { name: 'g', user_permissions: { apis: 'read' } };
    const { Meta: id } = await ok(app(), 'POST', '/api/usergroups', group);
    const person = await addPerson(app(), { group_id: id });
    const { dependents } = await ok(app(), 'GET', `/api/usergroups/${id}/dependents`);
    assert.deepEqual(dependents, [{ kind: 'users', id: person.id, name: person.username }]);
    for (const query of ['', '?force=true', '?force=false'])
      assert.equal((await app().ask('DELETE', `/api/usergroups/${id}${query}`)).status, 409, query);
  });

  test('uses of webhooks are listed for some of them at once, in the organisation and by permission', async () => {
    const hook = (name: string) => ({ method: 'POST', target_path: 'http://127.0.0.1:1/hook', name });
    const { ID: used } = await ok(app(), 'POST', '/api/hooks', hook('used'));
    const { ID: unused } = await ok(app(), 'POST', '/api/hooks', hook('unused'));
    const references = { hook_references: [{ event_name: 'AuthFailure', hook: { id: used } }] };
    const apis = [await createApi(app(), {}, references), await createApi(app(), {}, references)];
    const path = `/api/hooks/uses?ids=${used},${unused},${createPublicId()}`;
    const { hooks } = await ok(app(), 'GET', path);
    assert.deepEqual(
      hooks.map((it: { hook_id: string; total: number; apis: { id: string; name: string }[] }) => [
        it.hook_id,
        it.total,
        it.apis.map(({ id }) => id).sort(),
      ]),
      [
        [used, 2, apis.sort()],
        [unused, 0, []],
      ],
    );
    assert.ok(hooks[0].apis.every(({ name }: { name: string }) => name.startsWith('D ')));
    const { accessKey: credential } = await addPerson(app(), { user_permissions: { hooks: 'read' } });
    const [counted] = (await app().ask('GET', path, { credential })).body.hooks;
    assert.deepEqual([counted.total, counted.apis], [2, []]);
    const stranger = await app().stranger();
    assert.deepEqual((await app().ask('GET', path, { credential: stranger.accessKey })).body.hooks, []);
    for (const id of apis) await ok(app(), 'DELETE', `/api/apis/${id}`);
  });

  test('dependents that a caller must not read are counted and not named', async () => {
    const { path } = await cases[0]!.create(app());
    const { accessKey: credential } = await addPerson(app(), { user_permissions: { apis: 'write' } });
    const { body } = await app().ask('GET', `${path}/dependents`, { credential });
    assert.equal(body.total, 4);
    assert.deepEqual(new Set(body.dependents.map((it: { kind: string }) => it.kind)), new Set(['apis']));
    const refused = await app().ask('DELETE', `${path}?force=false`, { credential });
    assert.match(refused.text, /3 more/);
  });

  test('deletes of documents, streams and certificates, also of the control API, refuse alike', async () => {
    const document = () => ({
      openapi: '3.0.3',
      info: { title: 'D', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { name: `D ${createPublicId()}`, state: { active: true } },
        server: { listenPath: { value: `/d${createPublicId()}/`, strip: true } },
        upstream: { url: 'http://127.0.0.1:1/' },
      },
    });
    const createReferenced = async (place: string, body: object, type = 'application/json'): Promise<string> => {
      const {
        status,
        text,
        body: made,
      } = await app().ask('POST', `/api/apis/${place}`, {
        body: JSON.stringify(body),
        headers: { 'content-type': type },
      });
      assert.equal(status, 200, text);
      await createApi(app(), { proxy: { listen_path: `/l${createPublicId()}/`, target_url: `gw://${made.ID}/` } });
      return made.ID;
    };
    const oas = await createReferenced('oas', document());
    const streamed = { ...document(), 'x-gw-streaming': { streams: {} } };
    const streams = await createReferenced('streams', streamed, 'application/vnd.gw.streams.oas');
    const [api, , certificate] = await Promise.all(cases.slice(0, 3).map(it => it.create(app())));
    for (const path of [
      `/api/apis/oas/${oas}`,
      `/gw/apis/oas/${oas}`,
      `/api/apis/streams/${streams}`,
      api!.path.replace('/api/', '/gw/'),
      certificate!.path.replace('/api/', '/gw/'),
    ]) {
      const refused = await app().ask('DELETE', `${path}?force=false`);
      assert.deepEqual([refused.status, /depend on it/.test(refused.text)], [409, true], `${path}: ${refused.text}`);
    }
  });

  test('the control API refuses and names dependents too', async () => {
    const { path, expected } = await cases[1]!.create(app());
    const id = path.split('/').at(-1);
    const refused = await app().ask('DELETE', `/gw/policies/${id}?force=false`);
    assert.equal(refused.status, 409, refused.text);
    assert.ok(refused.text.includes(expected[0]!));
    await ok(app(), 'DELETE', `/gw/policies/${id}`);
  });
});

describe('management.delete_requires_force', () => {
  test('refuses a delete without force while others depend on the object', async () => {
    const app = await startApp('sqlite', { settings: { 'management.delete_requires_force': 'true' } });
    try {
      const { path } = await cases[3]!.create(app);
      assert.equal((await app.ask('DELETE', path)).status, 409);
      await ok(app, 'DELETE', `${path}?force=true`);
      const alone = await createApi(app);
      await ok(app, 'DELETE', `/api/apis/${alone}`);
    } finally {
      await app.close();
    }
  });
});
