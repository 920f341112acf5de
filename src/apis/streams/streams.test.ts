import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { onEveryEngine } from '../../../tests/support/app.ts';

const mediaType = 'application/vnd.gw.streams.oas';

const document = (name: string, info: object = {}) => ({
  'x-gw-api-gateway': {
    info: { name, state: { active: true, internal: false }, ...info },
    server: { listenPath: { value: `/${name}/`, strip: true }, customDomain: { enabled: false, name: '' } },
    middleware: {
      global: {
        cache: { enabled: true, timeout: 5, cacheResponseCodes: [200], cacheByHeaders: ['accept'] },
        cors: { enabled: true, maxAge: 24, allowedOrigins: ['*'] },
        transformRequestHeaders: { enabled: true, add: [{ name: 'a', value: 'b' }], remove: ['c'] },
        prePlugins: [{ enabled: true, functionName: 'f', path: 'p', rawBodyOnly: true, requireSession: false }],
        pluginConfig: { driver: 'otto', data: { enabled: true, value: { a: [1] } } },
      },
      operations: { anything: {} },
    },
    upstream: {
      url: '',
      rateLimit: { enabled: true, rate: 10, per: 'PT1M' },
      mutualTLS: { enabled: true, domainToCertificateMapping: [{ domain: '*', certificate: 'c' }] },
      test: { serviceDiscovery: { enabled: false, cacheTimeout: 3 } },
    },
  },
  'x-gw-streaming': {
    streams: {
      orders: { input: { http_server: { path: '/in' } }, output: { stdout: {} }, buffer: { memory: { limit: null } } },
    },
  },
});

