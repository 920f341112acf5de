import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { errorBody } from './support/step-harness.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const classicVersion = (extended_paths: object) => ({
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
  },
});

/** A reply that is written in the definition, in both formats. */
const literal = (
  reply: { code?: number; body?: string; headers?: Record<string, string> },
  more: object = {},
): BothFormats => ({
  classic: classicVersion({ mock_response: [{ path: '/mock', method: 'GET', ...reply }], ...more }),
  oas: {
    middleware: {
      operations: {
        mock: {
          mockResponse: {
            enabled: true,
            ...reply,
            headers: Object.entries(reply.headers ?? {}).map(([name, value]) => ({ name, value })),
          },
        },
      },
    },
  },
  document: { paths: { '/mock': { get: { operationId: 'mock', responses: {} } } } },
});

describe('Mock responses', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  test('a mock has the status, headers and body of the definition, and the upstream is not called', async () => {
    const definitions = literal({
      code: 418,
      body: 'short and stout',
      headers: { 'X-Pot': 'tea', 'Content-Type': 'text/plain' },
    });
    for (const { url, format } of await publishBoth(app, upstream, definitions)) {
      const before = upstream.requests.length;
      const reply = await fetch(`${url}/mock`);
      assert.deepEqual([reply.status, await reply.text()], [418, 'short and stout'], format);
      assert.deepEqual([reply.headers.get('x-pot'), reply.headers.get('content-type')], ['tea', 'text/plain'], format);
      assert.equal(reply.headers.get('x-ratelimit-limit'), null, format);
      assert.equal(upstream.requests.length, before, format);
      assert.equal((await fetch(`${url}/mock`, { method: 'POST' })).status, 200, format);
      assert.equal(upstream.requests.length, before + 1, format);
    }
  });

  test('a mock without a status is 200', async () => {
    for (const { url, format } of await publishBoth(app, upstream, literal({ body: 'x' })))
      assert.deepEqual([(await fetch(`${url}/mock`)).status], [200], format);
  });

  test('an unauthorized request gets no mock', async () => {
    const definitions = literal({ body: 'secret' });
    const guarded = {
      ...definitions,
      classic: { ...definitions.classic, use_keyless: false },
      oas: { ...definitions.oas, server: { authentication: { enabled: true } } },
    };
    for (const { url, format, apiId } of await publishBoth(app, upstream, guarded)) {
      assert.equal((await fetch(`${url}/mock`)).status, 401, format);
      const body = { access_rights: { [apiId]: {} } };
      const made = await app.ask('POST', `/api/keys/${createPublicId()}`, { body });
      assert.equal(made.status, 200, made.text);
      await waitUntilApplied(app);
      const reply = await fetch(`${url}/mock`, { headers: { authorization: made.body.key_id } });
      assert.deepEqual([reply.status, await reply.text()], [200, 'secret'], format);
    }
  });

  test('a classic mock is independent of allow and block lists', async () => {
    const lists = { white_list: [{ path: '/open' }], black_list: [{ path: '/mock' }] };
    const [{ url } = { url: '' }] = await publishBoth(app, upstream, literal({ code: 202 }, lists));
    assert.equal((await fetch(`${url}/mock`)).status, 202);
    assert.equal((await fetch(`${url}/other`)).status, 403);
    assert.equal((await fetch(`${url}/open`)).status, 200);
  });

  test('a legacy list can reply per method', async () => {
    const method_actions = { GET: { action: 'reply', code: 203, data: 'old', headers: { 'x-a': 'b' } } };
    const definitions = {
      ...literal({}),
      classic: classicVersion({ white_list: [{ path: '/mock', method_actions }] }),
    };
    const [{ url } = { url: '' }] = await publishBoth(app, upstream, definitions);
    const reply = await fetch(`${url}/mock`);
    assert.deepEqual([reply.status, await reply.text(), reply.headers.get('x-a')], [203, 'old', 'b']);
  });

  test('an API with an invalid mock header is not served, and its status names the reason', async () => {
    for (const { url, format } of await publishBoth(app, upstream, literal({ headers: { 'x-a': 'b\r\nx-c: d' } }))) {
      const reply = await fetch(`${url}/mock`);
      assert.equal(reply.status, 503, format);
      assert.equal(reply.headers.get('x-c'), null, format);
    }
  });

  const pet = {
    type: 'object',
    properties: { id: { type: 'integer' }, name: { type: 'string' }, parent: { $ref: '#/components/schemas/Pet' } },
  };
  const document = {
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    components: {
      schemas: { Pet: pet },
      examples: { Rex: { value: { name: 'Rex' } } },
      responses: { Gone: { description: 'Gone', content: { 'application/json': { example: { gone: true } } } } },
    },
    paths: {
      '/pets': {
        get: {
          operationId: 'pets',
          responses: {
            200: {
              description: 'Pets',
              headers: {
                'X-Total': { schema: { type: 'integer', example: 7 } },
                'X-Page': { schema: { type: 'string' } },
              },
              content: {
                'application/json': {
                  examples: { rex: { $ref: '#/components/examples/Rex' }, ace: { value: { name: 'Ace' } } },
                },
                'text/plain': { example: 'Rex' },
                'application/xml': { schema: { type: 'string', enum: ['<pet/>'] } },
              },
            },
            204: { description: 'None' },
            404: { description: 'Unknown', content: { 'application/json': { example: { error: 'unknown' } } } },
            410: { $ref: '#/components/responses/Gone' },
            '5XX': { description: 'Broken', content: { 'application/json': { example: { broken: true } } } },
          },
        },
      },
      '/pets/{id}': {
        get: {
          operationId: 'pet',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
          responses: {
            200: {
              description: 'Pet',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
            },
          },
        },
      },
      '/pets/{name}': {
        get: {
          operationId: 'petByName',
          parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string', pattern: '^[a-z]+$' } }],
          responses: { 200: { description: 'Pet', content: { 'application/json': { example: { by: 'name' } } } } },
        },
      },
      '/pets/mine': { get: { operationId: 'mine', responses: {} } },
    },
  };
  const publishMock = async (more: object = {}, shown: Record<string, unknown> = document) => {
    const fromOASExamples = { enabled: true, ...more };
    const mock = { mockResponse: { enabled: true, fromOASExamples } };
    const id = `o${createPublicId()}`;
    const gateway = {
      info: { id, name: id, state: { active: true } },
      upstream: { url: upstream.url },
      server: { listenPath: { value: `/${id}/`, strip: true } },
      middleware: { operations: shown === document ? { pets: mock, pet: mock, petByName: mock } : { pets: mock } },
    };
    const reply = await app.ask('POST', '/gw/apis/oas', { body: { ...shown, 'x-gw-api-gateway': gateway } });
    assert.equal(reply.status, 200, reply.text);
    await waitUntilApplied(app);
    return (path: string, headers: Record<string, string> = {}) =>
      fetch(`${app.url.gateway}/${id}${path}`, { headers });
  };
  const createMockCaller = async (more: object = {}) => {
    const ask = await publishMock(more);
    return async (path: string, headers?: Record<string, string>) => {
      const given = await ask(path, headers);
      return [given.status, given.headers.get('content-type'), await given.text()];
    };
  };
  const json = 'application/json';

  test('examples of the document are selected by the client’s request headers', async () => {
    const ask = await createMockCaller();
    const table: readonly [string, Record<string, string>, unknown[]][] = [
      ['the first name', {}, [200, json, '{"name":"Ace"}']],
      ['a name', { 'x-gw-accept-example-name': 'rex' }, [200, json, '{"name":"Rex"}']],
      ['a code', { 'X-Gw-Accept-Example-Code': '404' }, [404, json, '{"error":"unknown"}']],
      ['a code by reference', { 'X-Gw-Accept-Example-Code': '410' }, [410, json, '{"gone":true}']],
      ['a class of codes', { 'X-Gw-Accept-Example-Code': '503' }, [503, json, '{"broken":true}']],
      ['a code without a body', { 'X-Gw-Accept-Example-Code': '204' }, [204, null, '']],
      ['a type', { accept: 'text/plain' }, [200, 'text/plain', '"Rex"']],
      ['any type', { accept: '*/*' }, [200, json, '{"name":"Ace"}']],
      [
        'what browsers accept',
        { accept: 'text/html,application/xml;q=0.9,*/*;q=0.8' },
        [200, 'application/xml', '"<pet/>"'],
      ],
      [
        'an unknown code',
        { 'X-Gw-Accept-Example-Code': '418' },
        [404, json, errorBody('mock: there is no example response for the code 418')],
      ],
      [
        'no code',
        { 'X-Gw-Accept-Example-Code': 'x' },
        [400, json, errorBody('mock: the example code is not a number')],
      ],
      [
        'an unknown type',
        { accept: 'image/png' },
        [404, json, errorBody('mock: there is no example response for the content type image/png')],
      ],
      [
        'an unknown name',
        { 'x-gw-accept-example-name': 'constructor' },
        [404, json, errorBody('mock: there is no example response for the example name constructor')],
      ],
    ];
    for (const [what, headers, expected] of table) assert.deepEqual(await ask('/pets', headers), expected, what);
  });

  test('the definition selects the example when the client does not', async () => {
    const ask = await createMockCaller({ code: 404, contentType: json });
    assert.deepEqual(await ask('/pets'), [404, json, '{"error":"unknown"}']);
    assert.deepEqual(await ask('/pets', { 'X-Gw-Accept-Example-Code': '200' }), [200, json, '{"name":"Ace"}']);
    const named = await createMockCaller({ exampleName: 'rex', contentType: json });
    assert.deepEqual(await named('/pets'), [200, json, '{"name":"Rex"}']);
  });

  test('values are generated from a schema without examples, also from a recursive one', async () => {
    const ask = await createMockCaller();
    const [status, type, text] = await ask('/pets/1');
    const { id, name, parent } = JSON.parse(String(text));
    assert.deepEqual([status, type, id, name, parent.name], [200, json, 0, 'string', 'string']);
  });

  test('operations with the same path shape are distinguished by parameter patterns, and a literal path takes precedence', async () => {
    const ask = await createMockCaller();
    assert.deepEqual(await ask('/pets/rex'), [200, json, '{"by":"name"}']);
    assert.equal(JSON.parse(String((await ask('/pets/mine'))[2])).url, '/pets/mine', 'the upstream’s');
    assert.equal(JSON.parse(String((await ask('/pets/REX'))[2])).url, '/pets/REX', 'no operation fits');
  });

  test('the guide works as documented', async () => {
    const guide = readFileSync(new URL('../docs/guide/mocks.md', import.meta.url), 'utf8');
    const { 'x-gw-api-gateway': _gateway, ...shown } = JSON.parse(/```json\n([\s\S]*?)```/.exec(guide)![1]!);
    const ask = await publishMock({}, shown);
    const runs = [...guide.matchAll(/^ {4}\$ curl (?:-H '([\w-]+): (\w+)' )?\S+\n {4}(.*)$/gm)];
    assert.equal(runs.length, 3);
    for (const [, name, value, body] of runs)
      assert.equal(await (await ask('/pets', name ? { [name]: value! } : {})).text(), body);
  });

  test('headers come from their examples and schemas', async () => {
    const { headers } = await (await publishMock())('/pets');
    assert.deepEqual([headers.get('x-total'), headers.get('x-page')], ['7', 'string']);
  });
});

