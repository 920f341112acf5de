import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { makeAuthority } from '../../../tests/support/certificates.ts';

onEveryEngine('organisations', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/admin/organisations${path}`, body === undefined ? {} : { body });
  const create = async (body: object): Promise<string> => (await ask('POST', '', body)).body.Meta;

  test('an organisation created with an owner name is read with every member', async () => {
    const answer = await ask('POST', '', { owner_name: 'Acme' });
    assert.equal(answer.status, 200);
    assert.deepEqual([answer.body.Status, answer.body.Message], ['OK', 'Org created']);
    const { id, created_at, ...rest } = (await ask('GET', `/${answer.body.Meta}`)).body;
    assert.equal(id, answer.body.Meta);
    assert.ok(Date.parse(created_at) > 0);
    assert.deepEqual(rest, {
      owner_name: 'Acme',
      owner_slug: '',
      cname: '',
      cname_enabled: false,
      apis: [],
      developer_count: 0,
      developer_quota: 0,
      event_options: {},
      hybrid_enabled: false,
      sso_enabled: false,
      org_options_meta: {},
      additional_permissions: {},
      open_policy: { enabled: false, rules: '' },
      ui: {},
    });
  });

  test('an organisation that was read can be sent back, free-form members included', async () => {
    const id = await create({ owner_name: 'Back', ui: { login_page: { a: 1 } }, org_options_meta: { a: [1] } });
    const before = (await ask('GET', `/${id}`)).body;
    assert.equal((await ask('PUT', `/${id}`, before)).body.Message, 'Org updated');
    assert.deepEqual((await ask('GET', `/${id}`)).body, before);
    assert.equal((await ask('PUT', '/nobody', before)).status, 404);
  });

  test('an organisation is imported with its id, once', async () => {
    const body = { id: 'from-elsewhere', owner_name: 'Imported' };
    assert.deepEqual((await ask('POST', '/import', body)).body, {
      Status: 'OK',
      Message: 'Org imported',
      Meta: 'from-elsewhere',
    });
    assert.equal((await ask('POST', '/import', body)).status, 409);
    for (const id of ['', '../x', 'a b', 'x'.repeat(65)])
      assert.equal((await ask('POST', '/import', { ...body, id })).status, 400);
  });

  test('organisations are listed in pages, newest first', async () => {
    const id = await create({ owner_name: 'Newest' });
    const { organisations, pages } = (await ask('GET', '?p=1')).body;
    assert.equal(organisations[0].id, id);
    assert.ok(pages >= 1);
    assert.ok((await ask('GET', '?p=-1')).body.organisations.length >= organisations.length);
  });

  test('deleting an organisation deletes its users', async () => {
    const { orgId, accessKey } = await app().stranger();
    assert.equal((await ask('DELETE', `/${orgId}`)).body.Message, 'Org deleted');
    assert.equal((await ask('GET', `/${orgId}`)).status, 404);
    assert.equal((await app().ask('GET', '/api/users/me', { credential: accessKey })).status, 401);
    assert.equal((await ask('DELETE', `/${orgId}`)).status, 404);
  });

  test('an organisation with contents is not deleted, and nothing of it is', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    const expectUndeletable = async (what: string) => {
      const answer = await ask('DELETE', `/${orgId}`);
      assert.equal(answer.status, 409);
      assert.equal(answer.body.Message, `The organisation still has ${what}: delete them first`);
      assert.equal((await app().ask('GET', '/api/users/me', { credential })).status, 200);
    };
    const hook = { method: 'POST', target_path: 'http://127.0.0.1:9/' };
    await app().ask('POST', '/api/hooks', { credential, body: hook });
    await expectUndeletable('webhooks');
    await app().ask('POST', '/api/certs', { credential, body: makeAuthority().certPem });
    await expectUndeletable('certificates');
    await app().ask('POST', '/api/portal/policies', { credential, body: { name: 'Kept' } });
    await expectUndeletable('policies');
  });

  test('generate-portals sets and enables the domain, which no other organisation has', async () => {
    const id = await create({ owner_name: 'Portal', ui: { login_page: { a: 1 } } });
    const send = (of: string, form: string) =>
      app().ask('POST', `/admin/organisations/${of}/generate-portals`, {
        body: form,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    const answer = await send(id, 'domain=Portal.Acme.test');
    assert.deepEqual([answer.status, answer.body.Message], [200, 'Org updated']);
    const { cname, cname_enabled, ui } = (await ask('GET', `/${id}`)).body;
    assert.deepEqual([cname, cname_enabled, ui], ['portal.acme.test', true, { login_page: { a: 1 } }]);
    assert.equal((await send(id, 'domain=portal.acme.test')).status, 200);
    const other = await create({ owner_name: 'Other' });
    const taken = await send(other, 'domain=portal.acme.test');
    assert.deepEqual([taken.status, taken.body.Message], [409, 'domain: another organisation has portal.acme.test']);
    assert.equal((await ask('GET', `/${other}`)).body.cname, '');
    assert.equal((await send('unknown', 'domain=a.test')).status, 404);
    for (const form of ['', 'domain=', 'domain=a b', 'domain=http://a.test', 'domain=a.test:80', 'domain=-a.test'])
      assert.equal((await send(id, form)).status, 400, form);
  });

  test('the organisation of the first start cannot be deleted', async () => {
    const answer = await ask('DELETE', `/${app().credentials.organisation_id}`);
    assert.equal(answer.status, 409);
    assert.match(answer.body.Message, /created at first start/);
  });
});
