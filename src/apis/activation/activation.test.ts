import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson } from '../../../tests/support/browser.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

onEveryEngine('Activation of APIs', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  const definition = (more: object = {}) => ({
    name: `A ${createPublicId()}`,
    use_keyless: true,
    proxy: { listen_path: `/a${createPublicId()}/`, target_url: upstream.url, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  });
  const make = async (api_definition: object) => {
    const { status, body, text } = await app().ask('POST', '/api/apis', { body: { api_definition } });
    assert.equal(status, 200, text);
    return body.ID as string;
  };
  const activate = (id: string, credential?: string) =>
    app().ask('PUT', `/api/apis/${id}/actions/activate`, credential ? { credential } : {});
  const deactivate = (id: string, credential?: string) =>
    app().ask('PUT', `/api/apis/${id}/actions/deactivate`, credential ? { credential } : {});
  const call = async (path: string) => {
    await app().application.waitForDataPlane();
    return (await fetch(app().url.gateway + path)).status;
  };

  test('a deactivated API has no route until it is activated, and its secrets stay', async () => {
    const upstream_auth = { enabled: true, basic_auth: { enabled: true, username: 'u', password: 'planted-9c1' } };
    const api = definition({ upstream_auth });
    const id = await make(api);
    const { listen_path } = api.proxy;
    assert.equal(await call(listen_path), 200);
    const off = await deactivate(id);
    assert.deepEqual([off.status, off.body.Message], [200, 'API deactivated'], off.text);
    assert.equal(await call(listen_path), 404);
    const on = await activate(id);
    assert.deepEqual([on.status, on.body.Message], [200, 'API activated'], on.text);
    assert.equal(await call(listen_path), 200);
    const credential = `Basic ${Buffer.from('u:planted-9c1').toString('base64')}`;
    assert.equal(upstream.requests.at(-1)!.headers.authorization, credential);
  });

  test('the definition is checked when it is activated, and not when it is deactivated', async () => {
    const { services } = app().application.installation;
    const id = await make(definition({ active: false }));
    const stored = (await services.apis.get(app().credentials.organisation_id, id))!;
    // As an earlier release stored it.
    const older = { ...stored, definition: { ...stored.definition, no_such_member: true } };
    await services.records.write(() => services.apis.replace(older as never));
    const refused = await activate(id);
    assert.deepEqual([refused.status, refused.body.Message], [400, 'no_such_member: no such member'], refused.text);
    assert.equal((await deactivate(id)).status, 200);
  });

  test('an unknown API, one of another organisation and one of other owners is not changed', async () => {
    const { accessKey } = await app().stranger();
    const id = await make(definition());
    const owner = await addPerson(app(), { user_permissions: { apis: 'write' } });
    await app().ask('PUT', `/api/apis/${id}/access`, { body: { userIds: [owner.id], userGroupIds: [] } });
    const { accessKey: other } = await addPerson(app(), { user_permissions: { apis: 'write' } });
    for (const run of [activate, deactivate]) {
      assert.equal((await run('unknown')).status, 404);
      assert.equal((await run(id, accessKey)).status, 404);
      assert.equal((await run(id, other)).status, 403);
      assert.equal((await run(id, owner.accessKey)).status, 200);
    }
  });
});
