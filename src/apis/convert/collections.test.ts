import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convertHar } from './har.ts';
import { convertPostman } from './postman.ts';

interface Described {
  readonly info: { readonly title: string };
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Record<string, never>>>>>;
  readonly components?: object;
}

describe('HAR conversion', () => {
  const entry = (method: string, url: string, more: object = {}, response: object = {}) => ({
    request: { method, url, headers: [], queryString: [], ...more },
    response: { status: 200, content: { mimeType: 'application/json', text: '{"id":1}' }, ...response },
  });
  const convert = (entries: unknown[]) => {
    const { document, warnings } = convertHar({ log: { version: '1.2', entries } });
    return { ...(document as unknown as Described), warnings };
  };

  test('requests of one operation are merged, and the schemas accept all of them', () => {
    const { paths } = convert([
      entry(
        'GET',
        'https://a.example/users/1?x=1',
        {},
        { content: { mimeType: 'application/json; charset=utf-8', text: '{"id":1,"name":"a"}' } },
      ),
      entry(
        'GET',
        'https://a.example/users/2?x=b',
        {},
        { content: { mimeType: 'application/json', text: '{"id":1.5,"more":null}' } },
      ),
      entry(
        'GET',
        'https://a.example/users/3',
        {},
        { status: 404, content: { mimeType: 'text/plain', text: 'hidden' } },
      ),
    ]);
    assert.deepEqual(Object.keys(paths), ['/users/{users_id}']);
    assert.deepEqual(paths['/users/{users_id}']?.get, {
      parameters: [
        { name: 'users_id', in: 'path', required: true, schema: { type: 'integer' } },
        { name: 'x', in: 'query', required: false, schema: { type: 'string' } },
      ],
      responses: {
        200: {
          description: 'Status 200',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { id: { type: 'number' }, name: { type: 'string' }, more: { nullable: true } },
                required: ['id'],
              },
            },
          },
        },
        404: { description: 'Status 404', content: { 'text/plain': { schema: { type: 'string' } } } },
      },
    });
  });

  test('pages, scripts and images are left out, and headers of browsers are no parameters', () => {
    const headers = [
      { name: ':authority', value: 'a' },
      { name: 'sec-fetch-mode', value: 'cors' },
      { name: 'Cookie', value: 'hidden' },
      { name: 'X-Api-Key', value: 'hidden' },
      { name: 'X-Page', value: '1' },
    ];
    const { paths, components, warnings } = convert([
      entry('GET', 'https://a.example/index.html', {}, { content: { mimeType: 'text/html' } }),
      entry('POST', 'https://a.example/orders', {
        headers,
        postData: { mimeType: 'application/json', text: 'no json' },
      }),
      entry('CONNECT', 'https://a.example/tunnel'),
      entry('GET', 'data:text/plain,x'),
    ]);
    assert.deepEqual(Object.keys(paths), ['/orders']);
    assert.deepEqual(
      (paths['/orders']!.post!.parameters as unknown as { name: string }[]).map(({ name }) => name),
      ['X-Page'],
    );
    assert.deepEqual(components, {
      securitySchemes: { 'apiKey-header-x-api-key': { type: 'apiKey', in: 'header', name: 'X-Api-Key' } },
    });
    assert.ok(!JSON.stringify(paths).includes('hidden'));
    assert.equal(warnings.length, 4, warnings.join('\n'));
  });

  test('an archive without requests is rejected', () => {
    assert.throws(() => convertHar({ log: {} }), /log.entries must be a list/);
    assert.throws(() => convert([]), /no request of an API/);
  });
});

describe('Postman conversion', () => {
  const collection = (version: '2.0' | '2.1', more: object = {}) => ({
    info: { name: 'Shop', schema: `https://schema.getpostman.com/json/collection/v${version}.0/collection.json` },
    variable: [
      { key: 'baseUrl', value: 'https://{{host}}/v1' },
      { key: 'host', value: 'shop.example' },
    ],
    auth:
      version === '2.0'
        ? { type: 'apikey', apikey: { key: 'X-Shop', value: 'hidden', in: 'header' } }
        : {
            type: 'apikey',
            apikey: [
              { key: 'key', value: 'X-Shop' },
              { key: 'value', value: 'hidden' },
            ],
          },
    item: [
      {
        name: 'Orders',
        item: [
          {
            name: 'Get an order',
            request: {
              method: 'GET',
              url: {
                raw: '{{baseUrl}}/orders/:orderId?full=true',
                query: [
                  { key: 'full', value: 'true' },
                  { key: 'off', disabled: true },
                ],
              },
            },
            response: [
              {
                name: 'Found',
                code: 200,
                header: [{ key: 'Content-Type', value: 'application/json' }],
                body: '[{"id":1}]',
              },
            ],
          },
          {
            name: 'Create',
            request: {
              method: 'POST',
              auth: { type: 'noauth' },
              url: '{{baseUrl}}/orders',
              body: { mode: 'raw', raw: '{"total": 1.5}', options: { raw: { language: 'json' } } },
            },
          },
        ],
      },
      { name: 'Health', request: 'https://shop.example/health' },
    ],
    ...more,
  });

  for (const version of ['2.0', '2.1'] as const)
    test(`a collection of version ${version} is converted with its folders, variables and authentication`, () => {
      const { document, warnings } = convertPostman(collection(version));
      const { info, servers, paths, components } = document as unknown as Described;
      assert.deepEqual([info.title, servers, warnings], ['Shop', [{ url: 'https://shop.example' }], []]);
      assert.deepEqual(Object.keys(paths), ['/v1/orders/{orderId}', '/v1/orders', '/health']);
      const get = paths['/v1/orders/{orderId}']?.get;
      assert.deepEqual([get?.tags, get?.summary], [['Orders'], 'Get an order']);
      assert.deepEqual(get?.security, [{ 'apiKey-header-x-shop': [] }]);
      assert.deepEqual(components, {
        securitySchemes: { 'apiKey-header-x-shop': { type: 'apiKey', in: 'header', name: 'X-Shop' } },
      });
      assert.deepEqual(
        (get!.parameters as unknown as { name: string }[]).map(({ name }) => name),
        ['orderId', 'full'],
      );
      assert.equal(paths['/v1/orders']?.post?.security, undefined);
      assert.ok(!JSON.stringify(document).includes('hidden'));
    });

  test('a host that no variable defines is left to the importer', () => {
    const { document, warnings } = convertPostman(
      collection('2.1', { variable: [], item: [{ name: 'a', request: { url: '{{base}}/a' }, event: [] }] }),
    );
    assert.equal((document as unknown as Described).servers, undefined);
    assert.deepEqual(Object.keys((document as unknown as Described).paths), ['/a']);
    assert.deepEqual(warnings, [
      'scripts are not converted',
      'the host {{base}} is not known: set the upstream',
      'no request has a host: set the upstream',
    ]);
  });

  test('a collection of version 1 and endless folders are rejected', () => {
    assert.throws(() => convertPostman({ id: 'x', order: [], requests: [] }), /version 2/);
    let item: object[] = [{ name: 'leaf', request: 'https://a.example' }];
    for (let depth = 0; depth < 30; depth += 1) item = [{ name: 'folder', item }];
    assert.throws(() => convertPostman({ info: {}, item }), /nested deeper than 20/);
  });
});