onEveryEngine('streams APIs', app => {
  const ask = (method: string, path: string, body?: unknown, more: object = {}) =>
    app().ask(method, path, {
      headers: { 'content-type': mediaType },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...more,
    });
  const create = async (name: string, info: object = {}) => {
    const answer = await ask('POST', '/api/apis/streams', document(name, info));
    assert.equal(answer.status, 200, answer.text);
    return { id: answer.body.ID as string, dbId: answer.body.Meta as string };
  };
  const withIds = (given: ReturnType<typeof document>, id: string, dbId: string) => {
    const gateway = given['x-gw-api-gateway'];
    const info = { ...gateway.info, id, dbId, orgId: app().credentials.organisation_id };
    return { ...given, 'x-gw-api-gateway': { ...gateway, info } };
  };

  test('creating a streams API returns four members, and the document is stored completely', async () => {
    const answer = await ask('POST', '/api/apis/streams', document('kept'));
    const { ID, Meta, ...rest } = answer.body;
    assert.deepEqual([answer.status, rest], [200, { Status: 'OK', Message: 'API created' }]);
    const read = await app().ask('GET', `/api/apis/streams/${ID}`);
    assert.deepEqual([read.status, read.body], [200, withIds(document('kept'), ID, Meta)]);
    const asked = await ask('GET', `/api/apis/streams/${Meta}`, undefined, { headers: { accept: mediaType } });
    assert.deepEqual(asked.body, read.body);
  });

  test('settings of operations in a document without paths are kept and reported', async () => {
    const given = document('alone');
    const part = given['x-gw-api-gateway'];
    const middleware = { ...part.middleware, operations: { anything: { allow: { enabled: true } } } };
    const body = { ...given, 'x-gw-api-gateway': { ...part, middleware } };
    const answer = await ask('POST', '/api/apis/streams', body);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body.warnings, [
      'x-gw-api-gateway.middleware.operations.anything: the document has no operation of this id',
    ]);
    const refused = await ask('POST', '/api/apis/streams', { ...body, ...{ openapi: '3.0.3', paths: {} } });
    assert.equal(refused.status, 400, refused.text);
  });

  test('a streams document with an OpenAPI part keeps its other members', async () => {
    const openApi = { openapi: '3.0.3', info: { title: 'T', version: '1' }, paths: {}, 'x-own': { a: null } };
    const whole = { ...openApi, ...document('whole') };
    const { body } = await ask('POST', '/api/apis/streams', whole);
    assert.deepEqual((await ask('GET', `/api/apis/streams/${body.ID}`)).body, withIds(whole, body.ID, body.Meta));
  });

  test('streams operations accept only their media type, with or without parameters', async () => {
    for (const type of ['application/json', 'text/plain', 'application/vnd.gw.streams.oas+json', '']) {
      const answer = await ask('POST', '/api/apis/streams', document('typed'), { headers: { 'content-type': type } });
      assert.deepEqual([answer.status, answer.body.Message], [415, `Content-Type must be ${mediaType}`]);
    }
    const headers = { 'content-type': `${mediaType}; charset=utf-8` };
    const taken = await ask('POST', '/api/apis/streams', document('typed'), { headers });
    assert.equal(taken.status, 200);
    const update = { headers: { 'content-type': 'application/json' } };
    assert.equal((await ask('PUT', `/api/apis/streams/${taken.body.ID}`, document('typed'), update)).status, 415);
  });

  test('an invalid streams document is rejected with the path of each error, and nothing is stored', async () => {
    const gateway = document('faulty')['x-gw-api-gateway'];
    const streaming = { streams: {} };
    for (const [body, path] of [
      [{}, 'x-gw-api-gateway'],
      [{ 'x-gw-api-gateway': gateway }, 'x-gw-streaming'],
      [
        { 'x-gw-api-gateway': { ...gateway, upstream: { url: 7 } }, 'x-gw-streaming': streaming },
        'x-gw-api-gateway.upstream.url',
      ],
      [
        { 'x-gw-api-gateway': { ...gateway, info: { name: true } }, 'x-gw-streaming': streaming },
        'x-gw-api-gateway.info.name',
      ],
      [{ 'x-gw-api-gateway': gateway, 'x-gw-streaming': { streams: [] } }, 'x-gw-streaming.streams'],
      [{ ...document('f', { name: 'n'.repeat(501) }) }, 'x-gw-api-gateway.info.name'],
    ] as const) {
      const answer = await ask('POST', '/api/apis/streams', body);
      assert.equal(answer.status, 400, answer.text);
      assert.ok(answer.body.Message.includes(`${path}: `), answer.body.Message);
    }
    for (const body of ['', '{', 'null', '[]']) {
      assert.equal((await ask('POST', '/api/apis/streams', body)).status, 400, body);
    }
    assert.deepEqual((await app().ask('GET', '/api/apis/search?q=faulty')).body.apis, []);
  });

  test('a streams API with an existing id or route is rejected, whatever the format of the other API', async () => {
    const { id } = await create('taken', { id: 'taken-streams' });
    assert.equal(id, 'taken-streams');
    const again = await ask('POST', '/api/apis/streams', document('taken-2', { id }));
    assert.deepEqual([again.status, again.body.Message], [409, 'Found API with the same ID: choose another id']);
    assert.equal((await ask('POST', '/api/apis/streams', document('taken'))).status, 409);
    const classic = {
      api_definition: { name: 'c', proxy: { listen_path: '/taken', target_url: 'http://127.0.0.1:9/' } },
    };
    assert.equal((await app().ask('POST', '/api/apis', { body: classic })).status, 409);
  });

  test('an update replaces the streams document, and rejects another id in it', async () => {
    const { id, dbId } = await create('updated');
    const next = document('updated-now');
    const answer = await ask('PUT', `/api/apis/streams/${id}`, next);
    assert.deepEqual([answer.status, answer.body], [200, { Status: 'OK', Message: 'API updated', Meta: null }]);
    assert.deepEqual((await ask('GET', `/api/apis/streams/${id}`)).body, withIds(next, id, dbId));
    const other = await ask('PUT', `/api/apis/streams/${id}`, document('updated-now', { id: 'another' }));
    assert.equal(other.status, 400);
    assert.match(other.body.Message, /^x-gw-api-gateway\.info\.id: is another, /);
  });

  test('a streams API is listed, read and deleted but not replaced through the classic path', async () => {
    const { id } = await create('listed');
    const [entry] = (await app().ask('GET', '/api/apis?q=listed')).body.apis;
    const { api_id, is_oas, name, proxy } = entry.api_definition;
    assert.deepEqual([api_id, is_oas, name, proxy.listen_path], [id, true, 'listed', '/listed/']);
    assert.equal(entry.is_streams, true);
    assert.deepEqual(entry.oas, (await ask('GET', `/api/apis/streams/${id}`)).body);
    const classic = { api_definition: { name: 'c', proxy: { listen_path: '/c', target_url: 'http://127.0.0.1:9/' } } };
    const refused = await app().ask('PUT', `/api/apis/${id}`, { body: classic });
    assert.equal(refused.status, 400);
    assert.match(refused.body.Message, new RegExp(`PUT /api/apis/streams/${id}$`));
    assert.equal((await app().ask('DELETE', `/api/apis/${id}`)).status, 200);
    assert.equal((await ask('GET', `/api/apis/streams/${id}`)).status, 404);
  });

  test('a deleted, classic, foreign or unknown API returns 404 from streams operations', async () => {
    const { id } = await create('deleted');
    const classic = {
      api_definition: {
        name: 'not-streams',
        api_id: 'not-streams',
        proxy: { listen_path: '/ns', target_url: 'http://127.0.0.1:9/' },
      },
    };
    await app().ask('POST', '/api/apis', { body: classic });
    const { accessKey: credential } = await app().stranger();
    for (const [ref, more] of [
      ['nobodys', {}],
      ['not-streams', {}],
      [id, { credential }],
    ] as const) {
      const callForMessage = async (method: string, body?: unknown) => {
        const answer = await ask(method, `/api/apis/streams/${ref}`, body, more);
        return [answer.status, answer.body.Message];
      };
      assert.deepEqual(await callForMessage('GET'), [404, 'Could not retrieve API detail']);
      assert.deepEqual(await callForMessage('PUT', document('x')), [404, 'API definition does not exist']);
      assert.deepEqual(await callForMessage('DELETE'), [404, 'API not found']);
    }
    const gone = await ask('DELETE', `/api/apis/streams/${id}`);
    assert.deepEqual([gone.status, gone.body], [200, { Status: 'OK', Message: 'API deleted', Meta: null }]);
    assert.equal((await ask('DELETE', `/api/apis/streams/${id}`)).status, 404);
    assert.equal((await app().ask('GET', '/api/apis/not-streams')).status, 200);
  });

  test('patch replaces the OpenAPI part and keeps both extensions, changed as the parameters ask', async () => {
    const { id } = await create('patched');
    const path = `/api/apis/streams/${id}`;
    const plain = (title: string) => ({ openapi: '3.0.3', info: { title, version: '1' }, paths: {} });
    const operations = { middleware: { operations: {} } };
    const stored = (await ask('GET', path)).body;
    const { 'x-gw-api-gateway': gateway } = stored;
    const bare = { ...gateway, middleware: { ...gateway.middleware, ...operations.middleware } };
    assert.equal((await ask('PUT', path, { ...stored, 'x-gw-api-gateway': bare })).status, 200);
    const patched = await ask('PATCH', `${path}?listenPath=/moved-${id}/`, plain('Patched'));
    assert.deepEqual([patched.status, patched.body.Message], [200, 'API updated'], patched.text);
    const read = (await ask('GET', path)).body;
    assert.equal(read.info.title, 'Patched');
    assert.deepEqual(read['x-gw-streaming'], stored['x-gw-streaming']);
    assert.equal(read['x-gw-api-gateway'].server.listenPath.value, `/moved-${id}/`);
    assert.deepEqual(read['x-gw-api-gateway'].upstream, gateway.upstream);

    const form = new FormData();
    form.append('file', new Blob([JSON.stringify(plain('From a file'))]), 'streams.json');
    assert.equal((await app().ask('PATCH', path, { body: form })).status, 200);
    assert.equal((await ask('GET', path)).body.info.title, 'From a file');
    const streams = { other: { input: {}, output: {} } };
    assert.equal((await ask('PATCH', path, { ...plain('Both'), 'x-gw-streaming': { streams } })).status, 200);
    assert.deepEqual((await ask('GET', path)).body['x-gw-streaming'].streams, streams);
  });

  test('a patch that is not valid is refused and changes nothing', async () => {
    const { id } = await create('unpatched');
    const path = `/api/apis/streams/${id}`;
    const before = (await ask('GET', path)).body;
    const { accessKey: credential } = await app().stranger();
    const headers = { 'content-type': mediaType };
    const foreign = document('unpatched', { id: 'other' });
    for (const [body, more, status] of [
      [{ swagger: '2.0' }, {}, 400],
      [foreign, {}, 400],
      [{ paths: [] }, {}, 400],
      [{}, { headers, credential }, 404],
      [{}, { headers: { 'content-type': 'application/json' } }, 415],
    ] as const)
      assert.equal((await ask('PATCH', path, body, more)).status, status, JSON.stringify(body));
    assert.equal((await ask('PATCH', `${path}?listenPat=/x`, {})).status, 400);
    assert.equal((await ask('PATCH', '/api/apis/streams/nothing', {})).status, 404);
    assert.deepEqual((await ask('GET', path)).body, before);
  });

  test('any JSON gets success or a clear error, and accepted documents are read back', async () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const gateway = fc.record({
      info: fc.record({ name: fc.string({ unit: 'binary' }), state: value, more: value }, { requiredKeys: ['name'] }),
      server: fc.record(
        { listenPath: fc.record({ value: fc.stringMatching(/^\/\S{1,40}$/) }), authentication: value },
        {
          requiredKeys: ['listenPath'],
        },
      ),
      more: value,
    });
    const streams = fc.dictionary(fc.string(), fc.record({ input: fc.dictionary(fc.string(), value) }));
    const near = fc.record({ 'x-gw-api-gateway': gateway, 'x-gw-streaming': fc.record({ streams }), paths: value });
    await fc.assert(
      fc.asyncProperty(fc.oneof(near, value), async given => {
        const answer = await ask('POST', '/api/apis/streams', JSON.stringify(given));
        assert.ok(answer.status < 500, answer.text);
        if (answer.status !== 200) return;
        const read = await ask('GET', `/api/apis/streams/${answer.body.ID}`);
        const written = JSON.parse(JSON.stringify(given)) as ReturnType<typeof document>;
        assert.deepEqual(read.body, withIds(written, answer.body.ID, answer.body.Meta));
      }),
      { numRuns: 60 },
    );
    assert.equal((await app().ask('GET', '/api/apis?p=-1')).status, 200);
  });
});
