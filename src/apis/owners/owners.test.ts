import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';

onEveryEngine('owners of an API', app => {
  const create = async (name: string) =>
    (
      await app().ask('POST', '/api/apis', {
        body: { api_definition: { name, proxy: { listen_path: `/${name}`, target_url: 'http://127.0.0.1:9/' } } },
      })
    ).body.ID as string;

  test('updating owners replaces both lists, which the API returns too', async () => {
    const path = `/api/apis/${await create('owned')}`;
    assert.deepEqual((await app().ask('GET', `${path}/access`)).body, { userIds: [], userGroupIds: [] });
    const both = { userIds: ['u1', 'u2'], userGroupIds: ['g1'] };
    const { status, body } = await app().ask('PUT', `${path}/access`, { body: both });
    assert.deepEqual([status, body], [200, { Status: 'OK', Message: 'API access updated', Meta: null }]);
    assert.deepEqual((await app().ask('GET', `${path}/access`)).body, both);
    const shown = (await app().ask('GET', path)).body;
    assert.deepEqual([shown.user_owners, shown.user_group_owners], [both.userIds, both.userGroupIds]);
    await app().ask('PUT', `${path}/access`, { body: { userIds: ['u3'] } });
    assert.deepEqual((await app().ask('GET', `${path}/access`)).body, { userIds: ['u3'], userGroupIds: [] });
    assert.deepEqual((await app().ask('GET', path)).body.api_definition, shown.api_definition);
  });

  test('owner lists of anything but ids are rejected with their path, and nothing is changed', async () => {
    const path = `/api/apis/${await create('checked')}/access`;
    for (const [body, place] of [
      [{ userIds: 'u1' }, 'userIds'],
      [{ userIds: ['u1'], userGroupIds: ['g', 7] }, 'userGroupIds[1]'],
    ] as const) {
      const answer = await app().ask('PUT', path, { body });
      assert.equal(answer.status, 400);
      assert.ok(answer.body.Message.startsWith(`${place}: `), answer.body.Message);
    }
    assert.deepEqual((await app().ask('GET', path)).body, { userIds: [], userGroupIds: [] });
  });

  test('an unknown API, or one of another organisation, returns 404', async () => {
    const id = await create('hidden');
    const { accessKey: credential } = await app().stranger();
    for (const [ref, asked] of [
      ['nobodys', {}],
      [id, { credential }],
    ] as const) {
      for (const method of ['GET', 'PUT']) {
        const body = method === 'PUT' ? { body: { userIds: ['me'] } } : {};
        const answer = await app().ask(method, `/api/apis/${ref}/access`, { ...asked, ...body });
        assert.deepEqual([answer.status, answer.body.Message], [404, 'API not found']);
      }
    }
  });
});
