import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { stringify } from 'yaml';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine } from '../../../tests/support/app.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

const refusal = (message: string) => ({ status: 'error', message });
const toResult = (key: string, action: string) => ({ key, status: 'ok', action });
const yaml = { headers: { 'content-type': 'application/x-yaml' } };

onEveryEngine('gateway API: OpenAPI documents', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  const ask = (method: string, path: string, body?: unknown, more: Asked = {}) =>
    app().ask(method, path, { ...more, ...(body === undefined ? {} : { body }) });
  const call = async (method: string, path: string, body?: unknown, more: Asked = {}) => {
    const answer = await ask(method, path, body, more);
    return [answer.status, answer.body];
  };
  const gatewayPart = (id: string, more: object = {}) => ({
    info: { id, name: `Name of ${id}`, state: { active: true } },
    server: { listenPath: { value: `/${id}/`, strip: true } },
    upstream: { url: upstream.url },
    ...more,
  });
  const plain = (more: object = {}) => ({
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    paths: { '/pets': { get: { operationId: 'pets', responses: { 200: { description: 'all' } } } } },
    ...more,
  });
  const document = (id: string, more: object = {}) => ({ ...plain(more), 'x-gw-api-gateway': gatewayPart(id) });
  const create = async (id = `d${createPublicId()}`, more: object = {}, query = '') => {
    assert.deepEqual(await call('POST', `/gw/apis/oas${query}`, document(id, more)), [200, toResult(id, 'added')]);
    return id;
  };
  const read = async (id: string) => (await ask('GET', `/gw/apis/oas/${id}`)).body;
  const classic = async () => {
    const { body } = await ask('POST', '/gw/apis', {
      name: 'classic',
      proxy: { listen_path: `/c${createPublicId()}`, target_url: 'http://127.0.0.1:9/' },
    });
    return body.key as string;
  };

  test('a document is read back as written, listed everywhere, and live at once', async () => {
    const id = `d${createPublicId()}`;
    const given = { ...document(id, { 'x-author': { kept: [1] } }), tags: [{ name: 't' }] };
    assert.deepEqual(await call('POST', '/gw/apis/oas', given), [200, toResult(id, 'added')]);
    const { 'x-gw-api-gateway': gateway, ...rest } = await read(id);
    const { 'x-gw-api-gateway': givenGateway, ...givenRest } = given;
    const orgId = app().credentials.organisation_id;
    const { dbId } = gateway.info;
    assert.deepEqual(rest, givenRest);
    assert.deepEqual(gateway, { ...givenGateway, info: { ...givenGateway.info, dbId, orgId } });
    assert.equal((await ask('GET', `/gw/apis/oas/${dbId}`)).status, 200);

    const mine = (list: { 'x-gw-api-gateway': { info: { id: string } } }[]) =>
      list.filter(it => it['x-gw-api-gateway'].info.id === id).length;
    assert.equal(mine((await ask('GET', '/gw/apis/oas')).body), 1);
    const inClassic = (await ask('GET', '/gw/apis')).body.find((it: { api_id: string }) => it.api_id === id);
    assert.deepEqual([inClassic.is_oas, inClassic.proxy.target_url], [true, upstream.url]);
    const { apis } = (await ask('GET', `/api/apis?p=-1&q=${id}`)).body;
    assert.deepEqual([apis.length, apis[0].oas.info.title, apis[0].api_definition.is_oas], [1, 'Pets', true]);
    assert.equal((await ask('GET', `/api/apis/${id}`)).body.oas['x-author'].kept[0], 1);
    await ask('GET', '/gw/reload?block=true');
    assert.equal((await fetch(`${app().url.gateway}/${id}/pets`)).status, 200);
  });

  test('documents may be YAML, unless the content type is JSON', async () => {
    const id = `d${createPublicId()}`;
    assert.deepEqual(await call('POST', '/gw/apis/oas', stringify(document(id)), yaml), [200, toResult(id, 'added')]);
    const next = stringify(document(id, { info: { title: 'Newer', version: '2' } }));
    assert.deepEqual(await call('PUT', `/gw/apis/oas/${id}`, next, yaml), [200, toResult(id, 'modified')]);
    assert.equal((await read(id)).info.title, 'Newer');
    const [status, body] = await call('POST', '/gw/apis/oas', 'a: [', yaml);
    assert.equal(status, 400);
    assert.match(body.message, /^Request body malformed: it is not YAML at character \d+$/);
    assert.deepEqual(await call('POST', '/gw/apis/oas', stringify(document(id))), [200, toResult(id, 'modified')]);
    const json = { headers: { 'content-type': 'application/json' } };
    assert.equal((await ask('POST', '/gw/apis/oas', stringify(document(id)), json)).status, 400);
  });

  test('a document without an id gets one, and belongs to the organisation it names', async () => {
    const { orgId } = await app().stranger();
    const part = gatewayPart('', { info: { name: 'Elsewhere', orgId } });
    part.server.listenPath.value = `/p${createPublicId()}`;
    const { body } = await ask('POST', '/gw/apis/oas', { ...plain(), 'x-gw-api-gateway': part });
    assert.match(body.key, /^[0-9a-f]{32}$/);
    assert.equal((await read(body.key))['x-gw-api-gateway'].info.orgId, orgId);
    const taken = { ...plain(), 'x-gw-api-gateway': gatewayPart(body.key) };
    assert.deepEqual(await call('POST', '/gw/apis/oas', taken), [
      409,
      refusal('Found API with the same ID: choose another id'),
    ]);
    const nowhere = gatewayPart('nowhere', { info: { name: 'n', orgId: 'nowhere' } });
    const unknown = refusal('org_id: there is no organisation nowhere');
    assert.deepEqual(await call('POST', '/gw/apis/oas', { ...plain(), 'x-gw-api-gateway': nowhere }), [400, unknown]);
  });

  test('creating a document under an existing id replaces it, unless its API is classic', async () => {
    const id = await create();
    const again = document(id, { info: { title: 'Again', version: '3' } });
    assert.deepEqual(await call('POST', '/gw/apis/oas', again), [200, toResult(id, 'modified')]);
    assert.equal((await read(id)).info.title, 'Again');
    const other = await classic();
    const message = 'An API in the other format has this ID: delete it first';
    assert.deepEqual(await call('POST', '/gw/apis/oas', document(other)), [409, refusal(message)]);
  });

  test('an invalid document is rejected with reason and path', async () => {
    const without = (member: string) =>
      Object.fromEntries(Object.entries(document('x')).filter(([it]) => it !== member));
    for (const [body, message] of [
      [plain(), 'the payload should contain x-gw-api-gateway'],
      [without('paths'), 'paths: is required'],
      [{ ...plain(), 'x-gw-api-gateway': {} }, 'x-gw-api-gateway.info: is required'],
      [document('a/b'), 'x-gw-api-gateway.info.id: must be 1 to 64 letters, digits, hyphens or underscores'],
      [document('x', { openapi: '4.0.3' }), 'openapi: must be an OpenAPI version 3.0 or 3.1'],
      [document('x', { security: [{ key: [] }] }), 'security[0]: key is not one of components.securitySchemes'],
      [[], 'must be an object'],
    ] as const) {
      const [status, answer] = await call('POST', '/gw/apis/oas', body);
      assert.deepEqual([status, answer.status], [400, 'error']);
      assert.ok(answer.message.includes(message), answer.message);
    }
  });

  test('an update replaces the whole document of the API it names and of no other', async () => {
    const id = await create(undefined, { tags: [{ name: 'old' }] });
    assert.deepEqual(await call('PUT', `/gw/apis/oas/${id}`, document(id)), [200, toResult(id, 'modified')]);
    assert.equal((await read(id)).tags, undefined);
    const mismatch = 'Request APIID does not match that in Definition! For Update operations these must match.';
    assert.deepEqual(await call('PUT', `/gw/apis/oas/${id}`, document('another')), [400, refusal(mismatch)]);
    const lacking = refusal('the payload should contain x-gw-api-gateway');
    assert.deepEqual(await call('PUT', `/gw/apis/oas/${id}`, plain()), [400, lacking]);
    const moved = { ...plain(), 'x-gw-api-gateway': gatewayPart(id, { info: { name: 'n', orgId: 'other' } }) };
    assert.match(
      (await ask('PUT', `/gw/apis/oas/${id}`, moved)).body.message,
      /^x-gw-api-gateway.info.orgId: is other/,
    );
    assert.deepEqual(await call('PUT', '/gw/apis/oas/nobodys', document('')), [404, refusal('API not found')]);
  });

  test('classic operations reject documents, and document operations reject classic APIs', async () => {
    const [old, id] = [await classic(), await create()];
    const isClassic = refusal('the requested API definition is in classic format, please use old api endpoint');
    assert.deepEqual(await call('GET', `/gw/apis/oas/${old}`), [400, isClassic]);
    assert.deepEqual(await call('GET', `/gw/apis/oas/${old}/export`), [400, isClassic]);
    const wrongForm = 'the supplied API definition is in OAS format, please use the classic format for this API';
    assert.deepEqual(await call('PUT', `/gw/apis/oas/${old}`, document('')), [400, refusal(wrongForm)]);
    assert.deepEqual(await call('PATCH', `/gw/apis/oas/${old}`, plain()), [400, refusal(wrongForm)]);
    assert.deepEqual(await call('DELETE', `/gw/apis/oas/${old}`), [404, refusal('API not found')]);
    const only = 'this API endpoint only supports Classic APIs; please use the appropriate OAS API endpoint';
    assert.deepEqual(await call('PUT', `/gw/apis/${id}`, { name: 'x' }), [400, refusal(only)]);
    assert.equal((await ask('GET', `/gw/apis/${id}`)).body.is_oas, true);
  });

  test('a deleted document is gone, in both formats', async () => {
    const [one, two] = [await create(), await create()];
    assert.deepEqual(await call('DELETE', `/gw/apis/oas/${one}`), [200, toResult(one, 'deleted')]);
    assert.deepEqual(await call('DELETE', `/gw/apis/${two}`), [200, toResult(two, 'deleted')]);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['DELETE', '', undefined],
      ['PATCH', '', plain()],
      ['GET', '/versions', undefined],
      ['GET', '/export', undefined],
    ] as const)
      for (const id of [one, two])
        assert.deepEqual(await call(method, `/gw/apis/oas/${id}${path}`, body), [404, refusal('API not found')]);
  });

  test('a patch replaces the document and keeps the gateway extension, changed by its parameters', async () => {
    const id = await create(undefined, { servers: [{ url: 'https://kept.example.org' }] });
    const newer = plain({ info: { title: 'Newer', version: '2' }, paths: { '/cats': { get: {} } } });
    assert.deepEqual(await call('PATCH', `/gw/apis/oas/${id}`, newer), [200, toResult(id, 'modified')]);
    const after = await read(id);
    assert.deepEqual(after.servers, [{ url: 'https://kept.example.org' }]);
    assert.deepEqual([after.info.title, after.paths['/cats'].get.operationId], ['Newer', 'catsGET']);
    assert.equal(after['x-gw-api-gateway'].server.listenPath.value, `/${id}/`);
    const query = `?listenPath=/moved-${id}&customDomain=d.test&allowList=t&upstreamURL=http://127.0.0.1:9`;
    const text = stringify(newer);
    assert.deepEqual(await call('PATCH', `/gw/apis/oas/${id}${query}`, text, yaml), [200, toResult(id, 'modified')]);
    const { server, upstream: behind, middleware } = (await read(id))['x-gw-api-gateway'];
    assert.deepEqual(server.listenPath, { value: `/moved-${id}`, strip: true });
    assert.deepEqual([server.customDomain, behind.url], [{ enabled: true, name: 'd.test' }, 'http://127.0.0.1:9']);
    assert.deepEqual(middleware.operations, { catsGET: { allow: { enabled: true } } });
    const whole = document(id, { info: { title: 'Whole', version: '3' } });
    assert.deepEqual(await call('PATCH', `/gw/apis/oas/${id}`, whole), [200, toResult(id, 'modified')]);
    assert.equal((await read(id))['x-gw-api-gateway'].middleware, undefined);
  });

  test('a rejected patch changes nothing', async () => {
    const id = await create();
    const before = await read(id);
    for (const [query, body, message] of [
      ['?upstreamURL=nowhere', plain(), 'upstreamURL: must be an absolute URL'],
      ['?authentication=true', plain(), 'authentication: the document has no security to take it from'],
      ['', { paths: [] }, 'paths: must be an object'],
      ['', document('another'), 'Request APIID does not match that in Definition!'],
    ] as const) {
      const [status, answer] = await call('PATCH', `/gw/apis/oas/${id}${query}`, body);
      assert.equal(status, 400);
      assert.ok(answer.message.includes(message), answer.message);
    }
    assert.match((await ask('PATCH', `/gw/apis/oas/${id}?allowList=perhaps`, plain())).body.message, /^allowList: /);
    assert.deepEqual(await read(id), before);
  });

  test('a version of a document names its base', async () => {
    const base = await create();
    const query = `?base_api_id=${base}&base_api_version_name=v1&new_version_name=v2&set_default=true`;
    const child = await create(undefined, {}, query);
    const answer = await ask('GET', `/gw/apis/oas/${child}`);
    assert.equal(answer.headers.get('x-gw-base-api-id'), base);
    const { body } = await ask('GET', `/gw/apis/oas/${base}/versions`);
    assert.deepEqual(
      body.apis.map((it: Record<string, unknown>) => [it.id, it.versionName, it.isDefaultVersion]),
      [
        [base, 'v1', false],
        [child, 'v2', true],
      ],
    );
    assert.deepEqual((await read(base))['x-gw-api-gateway'].info.versioning.versions, [{ name: 'v2', id: child }]);
    const other = await classic();
    const mixed = `?base_api_id=${other}&base_api_version_name=v1&new_version_name=v2`;
    assert.match(
      (await ask('POST', `/gw/apis/oas${mixed}`, document('mixed'))).body.message,
      /must have the same format/,
    );
  });

  test('streams documents are checked by their own rules', async () => {
    const id = `s${createPublicId()}`;
    const { upstream: _behind, ...part } = gatewayPart(id);
    const streams = { 'x-gw-api-gateway': part, 'x-gw-streaming': { streams: { one: { input: {}, output: {} } } } };
    assert.deepEqual(await call('POST', '/gw/apis/oas', streams), [200, toResult(id, 'added')]);
    assert.deepEqual((await read(id))['x-gw-streaming'], streams['x-gw-streaming']);
    const patched = await call('PATCH', `/gw/apis/oas/${id}?listenPath=/s-${id}`, plain());
    assert.deepEqual(patched, [200, toResult(id, 'modified')]);
    assert.deepEqual((await read(id))['x-gw-streaming'], streams['x-gw-streaming']);
    assert.equal((await ask('GET', `/api/apis/streams/${id}`)).body.info.title, 'Pets');
    const wrong = { ...streams, 'x-gw-streaming': {} };
    assert.match((await ask('POST', '/gw/apis/oas', wrong)).body.message, /^x-gw-streaming.streams: is required/);
  });

  test('concurrent patches do not undo each other', async () => {
    const id = await create();
    const asked = ['listenPath=/many', 'customDomain=many.test', 'allowList=true', 'upstreamURL=http://127.0.0.1:9'];
    await Promise.all(asked.map(query => ask('PATCH', `/gw/apis/oas/${id}?${query}`, plain())));
    const { server, upstream: behind, middleware } = (await read(id))['x-gw-api-gateway'];
    assert.deepEqual(
      [server.listenPath.value, server.customDomain.name, middleware.operations.pets.allow.enabled, behind.url],
      ['/many', 'many.test', true, 'http://127.0.0.1:9'],
    );
  });
});
