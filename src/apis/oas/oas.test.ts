import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine } from '../../../tests/support/app.ts';

const unreachable = 'http://127.0.0.1:9/';
const plain = (more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  paths: { '/pets': { get: { operationId: 'pets', responses: { 200: { description: 'all' } } } } },
  ...more,
});
const documentOf = (id: string, more: object = {}) => ({
  ...plain(),
  'x-gw-api-gateway': {
    info: { id, name: `Name of ${id}`, state: { active: true } },
    server: { listenPath: { value: `/${id}/`, strip: true } },
    upstream: { url: unreachable },
    ...more,
  },
});
const toError = (message: string) => ({ Status: 'Error', Message: message, Meta: null });
const toOk = (message: string) => ({ Status: 'OK', Message: message, Meta: null });

onEveryEngine('dashboard API: OpenAPI documents', app => {
  const ask = (method: string, path: string, body?: unknown, more: Asked = {}) =>
    app().ask(method, path, { ...more, ...(body === undefined ? {} : { body }) });
  const answer = async (method: string, path: string, body?: unknown, more: Asked = {}) => {
    const { status, body: answered } = await ask(method, path, body, more);
    return [status, answered];
  };
  const create = async (query = '', id = `d${createPublicId()}`, more: object = {}) => {
    const { status, text } = await ask('POST', `/api/apis/oas${query}`, documentOf(id, more));
    assert.equal(status, 200, text);
    return id;
  };
  const read = async (id: string) => (await ask('GET', `/api/apis/oas/${id}`)).body;
  const createClassic = async () => {
    const proxy = { listen_path: `/c${createPublicId()}`, target_url: unreachable };
    return (await ask('POST', '/api/apis', { api_definition: { name: 'classic', use_keyless: true, proxy } })).body.ID;
  };
  const createStreams = async () => {
    const id = `s${createPublicId()}`;
    const { status, text } = await app().ask('POST', '/api/apis/streams', {
      body: JSON.stringify({ ...documentOf(id), 'x-gw-streaming': { streams: {} } }),
      headers: { 'content-type': 'application/vnd.gw.streams.oas' },
    });
    assert.equal(status, 200, text);
    return id;
  };
  const versionOf = (base: string, name: string) =>
    create(`?base_api_id=${base}&base_api_version_name=v1&new_version_name=${name}`);

  test('a created document is read back as written, in JSON and YAML, and listed', async () => {
    const id = `d${createPublicId()}`;
    const [status, created] = await answer('POST', '/api/apis/oas', { ...documentOf(id), tags: [{ name: 't' }] });
    const { Meta, ...rest } = created;
    assert.deepEqual([status, rest], [200, { Status: 'OK', Message: 'API created', ID: id }]);
    assert.match(Meta, /^[0-9a-f]{24}$/);
    const document = await read(id);
    assert.deepEqual(document.tags, [{ name: 't' }]);
    const { dbId, orgId } = document['x-gw-api-gateway'].info;
    assert.deepEqual([dbId, orgId], [Meta, app().credentials.organisation_id]);
    assert.deepEqual(await read(Meta), document);
    const yaml = await ask('GET', `/api/apis/oas/${id}`, undefined, { headers: { accept: 'application/x-yaml' } });
    assert.match(yaml.headers.get('content-type') ?? '', /^application\/yaml/);
    assert.deepEqual(parse(yaml.text), document);
    const { apis, pages } = (await ask('GET', `/api/apis/oas?q=${id}`)).body;
    assert.deepEqual([apis, pages], [[document], 1]);
    const other = await ask('GET', '/api/apis/oas?p=-1', undefined, { credential: (await app().stranger()).accessKey });
    assert.deepEqual(other.body, { apis: [], pages: 1 });
  });

  test('a document is created and updated from YAML; update keeps owners and categories', async () => {
    const id = `d${createPublicId()}`;
    const yaml = { headers: { 'content-type': 'application/x-yaml' } };
    assert.equal((await ask('POST', '/api/apis/oas', stringify(documentOf(id)), yaml)).status, 200);
    const userIds = ['u1'];
    await ask('PUT', `/api/apis/${id}/access`, { userIds });
    await ask('PUT', `/api/apis/oas/${id}/categories`, { categories: ['eu'] });
    const next = stringify({ ...documentOf(id), info: { title: 'Newer', version: '2' } });
    assert.deepEqual(await answer('PUT', `/api/apis/oas/${id}`, next, yaml), [200, toOk('API updated')]);
    assert.equal((await read(id)).info.title, 'Newer');
    assert.deepEqual((await ask('GET', `/api/apis/${id}/access`)).body.userIds, userIds);
    assert.deepEqual((await ask('GET', `/api/apis/oas/${id}/categories`)).body, { categories: ['eu'] });
  });

  test('an invalid document, id or format is refused and changes nothing', async () => {
    const [id, classic, streams] = [await create(), await createClassic(), await createStreams()];
    const before = await read(id);
    const unknown = { info: { id, name: 'n' }, server: { listenPat: {} }, upstream: { url: unreachable } };
    for (const [method, path, body, status, message] of [
      ['POST', '', plain(), 400, 'the payload should contain x-gw-api-gateway'],
      ['POST', '', documentOf(id), 409, 'Found API with the same ID: choose another id'],
      [
        'POST',
        '',
        { ...plain(), 'x-gw-api-gateway': unknown },
        400,
        /server\.listenPat: no such member; did you mean listenPath/,
      ],
      [
        'POST',
        '',
        { ...documentOf('x'), 'x-gw-streaming': { streams: {} } },
        400,
        'x-gw-streaming: is sent to /api/apis/streams',
      ],
      ['PUT', `/${id}`, plain(), 400, 'the payload should contain x-gw-api-gateway'],
      [
        'PUT',
        `/${id}`,
        documentOf('other'),
        400,
        `x-gw-api-gateway.info.id: is other, but the API in the path is ${id}`,
      ],
      ['PUT', '/nothing', documentOf('nothing'), 404, 'API definition does not exist'],
      ['PUT', `/${classic}`, documentOf(classic), 400, /classic format/],
      [
        'PUT',
        `/${streams}`,
        documentOf(streams),
        400,
        `This is a streams API: send its document to /api/apis/streams/${streams}`,
      ],
      ['PATCH', `/${streams}`, plain(), 400, /This is a streams API/],
      ['PATCH', `/${classic}`, plain(), 400, /classic format/],
      ['PATCH', `/${id}`, documentOf(id), 400, 'the import payload should not contain x-gw-api-gateway'],
      ['PATCH', '/nothing', plain(), 404, 'API definition does not exist'],
      ['PATCH', `/${id}`, { swagger: '2.0' }, 400, /this is Swagger 2\.0/],
    ] as const) {
      const answered = await ask(method, `/api/apis/oas${path}`, body);
      assert.equal(answered.status, status, `${method} ${path}: ${answered.text}`);
      if (typeof message === 'string') assert.equal(answered.body.Message, message);
      else assert.match(answered.body.Message, message);
    }
    assert.deepEqual(await read(id), before);
  });

  test('routes are checked: a taken listen path is refused on create, update and patch', async () => {
    const [first, second] = [await create(), await create()];
    const taken = { listenPath: { value: `/${first}/`, strip: true } };
    const message = `Another API already has the listen path /${first}: choose another listen path`;
    const moved = documentOf(second, { server: taken });
    assert.deepEqual(await answer('POST', '/api/apis/oas', documentOf(`x${first}`, { server: taken })), [
      409,
      toError(message),
    ]);
    assert.deepEqual(await answer('PUT', `/api/apis/oas/${second}`, moved), [409, toError(message)]);
    const path = `/api/apis/oas/${second}?listenPath=/${first}`;
    assert.deepEqual(await answer('PATCH', path, plain()), [409, toError(message)]);
  });

  test('patch replaces the OpenAPI part and keeps the extension, changed as the parameters ask', async () => {
    const id = await create();
    const next = plain({ info: { title: 'Next', version: '2' }, paths: { '/cats': { get: { operationId: 'cats' } } } });
    const patched = await answer('PATCH', `/api/apis/oas/${id}?allowList=true`, next);
    assert.deepEqual(patched, [200, toOk('API updated')]);
    const { info, 'x-gw-api-gateway': gateway } = await read(id);
    assert.deepEqual(
      [info.title, gateway.upstream.url, gateway.server.listenPath.value],
      ['Next', unreachable, `/${id}/`],
    );
    assert.equal(gateway.middleware.operations.cats.allow.enabled, true);
    const form = new FormData();
    form.append('file', new Blob([stringify(plain({ info: { title: 'File', version: '3' } }))]), 'pets.yaml');
    assert.equal((await app().ask('PATCH', `/api/apis/oas/${id}`, { body: form })).status, 200);
    assert.equal((await read(id)).info.title, 'File');
    assert.equal((await ask('PATCH', `/api/apis/oas/${id}?listenpath=/x`, plain())).status, 400);
  });

  test('documents of other organisations are not found', async () => {
    const id = await create();
    const { accessKey: credential } = await app().stranger();
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', documentOf(id)],
      ['PATCH', '', plain()],
      ['DELETE', '', undefined],
      ['GET', '/urls', undefined],
      ['GET', '/export', undefined],
      ['GET', '/versions', undefined],
      ['GET', '/categories', undefined],
      ['PUT', '/categories', { categories: ['a'] }],
    ] as const) {
      const { status, text } = await ask(method, `/api/apis/oas/${id}${path}`, body, { credential });
      assert.equal(status, 404, `${method} ${path}: ${text}`);
    }
    const version = `?base_api_id=${id}&new_version_name=v2&base_api_version_name=v1`;
    const { body } = await ask('POST', `/api/apis/oas${version}`, documentOf(createPublicId()), { credential });
    assert.equal(body.Message, `base_api_id: there is no API ${id}`);
    assert.deepEqual((await read(id))['x-gw-api-gateway'].info.versioning, undefined);
  });

  test('a reader without write permission sees masked secrets', async () => {
    const id = await create('', `d${createPublicId()}`, {
      upstream: {
        url: unreachable,
        authentication: { enabled: true, basicAuth: { enabled: true, username: 'u', password: 'pw-secret' } },
      },
    });
    const user = {
      email_address: `${createPublicId()}@example.org`,
      first_name: 'R',
      last_name: 'O',
      active: true,
      org_id: app().credentials.organisation_id,
      user_permissions: { apis: 'read' },
    };
    const credential = (await ask('POST', '/admin/users', user)).body.Message;
    for (const path of [`/${id}`, `?q=${id}`, `/${id}/export`, '/export']) {
      assert.match((await ask('GET', `/api/apis/oas${path}`)).text, /pw-secret/, path);
      const { status, text } = await ask('GET', `/api/apis/oas${path}`, undefined, { credential });
      assert.equal(status, 200, path);
      assert.doesNotMatch(text, /pw-secret/, path);
    }
    assert.equal((await ask('DELETE', `/api/apis/oas/${id}`, undefined, { credential })).status, 403);
  });

  test('delete leaves the versions of a base, and removes them with purge', async () => {
    const base = await create();
    const [second, third] = [await versionOf(base, 'v2'), await versionOf(base, 'v3')];
    assert.equal((await ask('DELETE', `/api/apis/oas/${base}?purge=perhaps`)).status, 400);
    assert.deepEqual(await answer('DELETE', `/api/apis/oas/${base}`), [200, toOk('API deleted')]);
    assert.deepEqual(await answer('DELETE', `/api/apis/oas/${base}`), [404, toError('API not found')]);
    assert.ok((await read(second)).openapi && (await read(third)).openapi);
    const again = await create();
    const [fourth, fifth] = [await versionOf(again, 'v2'), await versionOf(again, 'v3')];
    assert.deepEqual(await answer('DELETE', `/api/apis/oas/${again}?purge=true`), [200, toOk('API deleted')]);
    for (const id of [again, fourth, fifth]) assert.equal((await ask('GET', `/api/apis/oas/${id}`)).status, 404);
    assert.equal((await ask('DELETE', `/api/apis/oas/${await createClassic()}`)).status, 404);
  });

  test('version parameters are checked, and a version names its base in a header', async () => {
    const base = await create();
    const second = await versionOf(base, 'v2');
    const child = await ask('GET', `/api/apis/oas/${second}`);
    assert.equal(child.headers.get('x-gw-base-api-id'), base);
    const classic = await createClassic();
    for (const [query, status, message] of [
      [`base_api_id=${base}`, 400, 'new_version_name: is required with base_api_id'],
      [
        `base_api_id=${second}&new_version_name=v9`,
        400,
        'base_api_version_name: is required for the first version of an API',
      ],
      ['base_api_id=nothing&new_version_name=v9', 400, 'base_api_id: there is no API nothing'],
      [
        `base_api_id=${classic}&new_version_name=v9&base_api_version_name=v1`,
        400,
        'base_api_id: a version and its base must have the same format',
      ],
      [`base_api_id=${base}&new_version_name=v2`, 409, 'new_version_name: the API already has a version v2'],
    ] as const)
      for (const [path, body] of [
        ['', documentOf(createPublicId())],
        ['/import', plain({ servers: [{ url: unreachable }] })],
        ['/dry-run', { oas: plain({ servers: [{ url: unreachable }] }) }],
      ] as const)
        assert.deepEqual(await answer('POST', `/api/apis/oas${path}?${query}&listenPath=/${createPublicId()}`, body), [
          status,
          toError(message),
        ]);
    assert.deepEqual(
      (await ask('GET', `/api/apis/oas/${base}/versions`)).body.apis.map((it: { id: string }) => it.id),
      [base, second],
    );
  });
});

