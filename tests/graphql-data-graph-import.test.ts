import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { problem as convertProblem } from '../src/apis/convert/problems.ts';
import { problem } from '../src/apis/data-graphs/problems.ts';
import { expectProblem } from './contract/expect-problem.ts';
import { startApp, type TestApp } from './support/app.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { type Received, startUpstream, type Upstream } from './support/upstream.ts';

const path = '/api/data-graphs/data-sources/import';
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const jsonContent = (schema: object) => ({ description: 'ok', content: { 'application/json': { schema } } });

const createDocument = (url: string) => ({
  openapi: '3.0.3',
  info: { title: 'Pet shop', version: '1' },
  servers: [{ url: `${url}/{stage}`, variables: { stage: { default: 'v1' } } }],
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        summary: 'All "pets"',
        parameters: [
          { name: 'page-size', in: 'query', schema: { type: 'integer' } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
        ],
        responses: { 200: jsonContent({ type: 'array', items: reference('Pet') }) },
      },
      post: {
        operationId: 'addPet',
        requestBody: { required: true, content: { 'application/json': { schema: reference('NewPet') } } },
        responses: { 201: jsonContent(reference('Pet')) },
      },
    },
    '/pets/{pet-id}': {
      parameters: [{ name: 'pet-id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { responses: { 200: jsonContent(reference('Pet')) } },
      delete: { operationId: 'removePet', responses: { 204: { description: 'gone' } } },
    },
  },
  components: {
    schemas: {
      Pet: {
        allOf: [reference('NewPet'), { type: 'object', properties: { id: { type: 'integer', format: 'int64' } } }],
      },
      NewPet: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          kind: { type: 'string', enum: ['cat', 'dog'] },
          parent: reference('Pet'),
          extra: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
          born_at: { type: ['string', 'null'] },
        },
      },
    },
  },
});

