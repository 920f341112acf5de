import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson, openBrowser } from '../../../tests/support/browser.ts';
import { bulkActions } from './actions.ts';

const definition = (more: object = {}) => ({
  name: `Bulk ${createPublicId()}`,
  use_keyless: true,
  proxy: { listen_path: `/b${createPublicId()}/`, target_url: 'http://127.0.0.1:1/' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  ...more,
});

const document = () => ({
  openapi: '3.0.3',
  info: { title: 'Bulk', version: '1' },
  paths: {},
  'x-gw-api-gateway': {
    info: { name: `Bulk ${createPublicId()}`, state: { active: true, internal: true } },
    upstream: { url: 'http://127.0.0.1:1/' },
    server: { listenPath: { value: `/b${createPublicId()}/`, strip: true } },
  },
});

const hookBody = { method: 'POST', target_path: 'http://127.0.0.1:1/' };

onEveryEngine('Bulk', app => {
  const ok = async (method: string, path: string, body?: unknown, credential?: string) => {
    const asked = { ...(body === undefined ? {} : { body }), ...(credential ? { credential } : {}) };
    const answer = await app().ask(method, path, asked);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const bulk = (body: object, credential?: string) =>
    app().ask('POST', '/api/bulk', { body, ...(credential ? { credential } : {}) });
  const makeHook = async (credential?: string) => (await ok('POST', '/api/hooks', hookBody, credential)).ID as string;
  const makeApi = async (more: object = {}, outside: object = {}) =>
    (await ok('POST', '/api/apis', { api_definition: definition(more), ...outside })).ID as string;
  const readAudit = async (action: string) => {
    const { db } = app().application.installation.records;
    return db.selectFrom('audit').selectAll().where('action', '=', action).orderBy('id').execute();
  };

  test('every action is an operation of the dashboard with one path parameter and a permission', () => {
    for (const actions of Object.values(bulkActions))
      for (const { operation } of Object.values(actions)) {
        assert.equal(operation.path.match(/\{[\w-]+\}/g)?.length, 1, operation.name);
        assert.match(operation.permission, /^\w+:write$/);
        assert.notEqual(operation.method, 'GET');
      }
  });

  test('APIs of either format are deactivated, activated and deleted, and keep the rest of their definition', async () => {
    const classic = await makeApi();
    const { ID: oas } = await ok('POST', '/api/apis/oas', document());
    const readState = async () => {
      const { api_definition } = await ok('GET', `/api/apis/${classic}`);
      const { 'x-gw-api-gateway': extension } = await ok('GET', `/api/apis/oas/${oas}`);
      return [api_definition.active, extension.info.state];
    };
    const before = (await ok('GET', `/api/apis/${classic}`)).api_definition;
    for (const [action, active] of [
      ['deactivate', false],
      ['deactivate', false],
      ['activate', true],
    ] as const) {
      const { body } = await bulk({ kind: 'apis', action, ids: [classic, oas] });
      const message = active ? 'API activated' : 'API deactivated';
      const results = [classic, oas].map(id => ({ id, status: 200, message }));
      assert.deepEqual(body, { succeeded: 2, failed: 0, results });
      assert.deepEqual(await readState(), [active, { active, internal: true }]);
    }
    assert.deepEqual((await ok('GET', `/api/apis/${classic}`)).api_definition, { ...before, active: true });
    const { body } = await bulk({ kind: 'apis', action: 'delete', ids: [classic, oas] });
    assert.equal(body.succeeded, 2);
    assert.equal((await app().ask('GET', `/api/apis/${classic}`)).status, 404);
  });

  test('an unknown id and one of another organisation fail by themselves, with the problem of the operation', async () => {
    const { accessKey } = await app().stranger();
    const foreign = await makeHook(accessKey);
    const [first, last] = [await makeHook(), await makeHook()];
    const { status, body } = await bulk({ kind: 'webhooks', action: 'delete', ids: [first, 'unknown', foreign, last] });
    assert.equal(status, 200);
    const missing = { status: 404, message: 'Webhook not found' };
    const deleted = { status: 200, message: 'Webhook deleted' };
    assert.deepEqual(body, {
      succeeded: 2,
      failed: 2,
      results: [
        { id: first, ...deleted },
        { id: 'unknown', ...missing },
        { id: foreign, ...missing },
        { id: last, ...deleted },
      ],
    });
    assert.equal((await app().ask('GET', `/api/hooks/${foreign}`, { credential: accessKey })).status, 200);
  });

  test('each object has the audit record of the operation on it, and the request one of its own', async () => {
    const ids = [await makeHook(), 'unknown'];
    await bulk({ kind: 'webhooks', action: 'delete', ids });
    const single = (await readAudit('deleteHook')).slice(-2);
    assert.deepEqual(
      single.map(it => [it.method, it.url, Number(it.status), it.ip, it.actor !== '']),
      ids.map((id, at) => ['DELETE', `/api/hooks/${id}`, at === 0 ? 200 : 404, '127.0.0.1', true]),
    );
    const [own] = (await readAudit('runBulk')).slice(-1);
    assert.deepEqual([own!.url, Number(own!.status), own!.actor], ['/api/bulk', 200, single[0]!.actor]);
  });

  test('keys are deleted by id or hash, and no audit record holds an id', async () => {
    const makeKey = async () => {
      const apiId = await makeApi({ use_keyless: false, use_standard_auth: true });
      return ok('POST', '/api/keys', { access_rights: { [apiId]: { api_id: apiId, versions: ['Default'] } } });
    };
    const [byId, byHash] = [await makeKey(), await makeKey()];
    const { body } = await bulk({ kind: 'keys', action: 'delete', ids: [byId.key_id, byHash.key_hash] });
    assert.deepEqual([body.succeeded, body.failed], [2, 0], JSON.stringify(body));
    for (const { key_id } of [byId, byHash]) assert.equal((await app().ask('GET', `/api/keys/${key_id}`)).status, 404);
    const records = JSON.stringify([await readAudit('deleteKey'), await readAudit('runBulk')]);
    assert.ok(!records.includes(byId.key_id));
  });

  test('keys get a policy and a later expiry, and one that cannot have them fails by itself', async () => {
    const apiId = await makeApi({ use_keyless: false, use_standard_auth: true });
    const access_rights = { [apiId]: { api_id: apiId, versions: ['Default'] } };
    const id = createPublicId();
    await ok('POST', '/api/portal/policies', { id, name: id, access_rights, active: true });
    const expires = 4_000_000_000;
    const [key, lasting] = [
      await ok('POST', '/api/keys', { access_rights, expires }),
      await ok('POST', '/api/keys', { access_rights }),
    ];
    const changes = { add_policies: [id], extend_to: expires + 1 };
    const ids = [key.key_hash, 'unknown', lasting.key_hash];
    const { body } = await bulk({ kind: 'keys', action: 'change', ids, changes });
    assert.deepEqual(
      body.results.map((it: { status: number; message: string }) => [it.status, it.message]),
      [
        [200, 'Key changed'],
        [404, 'Could not retrieve key detail'],
        [200, 'Key changed'],
      ],
    );
    for (const [{ key_id }, end] of [
      [key, expires + 1],
      [lasting, 0],
    ] as const) {
      const { data } = await ok('GET', `/api/keys/${key_id}`);
      assert.deepEqual([data.apply_policies, data.expires], [[id], end]);
    }
  });

  test('a caller without the permission of the operation is refused, and nothing changes', async () => {
    const { accessKey } = await addPerson(app(), { user_permissions: { hooks: 'read', apis: 'write' } });
    const id = await makeHook();
    const refused = await bulk({ kind: 'webhooks', action: 'delete', ids: [id] }, accessKey);
    assert.deepEqual([refused.status, refused.body.Message.includes('hooks:write')], [403, true], refused.text);
    await ok('GET', `/api/hooks/${id}`);
  });

  test('an API that the caller does not own fails by itself', async () => {
    const [owner, other] = [
      await addPerson(app(), { user_permissions: { apis: 'write' } }),
      await addPerson(app(), { user_permissions: { apis: 'write' } }),
    ];
    const [owned, free] = [await makeApi(), await makeApi()];
    await ok('PUT', `/api/apis/${owned}/access`, { userIds: [owner.id], userGroupIds: [] });
    for (const action of ['deactivate', 'activate', 'delete']) {
      const { body } = await bulk({ kind: 'apis', action, ids: [owned, free] }, other.accessKey);
      assert.deepEqual(
        body.results.map((it: { status: number }) => it.status),
        [403, 200],
      );
    }
    assert.notEqual((await ok('GET', `/api/apis/${owned}`)).api_definition.active, false);
  });

  test('a browser session runs it with its CSRF token', async () => {
    const { username, password } = await addPerson(app());
    const browser = openBrowser(app());
    await browser.signIn({ username, password });
    const ids = [await makeHook()];
    const { body } = await browser.ask('POST', '/api/bulk', { body: { kind: 'webhooks', action: 'delete', ids } });
    assert.equal(body.succeeded, 1, JSON.stringify(body));
  });

  test('users are deleted and revoked; after a caller ended its own access nothing more is done', async () => {
    const [caller, first, last] = [await addPerson(app()), await addPerson(app()), await addPerson(app())];
    const ids = [first.id, caller.id, last.id];
    const { body } = await bulk({ kind: 'users', action: 'revoke', ids }, caller.accessKey);
    assert.deepEqual(
      body.results.map((it: { status: number }) => it.status),
      [200, 200, 401],
    );
    assert.equal((await ok('GET', `/api/users/${last.id}`)).active, true);
    assert.equal((await bulk({ kind: 'users', action: 'delete', ids })).body.succeeded, 3);
  });

  test('an id is data of a path, never a part of it', async () => {
    const id = await makeHook();
    const ids = [`../hooks/${id}`, `x/../${id}`, `${id}?x=`, `${id}#`, '%2e%2e', 'é'];
    const { body } = await bulk({ kind: 'webhooks', action: 'delete', ids });
    assert.equal(body.succeeded, 0, JSON.stringify(body));
    await ok('GET', `/api/hooks/${id}`);
  });

  test('invalid requests are refused with the path of the member', async () => {
    for (const [wrong, message] of [
      [{ kind: 'apis', action: 'revoke', ids: ['a'] }, /^action: apis have no action revoke: it must be activate or /],
      [{ kind: 'cats', action: 'delete', ids: ['a'] }, /^kind: /],
      [{ kind: 'apis', action: 'delete', ids: [] }, /^ids: /],
      [{ kind: 'apis', action: 'delete', ids: ['a', 'a'] }, /^ids: has duplicates/],
      [{ kind: 'apis', action: 'delete', ids: ['..'] }, /^ids\[0\]: is not an id/],
      [{ kind: 'apis', action: 'delete', ids: [''] }, /^ids\[0\]: /],
      [{ kind: 'apis', action: 'delete', ids: Array.from({ length: 501 }, (_each, at) => `n${at}`) }, /^ids: /],
      [{ kind: 'apis', action: 'delete', ids: ['a'], force: true }, /^force: no such member/],
      [{ kind: 'keys', action: 'change', ids: ['a'] }, /^changes: the action change requires changes/],
      [{ kind: 'keys', action: 'delete', ids: ['a'], changes: { extend_to: 0 } }, /^changes: the action delete has no/],
      [{ kind: 'keys', action: 'change', ids: ['a'], changes: {} }, /^changes: name at least one of add_policies/],
      [{ kind: 'keys', action: 'change', ids: ['a'], changes: { rate: 1 } }, /^changes\.rate: no such member/],
    ] as const) {
      const { status, body } = await bulk(wrong);
      assert.equal(status, 400);
      assert.match(body.Message, message);
    }
  });
});
