import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine } from '../../../tests/support/app.ts';

const upstreamUrl = 'http://127.0.0.1:9/';
const templateData = () => ({
  tags: [{ name: 'from template' }],
  servers: [{ url: 'http://127.0.0.1:9/template' }],
  components: { schemas: { Shared: { type: 'string' }, Own: { type: 'string' } } },
  'x-gw-api-gateway': {
    info: { id: 'of-the-template', name: 'Template', state: { active: true } },
    middleware: { global: { cors: { enabled: true, allowedOrigins: ['https://a.example'] } } },
    upstream: {
      authentication: { enabled: true, basicAuth: { enabled: true, username: 'u', password: 'pw-template' } },
    },
  },
});
const plain = (more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  paths: { '/pets': { get: { operationId: 'pets' } } },
  ...more,
});

onEveryEngine('API templates', app => {
  const ask = (method: string, path: string, body?: unknown, more: Asked = {}) =>
    app().ask(method, path, { ...more, ...(body === undefined ? {} : { body }) });
  const create = async (more: object = {}) => {
    const asset = { name: 'Standard', data: templateData(), ...more };
    const { status, body, text } = await ask('POST', '/api/assets', asset);
    assert.equal(status, 201, text);
    return body as { ID: string; Meta: string };
  };
  const userWith = async (user_permissions: object): Promise<string> => {
    const email_address = `${createPublicId()}@example.org`;
    const org_id = app().credentials.organisation_id;
    const user = { email_address, first_name: 'A', last_name: 'B', active: true, org_id, user_permissions };
    return (await ask('POST', '/admin/users', user)).body.Message;
  };

  test('a template is created, read by either id, listed, replaced and removed', async () => {
    const id = `t-${createPublicId()}`;
    const { status, body } = await ask('POST', '/api/assets', {
      id,
      name: 'One',
      kind: 'oas-template',
      data: { a: [1] },
    });
    const { Meta, ...rest } = body;
    assert.deepEqual([status, rest], [201, { Status: 'success', Message: 'asset created', ID: id }]);
    const read = (await ask('GET', `/api/assets/${id}`)).body;
    const { last_updated, ...members } = read;
    assert.ok(Number.isFinite(Date.parse(last_updated)));
    const org_id = app().credentials.organisation_id;
    const kind = 'oas-template';
    assert.deepEqual(members, { _id: Meta, id, kind, name: 'One', description: '', data: { a: [1] }, org_id });
    assert.deepEqual((await ask('GET', `/api/assets/${Meta}`)).body, read);
    assert.ok((await ask('GET', '/api/assets')).body.some((it: { id: string }) => it.id === id));
    const put = await ask('PUT', `/api/assets/${Meta}`, { id, name: 'Two', description: 'd', data: {} });
    assert.deepEqual(put.body, { Status: 'success', Message: 'asset updated', Meta, ID: id });
    assert.deepEqual((await ask('GET', `/api/assets/${id}`)).body.data, {});
    const removed = await ask('DELETE', `/api/assets/${id}`);
    assert.deepEqual(removed.body, { Status: 'success', Message: 'Asset removed successfully', Meta, ID: id });
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `/api/assets/${id}`)).status, 404);
    assert.equal((await ask('PUT', `/api/assets/${id}`, { name: 'x', data: {} })).status, 404);
  });

  test('ids are unique in an organisation, kinds are checked, and other organisations see nothing', async () => {
    const { ID, Meta } = await create({ id: `t-${createPublicId()}` });
    const other = await create();
    assert.equal(other.ID, other.Meta);
    for (const [method, path, body, status, message] of [
      ['POST', '', { id: ID, name: 'n', data: {} }, 409, /another template has it/],
      ['POST', '', { id: Meta, name: 'n', data: {} }, 409, /another template has it/],
      ['PUT', `/${other.ID}`, { id: ID, name: 'n', data: {} }, 409, /another template has it/],
      ['POST', '', { name: 'n', kind: 'picture', data: {} }, 422, /there is no kind picture/],
      ['PUT', `/${ID}`, { name: 'n', kind: 'picture', data: {} }, 422, /there is no kind picture/],
      ['POST', '', { name: 'n' }, 400, /data: is required/],
      ['POST', '', { name: 'n', data: 'text' }, 400, /data/],
      ['POST', '', { data: {} }, 400, /name/],
      ['POST', '', { name: 'n', data: {}, id: 'a/b' }, 400, /id: may hold/],
      ['GET', '?kind=picture', undefined, 400, /there is no kind picture/],
    ] as const) {
      const answer = await ask(method, `/api/assets${path}`, body);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.body.Message, message);
    }
    const { accessKey: credential } = await app().stranger();
    assert.deepEqual((await ask('GET', '/api/assets', undefined, { credential })).body, []);
    for (const method of ['GET', 'DELETE'])
      assert.equal((await ask(method, `/api/assets/${ID}`, undefined, { credential })).status, 404);
    assert.equal((await ask('PUT', `/api/assets/${ID}`, { name: 'n', data: {} }, { credential })).status, 404);
    assert.equal((await ask('POST', '/api/assets', { id: ID, name: 'n', data: {} }, { credential })).status, 201);
  });

  test('secrets of a template are sealed at rest and masked for readers', async () => {
    const { ID, Meta } = await create();
    const credential = await userWith({ api_assets: 'read' });
    assert.match((await ask('GET', `/api/assets/${ID}`)).text, /pw-template/);
    for (const path of [`/${ID}`, '']) {
      const { status, text } = await ask('GET', `/api/assets${path}`, undefined, { credential });
      assert.equal(status, 200);
      assert.doesNotMatch(text, /pw-template/);
    }
    const { records } = app().application.installation;
    const row = await records.db.selectFrom('assets').select('body').where('id', '=', Meta).executeTakeFirstOrThrow();
    assert.doesNotMatch(row.body, /pw-template|allowedOrigins/);
  });

  test('a new document is merged over a template: maps are united, lists replaced, ids never taken', async () => {
    const { ID } = await create();
    const path = `/t${createPublicId()}/`;
    const document = {
      ...plain({ tags: [{ name: 'own' }], components: { schemas: { Own: { type: 'integer' } } } }),
      'x-gw-api-gateway': {
        info: { name: 'From template' },
        server: { listenPath: { value: path, strip: true } },
        upstream: { url: upstreamUrl },
      },
    };
    const created = await ask('POST', `/api/apis/oas?templateID=${ID}`, document);
    assert.equal(created.status, 200, created.text);
    const read = (await ask('GET', `/api/apis/oas/${created.body.ID}`)).body;
    assert.deepEqual(read.tags, [{ name: 'own' }]);
    assert.deepEqual(read.components.schemas, { Shared: { type: 'string' }, Own: { type: 'integer' } });
    assert.deepEqual(read.servers, templateData().servers);
    const { info, middleware, upstream } = read['x-gw-api-gateway'];
    assert.equal(info.name, 'From template');
    assert.notEqual(info.id, 'of-the-template');
    assert.equal(middleware.global.cors.enabled, true);
    assert.deepEqual([upstream.url, upstream.authentication.basicAuth.password], [upstreamUrl, 'pw-template']);
  });

  test('an import and a dry run start from the template, whose extension the parameters change', async () => {
    const { Meta } = await create();
    const listenPath = `/t${createPublicId()}`;
    const imported = await ask('POST', `/api/apis/oas/import?templateID=${Meta}&listenPath=${listenPath}`, plain());
    assert.equal(imported.status, 200, imported.text);
    const read = (await ask('GET', `/api/apis/oas/${imported.body.ID}`)).body;
    const gateway = read['x-gw-api-gateway'];
    assert.deepEqual([gateway.info.name, gateway.server.listenPath.value], ['Pets', listenPath]);
    assert.deepEqual(
      [gateway.upstream.url, gateway.middleware.global.cors.enabled],
      ['http://127.0.0.1:9/template', true],
    );
    const query = `?templateID=${Meta}&listenPath=/dry`;
    const dry = (await ask('POST', `/api/apis/oas/dry-run${query}`, { oas: plain() })).body;
    assert.equal(dry['x-gw-api-gateway'].middleware.global.cors.enabled, true);
    const both = await ask('POST', `/api/apis/oas/dry-run${query}`, { oas: plain(), gw_oas: read });
    assert.match(both.body.Message, /templateID: applies to new APIs/);
  });

  test('a template needs its permission, and must exist in the organisation', async () => {
    const { ID } = await create();
    const credential = await userWith({ apis: 'write' });
    const { accessKey } = await app().stranger();
    for (const [path, body] of [
      ['', { ...plain(), 'x-gw-api-gateway': {} }],
      ['/import', plain()],
      ['/dry-run', { oas: plain() }],
    ] as const) {
      const at = (id: string) => `/api/apis/oas${path}?templateID=${id}`;
      const denied = await ask('POST', at(ID), body, { credential });
      assert.deepEqual(
        [denied.status, denied.body.Message],
        [403, 'templateID: access denied: you need api_assets:read'],
      );
      for (const [id, asked] of [
        ['nothing', {}],
        [ID, { credential: accessKey }],
      ] as const) {
        const answer = await ask('POST', at(id), body, asked);
        assert.deepEqual([answer.status, answer.body.Message], [400, `templateID: there is no template ${id}`]);
      }
    }
  });
});