onEveryEngine('dashboard API: import of OpenAPI documents', app => {
  const served = new Map<string, { status?: number; body: string; type?: string }>();
  const server = createServer((request, response) => {
    const { status = 200, body, type = 'text/plain' } = served.get(request.url ?? '') ?? { status: 404, body: 'none' };
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  let origin = '';
  before(async () => {
    await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => void server.close());

  const ask = (method: string, path: string, body?: unknown, more: Asked = {}) =>
    app().ask(method, path, { ...more, ...(body === undefined ? {} : { body }) });
  const importAt = (body: unknown, query = `listenPath=/i${createPublicId()}`) =>
    ask('POST', `/api/apis/oas/import?upstreamURL=${encodeURIComponent(unreachable)}&${query}`, body);
  const read = async (id: string) => (await ask('GET', `/api/apis/oas/${id}`)).body;

  test('a plain document is imported from a body, a file and an address, with a chosen id', async () => {
    const id = `i${createPublicId()}`;
    const first = await importAt(plain(), `apiID=${id}&listenPath=${id}&validateRequest=true`);
    assert.deepEqual([first.status, first.body.Message, first.body.ID], [200, 'API created', id]);
    const { 'x-gw-api-gateway': gateway } = await read(id);
    assert.deepEqual([gateway.info.name, gateway.server.listenPath.value], ['Pets', `/${id}`]);
    const form = new FormData();
    form.append('file', new Blob([JSON.stringify(plain())]), 'pets.json');
    assert.equal((await importAt(form)).status, 200);
    served.set('/pets.yaml', { body: stringify(plain({ info: { title: 'Fetched', version: '1' } })) });
    const fetched = await importAt({ url: `${origin}/pets.yaml` });
    assert.equal((await read(fetched.body.ID)).info.title, 'Fetched', fetched.text);
    served.set('/next.json', {
      body: JSON.stringify(plain({ info: { title: 'Patched', version: '2' } })),
      type: 'application/json',
    });
    const patched = await ask('PATCH', `/api/apis/oas/${fetched.body.ID}`, { url: `${origin}/next.json` });
    assert.equal((await read(fetched.body.ID)).info.title, 'Patched', patched.text);
  });

  test('a document that cannot be imported is refused with the reason', async () => {
    const id = `i${createPublicId()}`;
    assert.equal((await importAt(plain(), `apiID=${id}&listenPath=${id}`)).status, 200);
    served.set('/huge', { body: `"${'x'.repeat(5_300_000)}"` });
    served.set('/text', { body: '{"a":', type: 'application/json' });
    for (const [body, query, status, message] of [
      [documentOf(id), '', 400, /should not contain x-gw-api-gateway/],
      [plain(), `apiID=${id}&listenPath=/x${id}`, 409, /same ID/],
      [plain(), `listenPath=/${id}`, 409, /Another API already has/],
      [{ swagger: '2.0' }, '', 400, /Swagger 2\.0/],
      [{ openapi: '3.0.3' }, 'listenPath=/q', 400, /info/],
      [{ url: `${origin}/absent` }, '', 400, /url: responded with status 404, not 200/],
      [{ url: `${origin}/huge` }, '', 502, /larger than/],
      [{ url: `${origin}/text` }, '', 400, /malformed/],
      [{ url: 'nowhere' }, '', 400, /not an absolute URL/],
      [{ url: 'file:///etc/passwd' }, '', 400, /Only http and https/],
      [{ url: 'http://u:p@127.0.0.1/' }, '', 400, /user name or password/],
      [{ url: 'http://169.254.169.254/latest' }, '', 400, /169\.254\.169\.254/],
      [{ url: 'http://127.0.0.1:9/' }, '', 502, /failed/],
      [{ url: `${app().url.dashboard}/openapi.json` }, '', 400, /not allowed/],
    ] as const) {
      const answered = await importAt(body, query);
      assert.equal(answered.status, status, `${JSON.stringify(body).slice(0, 60)}: ${answered.text}`);
      assert.match(answered.body.Message, message);
    }
  });

  test('a dry run returns the document that would be stored and stores nothing', async () => {
    const count = async () => (await ask('GET', '/api/apis/oas?p=-1')).body.apis.length;
    const before = await count();
    const query = `?upstreamURL=${encodeURIComponent(unreachable)}&listenPath=/dry&allowList=true`;
    const { status, body } = await ask('POST', `/api/apis/oas/dry-run${query}`, { oas: plain() });
    assert.equal(status, 200);
    const gateway = body['x-gw-api-gateway'];
    assert.deepEqual([gateway.server.listenPath.value, gateway.upstream.url], ['/dry', unreachable]);
    assert.equal(gateway.middleware.operations.pets.allow.enabled, true);
    const changed = { oas: plain({ info: { title: 'Other', version: '2' } }), gw_oas: documentOf('dry') };
    const patched = (await ask('POST', '/api/apis/oas/dry-run', changed)).body;
    assert.deepEqual([patched.info.title, patched['x-gw-api-gateway'].info.id], ['Other', 'dry']);
    const moved = (await ask('POST', '/api/apis/oas/dry-run?listenPath=/moved', { gw_oas: documentOf('dry') })).body;
    assert.deepEqual([moved.info.title, moved['x-gw-api-gateway'].server.listenPath.value], ['Pets', '/moved']);
    for (const [given, message] of [
      [{}, /oas: is required/],
      [{ oas: documentOf('x') }, /should not contain/],
      [{ gw_oas: plain() }, /should contain/],
      [{ oa: plain() }, /oa: no such member; did you mean oas/],
      [{ oas: plain() }, /upstreamURL|servers/],
    ] as const)
      assert.match((await ask('POST', '/api/apis/oas/dry-run', given)).body.Message, message);
    assert.equal(await count(), before);
  });
});
