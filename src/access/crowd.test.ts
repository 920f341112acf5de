import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, onEveryEngine } from '../../tests/support/app.ts';
import { addApi } from '../../tests/support/portal.ts';

/** What several callers do to one object at the same time. */

const times = <T>(count: number, work: () => Promise<T>) => Array.from({ length: count }, work);
const statuses = (answers: readonly Answer[]) => answers.map(answer => answer.status).sort();

onEveryEngine('concurrent management requests', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, path, body === undefined ? {} : { body });

  test('a key is removed once under concurrent deletes and updates, without server errors', async () => {
    const rights = { access_rights: { [await addApi(app())]: {}, [await addApi(app())]: {} } };
    for (let round = 0; round < 5; round++) {
      const path = `/api/keys/${(await ask('POST', '/api/keys', rights)).body.key_id}`;
      const changing = times(5, () => ask('PUT', path, rights));
      const removing = times(3, () => ask('DELETE', path));
      assert.deepEqual(statuses(await Promise.all(removing)), [200, 404, 404]);
      for (const { status, text } of await Promise.all(changing)) assert.ok(status === 200 || status === 404, text);
      assert.equal((await ask('GET', path)).status, 404);
    }
  });

  test('a policy is removed once under concurrent deletes and updates, without server errors', async () => {
    const body = { name: 'Crowded', access_rights: { [await addApi(app())]: {}, [await addApi(app())]: {} } };
    for (let round = 0; round < 5; round++) {
      const path = `/api/portal/policies/${(await ask('POST', '/api/portal/policies', body)).body.Message}`;
      const changing = times(5, () => ask('PUT', path, body));
      const removing = times(3, () => ask('DELETE', path));
      assert.deepEqual(statuses(await Promise.all(removing)), [200, 404, 404]);
      for (const { status, text } of await Promise.all(changing)) assert.ok(status === 200 || status === 404, text);
      assert.equal((await ask('GET', path)).status, 404);
    }
  });

  test('concurrent upserts of one key all succeed', async () => {
    const body = { basic_auth_data: { password: 'a password' } };
    const users = await Promise.all(times(4, () => ask('POST', '/api/apis/keys/basic/crowded-user', body)));
    assert.deepEqual(statuses(users), [200, 200, 200, 200]);
    const { orgId } = await app().stranger();
    const limits = await Promise.all(
      times(4, () => ask('POST', '/admin/org/keys', { org_id: orgId, rate: 1, per: 1 })),
    );
    assert.deepEqual(statuses(limits), [200, 200, 200, 200]);
  });

  test('a name that equals a key id of another organisation is a conflict, not replaced', async () => {
    for (const id of ['spell', 'spelling']) await ask('POST', '/admin/organisations/import', { id, owner_name: id });
    const member = async (org_id: string) => {
      const body = { org_id, email_address: 'm@example.org', first_name: 'M', last_name: 'E', active: true };
      return (await ask('POST', '/admin/users', body)).body.Message as string;
    };
    const write = (name: string, credential: string) =>
      app().ask('POST', `/api/apis/keys/basic/${name}`, { credential, body: { basic_auth_data: { password: name } } });
    assert.equal((await write('bee', await member('spelling'))).body.key_id, 'spellingbee');
    assert.equal((await write('ingbee', await member('spell'))).status, 409);
  });

  test('of concurrent creates of one object one succeeds, the others get a conflict', async () => {
    const apiId = await addApi(app());
    const makers: [path: string, body: object, created?: number][] = [
      ['/api/keys/crowded-key', { access_rights: { [apiId]: {} } }],
      ['/api/portal/policies', { name: 'One name' }],
      ['/api/hooks', { method: 'POST', target_path: 'http://127.0.0.1:9/', webhook_id: 'one-hook' }],
      [`/api/apis/oauth/${apiId}`, { client_id: 'one-client' }],
      ['/admin/users', { email_address: 'one@example.org', first_name: 'O', last_name: 'N' }],
      ['/admin/organisations/import', { id: 'one-organisation', owner_name: 'O' }],
      ['/portal-api/users', { Email: 'one@example.org' }],
      ['/portal-api/posts', { Title: 't', Content: 'c', Status: 'draft', Path: 'one-post', Tags: ['one-tag'] }, 201],
    ];
    for (const [path, body, created = 200] of makers) {
      const answers = await Promise.all(times(4, () => ask('POST', path, body)));
      assert.deepEqual(statuses(answers), [created, 409, 409, 409], path);
    }
  });
});
