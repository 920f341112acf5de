import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../../tests/support/app.ts';
import { withSettings } from '../../../tests/support/with-settings.ts';

const classic = (more: object = {}) => ({
  name: 'Members',
  api_id: createPublicId(),
  use_keyless: true,
  proxy: { listen_path: `/${createPublicId()}/`, target_url: 'http://127.0.0.1:9/' },
  ...more,
});
const extension = (more: object = {}, server: object = {}) => ({
  info: { name: 'Members', id: createPublicId(), state: { active: true } },
  server: { listenPath: { value: `/${createPublicId()}/` }, ...server },
  upstream: { url: 'http://127.0.0.1:9/' },
  ...more,
});
const openApi = { openapi: '3.0.3', info: { title: 'Members', version: '1' }, paths: {} };
const document = (server: object = {}, more: object = {}) => ({
  ...openApi,
  ...more,
  'x-gw-api-gateway': extension({}, server),
});
const streams = (stream: object) => ({
  'x-gw-api-gateway': extension(),
  'x-gw-streaming': { streams: { one: stream } },
});
const streamsType = { 'content-type': 'application/vnd.gw.streams.oas' };
const misspelt = { authentification: { enabled: true } };
/** A block that names no operation of the document would block nothing. */
const operations = {
  paths: { '/orders': { get: { operationId: 'listOrders', responses: {} } } },
};
const createBlocked = (operationId: string, id = createPublicId()) => ({
  ...openApi,
  ...operations,
  'x-gw-api-gateway': extension({
    info: { ...extension().info, id },
    middleware: { operations: { [operationId]: { block: { enabled: true } } } },
  }),
});
const operationFault =
  'x-gw-api-gateway.middleware.operations.listOrder: the document has no operation of this id; did you mean listOrders?';
const serverFault = 'x-gw-api-gateway.server.authentification: no such member; did you mean authentication?';

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  readonly error: string;
}

/** Every write operation of definitions, with a misspelt member, and the expected error. */
async function writesOf(app: TestApp): Promise<Write[]> {
  const ask = async (path: string, body: object, headers = {}) => {
    const { status, text } = await app.ask('POST', path, { body: JSON.stringify(body), headers });
    assert.equal(status, 200, text);
  };
  const kept = classic();
  const keptDocument = document();
  const keptStreams = streams({});
  await ask('/gw/apis', kept);
  await ask('/gw/apis/oas', keptDocument);
  await ask('/api/apis/streams', keptStreams, streamsType);
  const documentId = keptDocument['x-gw-api-gateway'].info.id;
  const streamsId = keptStreams['x-gw-api-gateway'].info.id;
  const wrong = (more: object = {}) => classic({ use_keylss: true, ...more });
  const wrongStream = () => streams({ inptu: {} });
  const top = 'use_keylss: no such member; did you mean use_keyless?';
  const version = { versions: { Default: { name: 'Default', extended_paths: { white_lst: [] } } } };
  const deep = 'version_data.versions.Default.extended_paths.white_lst: no such member; did you mean white_list?';
  const stream = 'x-gw-streaming.streams.one.inptu: no such member; did you mean input?';
  return [
    { method: 'POST', path: '/gw/apis', body: wrong(), error: top },
    { method: 'POST', path: '/gw/apis', body: classic({ version_data: version }), error: deep },
    { method: 'PUT', path: `/gw/apis/${kept.api_id}`, body: wrong({ api_id: kept.api_id }), error: top },
    { method: 'POST', path: '/api/apis', body: { api_definition: wrong() }, error: `api_definition.${top}` },
    {
      method: 'PUT',
      path: `/api/apis/${kept.api_id}`,
      body: { api_definition: wrong({ api_id: kept.api_id }) },
      error: `api_definition.${top}`,
    },
    { method: 'POST', path: '/gw/apis/oas', body: document(misspelt), error: serverFault },
    { method: 'PUT', path: `/gw/apis/oas/${documentId}`, body: document(misspelt), error: serverFault },
    { method: 'POST', path: '/gw/apis/oas', body: createBlocked('listOrder'), error: operationFault },
    { method: 'PUT', path: `/gw/apis/oas/${documentId}`, body: createBlocked('listOrder'), error: operationFault },
    {
      method: 'PATCH',
      path: `/gw/apis/oas/${documentId}`,
      body: createBlocked('listOrder', documentId),
      error: operationFault,
    },
    {
      method: 'PATCH',
      path: `/gw/apis/oas/${documentId}`,
      body: { ...openApi, 'x-gw-api-gatway': extension() },
      error: 'x-gw-api-gatway: no such member; did you mean x-gw-api-gateway?',
    },
    {
      method: 'POST',
      path: '/gw/apis/oas/import?upstreamURL=http://127.0.0.1:9/',
      body: { ...openApi, 'x-gw-api-gatway': extension() },
      error: 'x-gw-api-gatway: no such member; did you mean x-gw-api-gateway?',
    },
    { method: 'POST', path: '/gw/apis/oas', body: wrongStream(), error: stream },
    { method: 'POST', path: '/api/apis/streams', body: wrongStream(), headers: streamsType, error: stream },
    { method: 'PUT', path: `/api/apis/streams/${streamsId}`, body: wrongStream(), headers: streamsType, error: stream },
  ];
}

