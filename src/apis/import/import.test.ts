import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';

const classic = (api_id: string, more: object = {}) => ({
  api_definition: {
    api_id,
    name: `${api_id} #moved`,
    proxy: { listen_path: `/${api_id}/`, target_url: 'http://127.0.0.1:9/' },
    ...more,
  },
});

onEveryEngine('import of APIs', app => {
  const load = (apis: unknown) => app().ask('POST', '/admin/apis/import', { body: { apis } });

  test('an import stores APIs as lists return them, with ids, owners and categories', async () => {
    const { accessKey, orgId } = await app().stranger();
    const own = { credential: accessKey };
    const gateway = { info: { name: 'Flow' }, server: { listenPath: { value: '/flow/' } } };
    await app().ask('POST', '/api/apis', { ...own, body: { ...classic('moved'), user_owners: ['u1'] } });
    const streams = await app().ask('POST', '/api/apis/streams', {
      ...own,
      headers: { 'content-type': 'application/vnd.gw.streams.oas' },
      body: JSON.stringify({ 'x-gw-api-gateway': gateway, 'x-gw-streaming': { streams: { a: { input: {} } } } }),
    });
    const before = (await app().ask('GET', '/api/apis?p=-1&sort=name', own)).body;
    for (const { api_definition } of before.apis) await app().ask('DELETE', `/api/apis/${api_definition.id}`, own);
    const answer = await app().ask('POST', '/admin/apis/import', { body: before });
    assert.deepEqual(answer.body, {
      Status: 'OK',
      Message: 'APIs imported',
      Meta: { moved: true, [streams.body.ID]: true },
      Errors: {},
    });
    const after = (await app().ask('GET', '/api/apis?p=-1&sort=name', own)).body;
    const timeless = ({ created_at: _c, updated_at: _u, ...api }: Record<string, unknown>) => api;
    assert.deepEqual(after.apis.map(timeless), before.apis.map(timeless));
    assert.equal(after.apis[0].api_definition.org_id, orgId);
    const { categories } = (await app().ask('GET', '/api/apis/categories', own)).body;
    assert.deepEqual(categories, [{ name: 'moved', count: 1 }]);
  });

  test('an imported document keeps its categories, without blank and repeated ones', async () => {
    const oas = {
      openapi: '3.0.3',
      info: { title: 'Doc', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { id: 'doc', name: 'Doc' },
        server: { listenPath: { value: '/doc/' } },
        upstream: { url: 'http://127.0.0.1:9/' },
      },
    };
    const given = { api_definition: { api_id: 'doc' }, oas, categories: ['eu', ' ', 'eu', ' us '] };
    assert.deepEqual((await load([given])).body.Meta, { doc: true });
    const { body } = await app().ask('GET', '/api/apis/doc');
    assert.deepEqual([body.categories, body.api_definition.is_oas, body.is_streams], [['eu', 'us'], true, undefined]);
    assert.equal(body.oas.info.title, 'Doc');
    const refused = await app().ask('PUT', '/api/apis/doc', { body: classic('doc') });
    assert.equal(refused.status, 400);
    assert.match(refused.body.Message, /PUT \/api\/apis\/oas\/doc$/);
  });

  test('an API that cannot be stored is reported, and the others are stored', async () => {
    const { status, body } = await load([
      classic('fine'),
      classic('fine-2', { org_id: 'nowhere' }),
      classic('fine-3', { proxy: { listen_path: '/fine/', target_url: 'http://127.0.0.1:9/' } }),
      { api_definition: { name: 7 } },
      classic('last'),
    ]);
    assert.equal(status, 200);
    assert.deepEqual(body.Meta, { fine: true, 'fine-2': false, 'fine-3': false, 'apis[3]': false, last: true });
    assert.deepEqual(Object.keys(body.Errors), ['fine-2', 'fine-3', 'apis[3]']);
    assert.equal(body.Errors['apis[3]'], 'apis[3].api_definition.name: must be a string');
    const again = await load([classic('fine')]);
    assert.deepEqual(
      [again.body.Meta, again.body.Errors],
      [{ fine: false }, { fine: 'Found API with the same ID: choose another id' }],
    );
  });

  test('an import keeps the database id, once', async () => {
    const id = '65f0c1d2a3b4c5d6e7f80910';
    assert.deepEqual((await load([classic('with-id', { id })])).body.Meta, { 'with-id': true });
    assert.equal((await app().ask('GET', `/api/apis/${id}`)).body.api_definition.api_id, 'with-id');
    assert.deepEqual((await load([classic('same-id', { id })])).body.Errors, {
      'same-id': 'Found API with the same ID: choose another id',
    });
  });

  test('a body that is no list of APIs is rejected with its path', async () => {
    for (const [apis, path] of [
      [undefined, 'apis'],
      [[], 'apis'],
      [{}, 'apis'],
      [[7], 'apis[0]'],
      [[{}], 'apis[0].api_definition'],
      [[{ api_definition: {}, user_owners: [1] }], 'apis[0].user_owners[0]'],
    ] as const) {
      const answer = await load(apis);
      assert.equal(answer.status, 400);
      assert.ok(answer.body.Message.startsWith(`${path}: `), answer.body.Message);
    }
  });
});