describe('POST /api/data-graphs/data-sources/import', () => {
  let app: TestApp;
  let server: Upstream;
  const received: Received[] = [];
  before(async () => {
    [app, server] = await Promise.all([startApp('sqlite'), startUpstream()]);
    server.answer = (request, response, body) => {
      received.push({ method: request.method, url: request.url, body } as never);
      const pet = { id: 4_000_000_000, name: 'Tom', kind: 'cat', extra: { a: 1 }, parent: { name: 'Ann' } };
      if (request.method === 'DELETE') return void response.writeHead(204).end();
      const isList = request.method === 'GET' && request.url?.startsWith('/v1/pets?');
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(isList ? [pet] : pet));
    };
  });
  after(async () => {
    await Promise.all([app?.close(), server?.close()]);
  });

  async function importAndCall(asked: object, listenPath: string) {
    const { status, text, body } = await app.ask('POST', `${path}?listenPath=${listenPath}`, asked as never);
    assert.equal(status, 200, text);
    assert.equal(body.Message, 'Data source imported');
    const key = await app.ask('POST', '/gw/keys', { body: { access_rights: { [body.ID]: { api_id: body.ID } } } });
    await waitUntilApplied(app);
    return async (query: string, variables: object = {}) => {
      const reply = await fetch(app.url.gateway + listenPath, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: key.body.key },
        body: JSON.stringify({ query, variables }),
      });
      return reply.json();
    };
  }

  test('operations of an OpenAPI document are fields that request their server', async () => {
    const run = await importAndCall({ body: createDocument(server.url) }, '/pets-graph/');
    const list = await run('{ listPets(pageSize: 2) { id name kind extra parent { name } } }');
    const pet = { id: 4_000_000_000, name: 'Tom', kind: 'cat', extra: { a: 1 }, parent: { name: 'Ann' } };
    assert.deepEqual(list, { data: { listPets: [pet] } });
    assert.deepEqual(await run('{ getPetsPetId(petId: "a/b") { name } }'), { data: { getPetsPetId: { name: 'Tom' } } });
    const input = { name: 'Tom "x"', kind: 'dog', parent: { name: 'Ann' } };
    const added = await run('mutation ($input: NewPetInput!) { addPet(input: $input) { name } }', { input });
    assert.deepEqual(added, { data: { addPet: { name: 'Tom' } } });
    assert.deepEqual(await run('mutation { removePet(petId: "1") }'), { data: { removePet: null } });
    assert.deepEqual(
      received.map(({ method, url, body }) => [method, url, body && JSON.parse(String(body))]),
      [
        ['GET', '/v1/pets?page-size=2', ''],
        ['GET', '/v1/pets/a%2Fb', ''],
        ['POST', '/v1/pets', input],
        ['DELETE', '/v1/pets/1', ''],
      ],
    );
  });

  test('an imported graph needs a key, and its warnings name what was left out', async () => {
    const asked = { body: createDocument(server.url) };
    const { status, text, body } = await app.ask('POST', `${path}?listenPath=/guarded/`, asked);
    assert.equal(status, 200, text);
    assert.match(JSON.stringify(body), /X-Trace: parameters in header are left out/);
    await waitUntilApplied(app);
    assert.equal((await fetch(`${app.url.gateway}/guarded/`, { method: 'POST' })).status, 401);
  });

  test('methods, properties and nested schemas that a graph leaves out are in its warnings', async () => {
    const base = createDocument(server.url);
    const names = Array.from({ length: 1002 }, (_, at) => `p${at}`);
    const wide = { type: 'object', properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])) };
    let deep: object = { type: 'string' };
    for (let level = 0; level < 40; level++) deep = { type: 'object', properties: { below: deep } };
    const done = { responses: { 204: { description: 'ok' } } };
    const get = (schema: object) => ({ get: { responses: { 200: jsonContent(schema) } } });
    const paths = { '/wide': { ...get(wide), head: done, options: done, trace: done }, '/deep': get(deep) };
    const asked = { body: { ...base, paths } };
    const { status, text } = await app.ask('POST', `${path}?listenPath=/left-out/`, asked);
    assert.equal(status, 200, text.slice(0, 500));
    for (const method of ['head', 'options', 'trace'])
      assert.match(text, new RegExp(`/paths/~1wide/${method}: operations of this method are left out`));
    assert.match(text, /: 2 properties beyond 1000 are left out/);
    assert.match(text, /schema nested deeper than 32 levels: its type is JSON: \/paths\/~1deep\//);
  });

  test('a document in YAML with the media type of data graphs, and Swagger 2.0, are imported', async () => {
    const yaml = `openapi: 3.0.3
info: {title: Yaml, version: "1"}
servers: [{url: "${server.url}"}]
paths: {/pets: {get: {operationId: one, responses: {200: {description: ok}}}}}`;
    const headers = { 'content-type': 'application/vnd.gw.udg.v2.openapi' };
    const imported = await app.ask('POST', `${path}?listenPath=/yaml/`, { headers, body: yaml });
    assert.equal(imported.status, 200, imported.text);
    const swagger = {
      swagger: '2.0',
      info: { title: 'Old', version: '1' },
      host: new URL(server.url).host,
      schemes: ['http'],
      paths: { '/v1/pets': { get: { operationId: 'one', responses: { 200: { schema: { type: 'object' } } } } } },
    };
    const run = await importAndCall({ body: swagger }, '/old/');
    assert.match(JSON.stringify(await run('{ one }')), /"name":"Tom"/);
  });

  test('a document without servers or reads, of another format, or with hostile parts is refused with its place', async () => {
    const base = createDocument(server.url);
    const read = { operationId: 'a', responses: { 200: { description: 'ok' } } };
    const withPath = (template: string, item: object = { get: read }) => ({ ...base, paths: { [template]: item } });
    const circle = { $ref: '#/components/schemas/Circle' };
    const invalid: [object, RegExp][] = [
      [{ ...base, openapi: '4.0' }, / at #\/openapi: /],
      [{ ...base, servers: [{ url: '/relative' }] }, / at #\/servers\/0\/url: /],
      [{ ...base, servers: [{ url: 'gw://other/' }] }, / at #\/servers\/0\/url: /],
      [{ ...base, servers: [{ url: 'http://a.example/$secret_env.X' }] }, / at #\/servers\/0\/url: /],
      [withPath('/a/{{.request.headers.x}}'), / at #\/paths\/.*\/get: /],
      [withPath('/a/$gw_meta.x'), / at #\/paths\/~1a~1\$gw_meta.x\/get: /],
      [withPath('/a/../b'), / at #\/paths/],
      [withPath('/a', { $ref: 'https://a.example/x.json' }), / at #\/paths\/~1a\/\$ref: /],
      [withPath('/a', { $ref: '#/nowhere' }), /there is no #\/nowhere/],
      [
        {
          ...withPath('/a', { get: { ...read, responses: { 200: jsonContent(circle) } } }),
          components: { schemas: { Circle: circle } },
        },
        /a circle$/,
      ],
      [
        {
          ...withPath('/a', { get: { ...read, responses: { 200: jsonContent(reference('All')) } } }),
          components: {
            schemas: {
              All: { allOf: Array(50).fill(reference('One')) },
              One: { properties: { a: {} }, required: Array(50_000).fill('a') },
            },
          },
        },
        / at #\/components\/schemas\/All\/allOf: the schemas combine more than 100000/,
      ],
      [withPath('/a', { get: { ...read, parameters: Array(101).fill({ name: 'a', in: 'query' }) } }), /100 parameters/],
      [
        { ...base, paths: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`/${at}`, { get: read }])) },
        /1000 op/,
      ],
    ];
    for (const [body, message] of invalid) {
      await expectProblem(app, 'importDataGraph', problem.document_invalid, path, { body });
      assert.match((await app.ask('POST', path, { body })).body.Message, message);
    }
    const { servers: _none, ...withoutServers } = base;
    for (const body of [withoutServers, { a: 1 }, withPath('/a', { post: read })])
      await expectProblem(app, 'importDataGraph', problem.document_unsupported, path, { body });
    await expectProblem(app, 'importDataGraph', convertProblem.text_invalid, path, { body: { swagger: '1.2' } });
  });
});