onEveryEngine('unknown members of definitions', app => {
  const post = (path: string, body: object) => app().ask('POST', path, { body });

  test('every operation that writes a definition rejects unknown members with path and closest name, and stores nothing', async () => {
    for (const { method, path, body, headers = {}, error } of await writesOf(app())) {
      const before = (await app().ask('GET', '/gw/apis')).text;
      const answer = await app().ask(method, path, { body: JSON.stringify(body), headers });
      assert.equal(answer.status, 400, `${method} ${path}: ${answer.text}`);
      assert.equal(answer.body.message ?? answer.body.Message, error, `${method} ${path}`);
      assert.equal((await app().ask('GET', '/gw/apis')).text, before);
    }
  });

  test('an import reports each rejected definition, and stores the others', async () => {
    const [good, wrong] = [classic(), classic({ use_keylss: true })];
    const apis = [{ api_definition: good }, { api_definition: wrong }, { api_definition: {}, oas: document(misspelt) }];
    const { status, body } = await post('/admin/apis/import', { apis });
    assert.equal(status, 200);
    assert.deepEqual(body.Meta, { [good.api_id]: true, [wrong.api_id]: false, 'apis[2]': false });
    assert.deepEqual(body.Errors, {
      [wrong.api_id]: 'apis[1].api_definition.use_keylss: no such member; did you mean use_keyless?',
      'apis[2]': `apis[2].oas.${serverFault}`,
    });
  });

  test('the debug operation rejects unknown members', async () => {
    const { status, body } = await post('/gw/debug', { spec: classic({ use_keylss: true }), request: { path: '/' } });
    assert.equal(status, 400);
    assert.match(body.logs, /use_keylss: no such member; did you mean use_keyless\?/);
  });

  test('legacy members are stored, returned, and listed in the response and the status', async () => {
    const definition = classic({
      extended_paths: { cache: ['a'] },
      proxy: { ...classic().proxy, transport: { dial_timeout: 3 } },
    });
    const warnings = [
      'proxy.transport.dial_timeout: legacy member: kept, without effect',
      'extended_paths: legacy member: kept, without effect',
    ];
    const written = await post('/gw/apis', definition);
    assert.deepEqual(written.body, { key: definition.api_id, status: 'ok', action: 'added', warnings });
    const { body: read } = await app().ask('GET', `/gw/apis/${definition.api_id}`);
    assert.deepEqual([read.extended_paths, read.proxy.transport], [{ cache: ['a'] }, { dial_timeout: 3 }]);
    const again = await app().ask('PUT', `/gw/apis/${definition.api_id}`, { body: read });
    assert.deepEqual([again.status, again.body.warnings?.length], [200, 2], again.text);
    for (const path of ['/gw/apis', '/api/apis']) {
      const { body } = await app().ask('GET', `${path}/${definition.api_id}/status`);
      assert.deepEqual(body.warnings, warnings);
    }
    const updated = await app().ask('PUT', `/api/apis/${definition.api_id}`, { body: { api_definition: read } });
    assert.deepEqual(
      updated.body.warnings,
      warnings.map(text => `api_definition.${text}`),
    );
    const { body: imported } = await post('/admin/apis/import', {
      apis: [
        {
          api_definition: {
            ...definition,
            api_id: createPublicId(),
            proxy: { ...definition.proxy, ...classic().proxy },
          },
        },
      ],
    });
    assert.equal(imported.warnings?.length, 2, JSON.stringify(imported));
  });

  test('the status names versions whose API does not exist, until it does', async () => {
    const [later, base] = [classic(), classic()];
    const definition = { enabled: true, name: 'v1', versions: { v2: later.api_id } };
    assert.equal((await post('/gw/apis', { ...base, definition })).status, 200);
    const warnings = async () => (await app().ask('GET', `/gw/apis/${base.api_id}/status`)).body.warnings;
    assert.deepEqual(await warnings(), [`the version v2 references the API ${later.api_id}, which does not exist`]);
    assert.equal((await post('/gw/apis', later)).status, 200);
    assert.equal(await warnings(), undefined);
  });

  test('null for an optional member means absent, in both formats', async () => {
    const definition = classic({
      tags: null,
      slug: null,
      CORS: { enable: null, allowed_origins: null },
      auth_configs: null,
    });
    assert.deepEqual((await post('/gw/apis', definition)).body.action, 'added');
    const { body: read } = await app().ask('GET', `/gw/apis/${definition.api_id}`);
    assert.deepEqual([read.tags, read.slug, read.CORS], [undefined, undefined, {}]);
    const given = document({ gatewayTags: null, authentication: { enabled: null } });
    assert.deepEqual((await post('/gw/apis/oas', given)).body.action, 'added');
  });
});

withSettings('management.unknown_members: warn', { 'management.unknown_members': 'warn' }, app => {
  test('allowed unknown members are stored, returned, and listed in the response and the status', async () => {
    const writes = await writesOf(app());
    for (const { method, path, body, headers = {}, error } of writes.filter(({ method }) => method !== 'PUT')) {
      const answer = await app().ask(method, path, { body: JSON.stringify(body), headers });
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
      assert.deepEqual(answer.body.warnings, [error], `${method} ${path}`);
      const { body: status } = await app().ask('GET', `/gw/apis/${answer.body.key ?? answer.body.ID}/status`);
      assert.deepEqual(status.warnings, [error.replace('api_definition.', '')], `${method} ${path}`);
    }
    const spec = classic({ use_keylss: true });
    const { body } = await app().ask('POST', '/gw/debug', { body: { spec, request: { path: '/' } } });
    assert.deepEqual(body.warnings, ['use_keylss: no such member; did you mean use_keyless?']);
    await app().ask('POST', '/gw/apis', { body: spec });
    assert.equal((await app().ask('GET', `/gw/apis/${spec.api_id}`)).body.use_keylss, true);
  });
});
