import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine } from '../../../tests/support/app.ts';
import { openApi } from '../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

const classic = (api_id: string, more: object = {}) => ({
  api_id,
  name: `Name of ${api_id}`,
  proxy: { listen_path: `/${api_id}/`, target_url: 'http://127.0.0.1:9' },
  ...more,
});
const toAdded = (key: string) => ({ key, status: 'ok', action: 'added' });
const refusal = (message: string) => ({ status: 'error', message });

onEveryEngine('gateway API: classic APIs', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  const ask = (method: string, path: string, body?: unknown, more: Asked = {}) =>
    app().ask(method, path, { ...more, ...(body === undefined ? {} : { body }) });
  const post = (body: unknown, query = '') => ask('POST', `/gw/apis${query}`, body);
  const create = async (id = `a${createPublicId()}`, more: object = {}, query = '') => {
    const answer = await post(classic(id, more), query);
    assert.deepEqual([answer.status, answer.body], [200, toAdded(id)], answer.text);
    return id;
  };
  const read = async (id: string) => (await ask('GET', `/gw/apis/${id}`)).body;
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(method, path, body);
    return [answer.status, answer.body];
  };

  test('an API is created under its own id, read back unchanged, listed in the dashboard, and live at once', async () => {
    const definition = openApi(upstream, { tags: ['kept'] });
    const answer = await post(definition);
    assert.deepEqual([answer.status, answer.body], [200, toAdded(definition.api_id)]);
    const { id, org_id, is_oas, ...rest } = await read(definition.api_id);
    assert.deepEqual(rest, definition);
    assert.deepEqual([org_id, is_oas, /^[0-9a-f]{24}$/.test(id)], [app().credentials.organisation_id, false, true]);
    assert.equal((await read(id)).api_id, definition.api_id);
    assert.equal((await ask('GET', `/api/apis/${definition.api_id}`)).body.api_definition.name, 'Test');
    await ask('GET', '/gw/reload?block=true');
    assert.equal((await fetch(app().url.gateway + definition.proxy.listen_path)).status, 200);
  });

  test('an API without an id gets one of 32 hexadecimal characters', async () => {
    const { body } = await post({
      name: 'nameless',
      proxy: { listen_path: `/${createPublicId()}`, target_url: 'http://127.0.0.1:9/' },
    });
    assert.match(body.key, /^[0-9a-f]{32}$/);
    assert.deepEqual(body, toAdded(body.key));
  });

  test('creating an API under an existing id replaces its definition, and keeps its other members', async () => {
    const id = await create(undefined, { tags: ['old'] });
    const { id: dbId } = await read(id);
    await ask('PUT', `/api/apis/${id}/access`, { userIds: ['u1'], userGroupIds: [] });
    assert.deepEqual((await post(classic(id, { slug: 'new' }))).body, { ...toAdded(id), action: 'modified' });
    const now = await read(id);
    assert.deepEqual([now.id, now.tags, now.slug], [dbId, undefined, 'new']);
    const { userIds } = (await ask('GET', `/api/apis/${id}/access`)).body;
    assert.deepEqual(userIds, ['u1']);
  });

  test('an API of another organisation, or a document, is never replaced', async () => {
    const { orgId } = await app().stranger();
    const id = await create(undefined, { org_id: orgId });
    assert.equal((await read(id)).org_id, orgId);
    assert.deepEqual(await call('POST', '/gw/apis', classic(id)), [
      409,
      refusal('Found API with the same ID: choose another id'),
    ]);
    const document = {
      openapi: '3.0.3',
      info: { title: 'D', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { id: `d${id}`.slice(0, 40), name: 'D' },
        server: { listenPath: { value: `/d${id}/` } },
        upstream: { url: 'http://127.0.0.1:9' },
      },
    };
    const { key } = (await ask('POST', '/gw/apis/oas', document)).body;
    assert.deepEqual(await call('POST', '/gw/apis', classic(key)), [
      409,
      refusal('An API in the other format has this ID: delete it first'),
    ]);
  });

  test('an invalid definition is rejected with the path of each error', async () => {
    for (const [body, message] of [
      [classic('a/b'), 'api_id: must be 1 to 64 letters, digits, hyphens or underscores'],
      [{ name: 7 }, 'name: must be a string'],
      [{ org_id: 'nowhere' }, 'org_id: there is no organisation nowhere'],
      ['{', 'Request body malformed: it is not JSON at character 1'],
      ['', 'Request body is empty'],
      [[], 'must be an object'],
    ] as const)
      assert.deepEqual(await call('POST', '/gw/apis', body), [400, refusal(message)]);
    const id = await create();
    const clash = classic('clash', { proxy: { listen_path: `/${id}`, target_url: 'http://127.0.0.1:9/' } });
    const message = `Another API already has the listen path /${id}: choose another listen path`;
    assert.deepEqual(await call('POST', '/gw/apis', clash), [409, refusal(message)]);
  });

  test('an update replaces the whole definition of the API it names and of no other', async () => {
    const id = await create(undefined, { tags: ['old'] });
    const { id: dbId } = await read(id);
    const modified = { key: id, status: 'ok', action: 'modified' };
    assert.deepEqual(await call('PUT', `/gw/apis/${dbId}`, classic(id, { slug: 'new' })), [200, modified]);
    const now = await read(id);
    assert.deepEqual([now.tags, now.slug, now.id], [undefined, 'new', dbId]);
    assert.deepEqual(await call('PUT', `/gw/apis/${id}`, { name: 'without ids', proxy: classic(id).proxy }), [
      200,
      modified,
    ]);
    const mismatch = 'Request APIID does not match that in Definition! For Update operations these must match.';
    assert.deepEqual(await call('PUT', `/gw/apis/${id}`, classic('another')), [400, refusal(mismatch)]);
    const { orgId } = await app().stranger();
    const moved = refusal(`org_id: is ${orgId}, but the API belongs to ${app().credentials.organisation_id}`);
    assert.deepEqual(await call('PUT', `/gw/apis/${id}`, { org_id: orgId }), [400, moved]);
    assert.deepEqual(await call('PUT', `/gw/apis/${id}`, { name: [] }), [400, refusal('name: must be a string')]);
    assert.deepEqual(await call('PUT', '/gw/apis/nobodys', classic('nobodys')), [404, refusal('API not found')]);
  });

  test('a deleted API is gone from every surface', async () => {
    const id = await create();
    assert.deepEqual(await call('DELETE', `/gw/apis/${id}`), [200, { key: id, status: 'ok', action: 'deleted' }]);
    for (const [method, path] of [
      ['GET', `/gw/apis/${id}`],
      ['DELETE', `/gw/apis/${id}`],
      ['GET', `/gw/apis/${id}/versions`],
      ['GET', `/gw/apis/${id}/status`],
    ] as const)
      assert.deepEqual(await call(method, path), [404, refusal('API not found')]);
    assert.equal((await ask('GET', `/api/apis/${id}`)).status, 404);
  });

  test('the list has the APIs of all organisations, each once', async () => {
    const { orgId } = await app().stranger();
    const ids = [await create(), await create(undefined, { org_id: orgId })];
    const { status, body } = await ask('GET', '/gw/apis');
    assert.equal(status, 200);
    const listed = (body as { api_id: string }[]).map(it => it.api_id);
    assert.deepEqual(
      listed.filter(id => ids.includes(id)),
      ids,
    );
    assert.equal(new Set(listed).size, listed.length);
  });

  test('a version is a separate API that names its base, and the base lists it', async () => {
    const base = await create(undefined, { expiration: '2999-01-02 03:04' });
    const version = (name: string, more = '') =>
      `?base_api_id=${base}&base_api_version_name=v1&new_version_name=${name}${more}`;
    const two = await create(undefined, { internal: true }, version('v2', '&set_default=true'));
    const three = await create(undefined, {}, version('v3'));
    const { definition } = await read(base);
    assert.deepEqual([definition.name, definition.default, definition.enabled], ['v1', 'v2', true]);
    const header = async (id: string) => (await ask('GET', `/gw/apis/${id}`)).headers.get('x-gw-base-api-id');
    assert.deepEqual([await header(base), await header(two), await header(three)], [null, base, base]);
    const entry = (id: string, versionName: string, more: object = {}) => ({
      id,
      name: `Name of ${id}`,
      versionName,
      internal: false,
      expirationDate: '',
      isDefaultVersion: false,
      ...more,
    });
    const all = [
      entry(base, 'v1', { expirationDate: '2999-01-02 03:04' }),
      entry(two, 'v2', { internal: true, isDefaultVersion: true }),
      entry(three, 'v3'),
    ];
    const list = async (id: string, query = '') => {
      const { status, body } = await ask('GET', `/gw/apis/${id}/versions${query}`);
      assert.deepEqual([status, body.status], [200, 'success']);
      return body.apis;
    };
    assert.deepEqual(await list(base), all);
    assert.deepEqual(await list(three), all);
    assert.deepEqual(await list(base, '?searchText=V2'), [all[1]]);
    assert.deepEqual(await list(base, '?accessType=internal'), [all[1]]);
    assert.deepEqual(await list(base, '?accessType=external'), [all[0], all[2]]);
    assert.equal((await ask('GET', `/gw/apis/${base}/versions?accessType=x`)).status, 400);
    await ask('DELETE', `/gw/apis/${two}`);
    assert.deepEqual(await list(base), [{ ...all[0], isDefaultVersion: true }, all[2]]);
    const alone = await create();
    assert.deepEqual(await list(alone), [entry(alone, '', { isDefaultVersion: true })]);
  });

  test('creating the same version again changes only its definition', async () => {
    const base = await create();
    const query = `?base_api_id=${base}&base_api_version_name=v1&new_version_name=v2`;
    const child = await create(undefined, {}, query);
    const again = await post(classic(child, { slug: 'again' }), query);
    assert.deepEqual(again.body, { ...toAdded(child), action: 'modified' });
    assert.deepEqual((await read(base)).definition.versions, { v2: child });
    assert.equal((await read(child)).slug, 'again');
  });

  test('an invalid version is rejected, and not stored', async () => {
    const base = await create();
    const first = `?base_api_id=${base}&base_api_version_name=v1&new_version_name=v2`;
    await create(undefined, {}, first);
    for (const [query, status, message] of [
      [`?base_api_id=${base}`, 400, /^new_version_name: is required/],
      ['?base_api_id=nobodys&new_version_name=v9', 400, /^base_api_id: there is no API nobodys$/],
      [first, 409, /already has a version v2$/],
      [`?base_api_id=${base}&new_version_name=v3&set_default=perhaps`, 400, /^set_default: /],
    ] as const) {
      const id = `a${createPublicId()}`;
      const answer = await post(classic(id), query);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.body.message, message);
      assert.equal((await ask('GET', `/gw/apis/${id}`)).status, 404);
    }
    const unnamed = await create();
    const nameless = await post(classic(`a${createPublicId()}`), `?base_api_id=${unnamed}&new_version_name=v2`);
    assert.match(nameless.body.message, /^base_api_version_name: is required/);
    const self = await post(classic(base), `?base_api_id=${base}&new_version_name=v4`);
    assert.deepEqual(self.body, refusal('base_api_id: an API cannot be a version of itself'));
  });

  test('concurrent writes are all stored', async () => {
    const base = await create();
    const names = Array.from({ length: 8 }, (_, at) => `n${at}`);
    const query = (name: string) => `?base_api_id=${base}&base_api_version_name=v1&new_version_name=${name}`;
    const children = await Promise.all(names.map(name => create(undefined, {}, query(name))));
    const { versions } = (await read(base)).definition;
    assert.deepEqual(versions, Object.fromEntries(names.map((name, at) => [name, children[at]])));
    const one = `a${createPublicId()}`;
    const answers = await Promise.all(names.map(slug => post(classic(one, { slug, tags: [slug] }))));
    assert.equal(answers.filter(({ body }) => body.action === 'added').length, 1);
    assert.equal(answers.filter(({ body }) => body.action === 'modified').length, names.length - 1);
    const { slug, tags } = await read(one);
    assert.deepEqual(tags, [slug]);
    await Promise.all([
      ...names.map(slug => ask('PUT', `/gw/apis/${one}`, classic(one, { slug, tags: [slug] }))),
      ...names.map(async () => {
        const found = (await ask('GET', '/gw/apis')).body.filter((it: { api_id: string }) => it.api_id === one);
        assert.equal(found.length, 1);
        assert.deepEqual(found[0].tags, [found[0].slug]);
      }),
    ]);
  });
});
