import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { call, statusesIn } from './hostile/raw.ts';
import { startApp, type TestApp } from './support/app.ts';
import { errorBody } from './support/step-harness.ts';
import { findUnavailableReason, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('Request validation', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  interface Sent {
    method?: string;
    headers?: Record<string, string>;
    body?: string | Buffer | FormData | URLSearchParams;
  }
  const asker =
    (url: string) =>
    async (path: string, sent: Sent = {}) => {
      const reply = await fetch(url + path, sent as RequestInit);
      const text = await reply.text();
      return reply.status === 200 ? 200 : [reply.status, text];
    };

  describe('JSON schema of a classic definition', () => {
    const publishValidated = async (entry: object, more: object = {}) => {
      const extended_paths = { validate_json: [{ path: '/x', method: 'POST', ...entry }] };
      const version = { name: 'Default', use_extended_paths: true, extended_paths };
      const definition = openApi(upstream, {
        version_data: { not_versioned: true, versions: { Default: version } },
        ...more,
      });
      const url = await publish(app, definition);
      const ask = asker(url);
      const send = (body: string | Buffer, headers = {}) => ask('/x', { method: 'POST', body, headers });
      return Object.assign(send, { url });
    };
    const schema = {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
    };

    test('a valid body is forwarded unchanged, with any content type', async () => {
      const send = await publishValidated({ schema });
      assert.equal(await send('{ "name" : "a" }', { 'content-type': 'text/plain' }), 200);
      assert.equal(upstream.requests.at(-1)!.body, '{ "name" : "a" }');
    });

    test('a body in a charset with another meaning of the same bytes is refused', async () => {
      const send = await publishValidated({ schema });
      const body = '{"name": "a+ACI-, +ACI-age+ACI-: -1, +ACI-x+ACI-: +ACI-"}';
      const headers = { 'content-type': 'application/json; charset=utf-7' };
      const before = upstream.requests.length;
      const refused = await send(body, headers);
      assert.ok(Array.isArray(refused) && refused[0] === 400 && /it is not UTF-8/.test(String(refused[1])));
      assert.equal(upstream.requests.length, before);
      for (const charset of ['utf-8', 'UTF8', '"utf-8"', 'us-ascii'])
        assert.equal(await send(body, { 'content-type': `application/json; charset=${charset}` }), 200);
    });

    test('all errors are reported with 422 or the status of the definition', async () => {
      const refusal = errorBody('(root): name is required; age: must be at least 0');
      assert.deepEqual(await (await publishValidated({ schema }))('{"age":-1}'), [422, refusal]);
      assert.deepEqual(await (await publishValidated({ schema, error_response_code: 400 }))('{"age":-1}'), [
        400,
        refusal,
      ]);
    });

    test('invalid or ambiguous JSON gets 400', async () => {
      const send = await publishValidated({ schema });
      const table: readonly [string, string | Buffer, string][] = [
        ['nothing', '', 'the body is empty'],
        ['a fragment', '{"name":', 'unexpected end of JSON'],
        ['two names', '{"name":"a","name":1}', 'an object has two members of one name'],
        ['bytes', Buffer.from([0x22, 0xff, 0x22]), 'it is not UTF-8'],
        ['the name of prototypes', '{"name":"a","__proto__":{}}', 'the member name __proto__ is not allowed'],
        ['a tower', '['.repeat(5000) + ']'.repeat(5000), 'nested deeper than 100 levels'],
        ['a crowd', `[${'0,'.repeat(300_000)}0]`, 'it has more than 200000 values'],
      ];
      for (const [what, body, why] of table)
        assert.deepEqual(await send(body), [400, errorBody(`JSON parsing error: ${why}`)], what);
    });

    test('errors for XML clients are XML', async () => {
      const [status, text] = (await (
        await publishValidated({ schema })
      )('<a/>', { 'content-type': 'text/xml' })) as [number, string];
      assert.equal(status, 400);
      assert.match(text, /<error>JSON parsing error: it is not JSON.*<\/error>/);
    });

    test('a schema can be base64', async () => {
      const send = await publishValidated({ schema_b64: Buffer.from(JSON.stringify(schema)).toString('base64') });
      assert.deepEqual(await send('{}'), [422, errorBody('(root): name is required')]);
      assert.equal(await send('{"name":""}'), 200);
    });

    test('a missing schema gets 500', async () => {
      assert.deepEqual(await (await publishValidated({}))('{}'), [500, errorBody('no schemas to validate against')]);
    });

    test('an API with an invalid schema is not served, and its status names the reason', async () => {
      const { url } = await publishValidated({ schema: { $ref: 'https://example.com/a' } });
      const why = 'the schema of /x is invalid: "https://example.com/a" is not in the document';
      assert.equal(await findUnavailableReason(app, `${url}/x`), why);
    });

    test('a body beyond the buffer limit gets 413; other endpoints accept it', async () => {
      const send = await publishValidated({ schema });
      const large = Buffer.alloc(11_000_000, 0x20);
      assert.deepEqual(await send(large), [413, 'Request Entity Too Large']);
    });

    test('an endless body is refused at the buffer limit', async () => {
      const extended_paths = { validate_json: [{ path: '/x', method: 'POST', schema }] };
      const version = { name: 'Default', use_extended_paths: true, extended_paths };
      const definition = openApi(upstream, { version_data: { not_versioned: true, versions: { Default: version } } });
      const { port, pathname } = new URL(await publish(app, definition));
      const caller = await call(Number(port));
      caller.send(`POST ${pathname}/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
      const million = `f4240\r\n${' '.repeat(1_000_000)}\r\n`;
      for (let sent = 0; sent < 11; sent++) caller.send(million);
      await caller.until(/413 .*\r\n[\s\S]*Request Entity Too Large/);
      assert.deepEqual(statusesIn(caller.received()), [413]);
      caller.leave();
    });

    test('validation runs after authentication', async () => {
      const send = await publishValidated({ schema }, { use_keyless: false });
      assert.deepEqual(await send('{}'), [401, errorBody('Authorization field missing')]);
    });
  });

  describe('OpenAPI request validation', () => {
    const id = { name: 'id', in: 'path', required: true };
    const document = (openapi: string) => ({
      openapi,
      info: { title: 'Pets', version: '1' },
      components: {
        schemas: {
          Pet: {
            type: 'object',
            required: ['name'],
            additionalProperties: false,
            properties: {
              name: { type: 'string', pattern: '^(a+)+$' },
              born: { type: 'string', format: 'date' },
              parents: { type: 'array', maxItems: 2, items: { $ref: '#/components/schemas/Pet' } },
            },
          },
        },
        parameters: { Limit: { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } } },
        requestBodies: {
          Pet: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
        },
      },
      paths: {
        '/pets': {
          parameters: [{ $ref: '#/components/parameters/Limit' }],
          get: {
            operationId: 'pets',
            parameters: [
              { name: 'tags', in: 'query', schema: { type: 'array', items: { enum: ['big', 'small'] } } },
              { name: 'X-Trace', in: 'header', required: true, schema: { type: 'string', format: 'uuid' } },
              { name: 'theme', in: 'cookie', schema: { type: 'string', enum: ['dark', 'light'] } },
            ],
            responses: {},
          },
          post: { operationId: 'addPet', requestBody: { $ref: '#/components/requestBodies/Pet' }, responses: {} },
        },
        '/pets/{id}': {
          get: { operationId: 'pet', parameters: [{ ...id, schema: { type: 'integer' } }], responses: {} },
          put: {
            operationId: 'picture',
            parameters: [{ ...id, schema: { type: 'integer' } }],
            requestBody: {
              content: {
                'multipart/form-data': {
                  schema: {
                    type: 'object',
                    required: ['file'],
                    properties: { n: { type: 'integer' }, file: { type: 'string', format: 'binary' } },
                  },
                },
                'application/x-www-form-urlencoded': {
                  schema: { type: 'object', properties: { n: { type: 'integer' } } },
                },
                'text/*': {},
              },
            },
            responses: {},
          },
        },
        '/shops/{id}': {
          get: { operationId: 'shop', parameters: [{ ...id, schema: { type: 'integer' } }], responses: {} },
        },
        '/shops/{name}': {
          get: {
            operationId: 'shopByName',
            parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string', pattern: '^[a-z]+$' } }],
            responses: {},
          },
        },
        '/pets/mine': { get: { operationId: 'mine', responses: {} } },
      },
    });
    const on = { validateRequest: { enabled: true } };
    const everywhere = { pets: on, addPet: on, pet: on, picture: on, shop: on, shopByName: on };
    const publishDocument = async (operations: object, openapi = '3.0.3', more: object = {}) => {
      const apiId = `o${createPublicId()}`;
      const gateway = {
        info: { id: apiId, name: apiId, state: { active: true } },
        upstream: { url: upstream.url },
        server: { listenPath: { value: `/${apiId}/`, strip: true } },
        middleware: { operations },
      };
      const body = { ...document(openapi), ...more, 'x-gw-api-gateway': gateway };
      const reply = await app.ask('POST', '/gw/apis/oas', { body });
      assert.equal(reply.status, 200, reply.text);
      await waitUntilApplied(app);
      return Object.assign(asker(`${app.url.gateway}/${apiId}`), { url: `${app.url.gateway}/${apiId}` });
    };
    const toRefusal = (why: string, status = 422) => [status, errorBody(`request validation error: ${why}`)];
    const headers = { 'x-trace': '00000000-0000-4000-8000-000000000000' };
    const json = { 'content-type': 'application/json' };
    const post = (body: string, type = json) => ({ method: 'POST', headers: type, body });
    const put = (body: Sent['body'], more: Record<string, string> = {}) => ({
      method: 'PUT',
      headers: more,
      body: body!,
    });

    for (const openapi of ['3.0.3', '3.1.0'])
      test(`invalid parameters and bodies are reported with their location (${openapi})`, async () => {
        const ask = await publishDocument(everywhere, openapi);
        const file = new FormData();
        file.set('n', '1');
        file.set('file', new Blob(['x']), 'x.png');
        const noFile = new FormData();
        noFile.set('n', 'x');
        const table: readonly [string, string, Sent, unknown][] = [
          ['all is right', '/pets?limit=5&tags=big&tags=small', { headers: { ...headers, cookie: 'theme=dark' } }, 200],
          [
            'a query',
            '/pets?limit=101&tags=red',
            { headers },
            toRefusal('query.tags.0: must be one of "big", "small"; query.limit: must be at most 100'),
          ],
          ['a header that lacks', '/pets', {}, toRefusal('header.X-Trace: is required')],
          [
            'a cookie',
            '/pets',
            { headers: { ...headers, cookie: 'theme=red' } },
            toRefusal('cookie.theme: must be one of "dark", "light"'),
          ],
          ['a path', '/pets/x', {}, toRefusal('path.id: must be an integer, is a string')],
          ['a path that fits', '/pets/5/', {}, 200],
          ['a body', '/pets', post('{"name":"aa","parents":[{"name":"a"}]}'), 200],
          [
            'a body that is wrong',
            '/pets',
            post('{"name":1,"parents":[{}],"x":1}'),
            toRefusal(
              'body: x is not allowed; body.name: must be a string, is a number; body.parents.0: name is required',
            ),
          ],
          ['a body that lacks', '/pets', post(''), toRefusal('body: is required')],
          [
            'a body of another type',
            '/pets',
            post('x', { 'content-type': 'text/plain' }),
            toRefusal('header.Content-Type: must be one of application/json'),
          ],
          [
            'a body nobody can read',
            '/pets',
            post('{'),
            toRefusal('body: cannot be read: it is not JSON at character 1'),
          ],
          [
            'a pattern that others choke on',
            '/pets',
            post(`{"name":"${'a'.repeat(50_000)}!"}`),
            toRefusal('body.name: must match ^(a+)+$'),
          ],
          [
            'a date',
            '/pets',
            post('{"name":"a","born":"2023-02-29"}'),
            toRefusal('body.born: must be of the format date'),
          ],
          ['a form in parts', '/pets/1', put(file), 200],
          [
            'a form in parts that is wrong',
            '/pets/1',
            put(noFile),
            toRefusal('body: file is required; body.n: must be an integer, is a string'),
          ],
          ['a form', '/pets/1', put(new URLSearchParams({ n: '1' })), 200],
          [
            'a form that is wrong',
            '/pets/1',
            put(new URLSearchParams({ n: 'x' })),
            toRefusal('body.n: must be an integer, is a string'),
          ],
          ['a text', '/pets/1', put('x', { 'content-type': 'text/csv' }), 200],
          ['no body where none is needed', '/pets/1', { method: 'PUT' }, 200],
          ['the stricter path of two', '/shops/1', {}, 200],
          ['the other path of two', '/shops/abc', {}, 200],
          ['neither path', '/shops/ABC', {}, toRefusal("path parameter doesn't match any endpoint")],
          ['a plain path beside one with parameters', '/pets/mine', {}, 200],
          ['a path of no operation', '/other', {}, 200],
        ];
        for (const [what, path, sent, expected] of table) {
          const given = await ask(path, sent);
          assert.deepEqual(sortErrors(given), sortErrors(expected), what);
        }
      });

    test('the guide works as documented', async () => {
      const guide = readFileSync(new URL('../docs/guide/validation.md', import.meta.url), 'utf8');
      const [classic, oas] = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text!));
      const [first, second] = [...guide.matchAll(/^ {4}\{\n.*"error": (".*")\n/gm)].map(([, text]) =>
        JSON.parse(text!),
      );
      const ask = asker(await publish(app, openApi(upstream, classic)));
      assert.deepEqual(await ask('/pets', { method: 'POST', body: '{"age":-1}' }), [422, errorBody(first)]);
      const { paths, 'x-gw-api-gateway': gateway } = oas;
      const checked = await publishDocument(gateway.middleware.operations, '3.0.3', { paths });
      assert.deepEqual(await checked('/pets?limit=101'), [400, errorBody(second)]);
    });

    test('a refusal has the status of the definition', async () => {
      const ask = await publishDocument({ pet: { validateRequest: { enabled: true, errorResponseCode: 400 } } });
      assert.deepEqual(await ask('/pets/x'), toRefusal('path.id: must be an integer, is a string', 400));
    });

    test('disabled validation has no effect', async () => {
      const ask = await publishDocument({ pet: { validateRequest: { enabled: false } } });
      assert.equal(await ask('/pets/x'), 200);
    });

    test('an API with unresolved references is not served, and its status names the reason', async () => {
      const paths = {
        '/x': {
          post: {
            operationId: 'x',
            requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/None' } } } },
            responses: {},
          },
        },
      };
      const { url } = await publishDocument({ x: on }, '3.0.3', { paths });
      assert.match(await findUnavailableReason(app, `${url}/x`), /the OpenAPI document is invalid/);
    });

    test('a value beyond the validation budget is refused', async () => {
      const alternatives = ['x', 'y'].map(name => ({
        type: 'object',
        required: [name],
        properties: { a: { $ref: '#/components/schemas/T' } },
      }));
      const components = { schemas: { T: { anyOf: alternatives } } };
      const content = { 'application/json': { schema: { $ref: '#/components/schemas/T' } } };
      const paths = { '/x': { post: { operationId: 'x', requestBody: { content }, responses: {} } } };
      const ask = await publishDocument({ x: on }, '3.0.3', { paths, components });
      const body = `${'{"a":'.repeat(60)}{}${'}'.repeat(60)}`;
      assert.deepEqual(await ask('/x', post(body)), toRefusal('call: the check takes too long'));
    });
  });
});

/** Sorts the errors, whose order follows the document and is not under test. */
function sortErrors(given: unknown): unknown {
  if (!Array.isArray(given)) return given;
  const [status, text] = given as [number, string];
  return [status, JSON.parse(text).error.replace('request validation error: ', '').split('; ').sort()];
}