describe('Mock responses before authentication', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    app = await startApp('sqlite', { settings: { 'gateway.classic_mocks_first': 'true' } });
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  test('a classic definition can serve mocks before authentication, an OpenAPI definition cannot', async () => {
    const definitions = literal({ body: 'open' });
    const [classic, oas] = await publishBoth(app, upstream, {
      ...definitions,
      classic: { ...definitions.classic, use_keyless: false },
      oas: { ...definitions.oas, server: { authentication: { enabled: true } } },
    });
    assert.equal(await (await fetch(`${classic!.url}/mock`)).text(), 'open');
    assert.equal((await fetch(`${classic!.url}/other`)).status, 401);
    assert.equal((await fetch(`${oas!.url}/mock`)).status, 401);
  });

  test('without a code the status is 200, else the lowest 2xx of the operation, else the default', async () => {
    const rows: [path: string, responses: Record<string, object>, status: number][] = [
      ['/ok', { 200: {}, 201: {}, 404: {} }, 200],
      ['/made', { 404: {}, 204: {}, 201: {} }, 201],
      ['/taken', { 202: {}, 400: {} }, 202],
      ['/gone', { 204: {}, default: {} }, 204],
      ['/class', { '2XX': {}, 400: {} }, 200],
      ['/else', { default: {}, 400: {} }, 200],
      ['/never', { 400: {} }, 404],
    ];
    const toPathItem = ([path, responses]: (typeof rows)[number]) => [
      path,
      {
        get: {
          operationId: path.slice(1),
          responses: Object.fromEntries(Object.keys(responses).map(code => [code, { description: code }])),
        },
      },
    ];
    const mocked = { mockResponse: { enabled: true, fromOASExamples: { enabled: true } } };
    const definitions: BothFormats = {
      classic: {},
      oas: { middleware: { operations: Object.fromEntries(rows.map(([path]) => [path.slice(1), mocked])) } },
      document: { paths: Object.fromEntries(rows.map(toPathItem)) },
    };
    const { url } = (await publishBoth(app, upstream, definitions)).find(({ format }) => format === 'oas')!;
    for (const [path, , status] of rows) assert.equal((await fetch(url + path)).status, status, path);
  });
});
