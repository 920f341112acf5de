import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convertCurl } from './curl.ts';

interface Described {
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Record<string, never>>>>>;
  readonly components?: object;
}

const convert = (text: string) => {
  const { document, warnings } = convertCurl(text);
  return { ...(document as unknown as Described), warnings };
};

describe('cURL conversion', () => {
  test('a copied command becomes an operation with the types of what it sends, without its values', () => {
    const { servers, paths, components } = convert(`curl 'https://shop.example:8443/orders/17/items?limit=10&sort=up' \\
      -H 'Accept: */*' -H 'X-Tenant: blue' -H 'Authorization: Bearer hidden-token' \\
      --data-raw '{"name":"hidden-name","count":2,"tags":["a"],"gone":null}' --compressed`);
    assert.deepEqual(servers, [{ url: 'https://shop.example:8443' }]);
    const operation = paths['/orders/{orders_id}/items']?.post;
    assert.deepEqual(operation?.parameters, [
      { name: 'orders_id', in: 'path', required: true, schema: { type: 'integer' } },
      { name: 'limit', in: 'query', required: false, schema: { type: 'integer' } },
      { name: 'sort', in: 'query', required: false, schema: { type: 'string' } },
      { name: 'X-Tenant', in: 'header', required: false, schema: { type: 'string' } },
    ]);
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string' },
        count: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
        gone: { nullable: true },
      },
      required: ['name', 'count', 'tags', 'gone'],
    };
    assert.deepEqual(operation?.requestBody, { content: { 'application/json': { schema } } });
    assert.deepEqual(operation?.security, [{ bearer: [] }]);
    assert.deepEqual(components, { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } });
    assert.ok(!JSON.stringify({ paths, components }).includes('hidden'), 'no values');
  });

  test('quoting, combined flags, attached values and several commands are parsed as a shell does', () => {
    const { paths } = convert(
      [
        `curl -sSXPUT http://a.example/one -d "a=\\"1\\"&b=2"`,
        `/usr/bin/curl -H$'X-One: it\\'s \\u00e9' --url http://a.example/two; curl -I http://a.example/three`,
        'curl -G http://a.example/four -d q=1 --data-urlencode "r=a b" # comment',
        'curl a.example/five -F name=x -F file=@secret.txt -u user:password',
      ].join('\n'),
    );
    assert.deepEqual(
      Object.entries(paths).map(([path, item]) => `${Object.keys(item)} ${path}`),
      ['put /one', 'get /two', 'head /three', 'get /four', 'post /five'],
    );
    assert.equal((paths['/two']!.get!.parameters as unknown as { name: string }[])[0]?.name, 'X-One');
    const query = paths['/four']?.get?.parameters as unknown as { name: string; in: string }[];
    assert.deepEqual(
      query.map(it => `${it.in} ${it.name}`),
      ['query q', 'query r'],
    );
    assert.deepEqual(paths['/five']?.post?.requestBody, {
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            properties: { name: { type: 'string' }, file: { type: 'string', format: 'binary' } },
          },
        },
      },
    });
    assert.deepEqual(paths['/five']?.post?.security, [{ basic: [] }]);
  });

  test('what cannot be converted is a warning', () => {
    const { warnings, paths } = convert(
      'curl -k --cert c.pem https://a.example/x -d @body.json\ncurl https://b.example/y\ncurl https://a.example/z',
    );
    assert.deepEqual(Object.keys(paths), ['/x', '/z']);
    assert.deepEqual(warnings, [
      '--insecure is not converted: certificates of upstreams are verified',
      '--cert is not converted: configure it in the API',
      'the content of files (-d @file) is not read',
      'left out, as an API has one upstream, here https://a.example: requests to https://b.example (1)',
    ]);
  });

  for (const [text, reason] of [
    ['wget https://a.example', /no curl command/],
    ['curl --head', /no curl command has a URL of HTTP/],
    ['curl ftp://a.example/x', /no curl command has a URL of HTTP/],
    ["curl 'https://a.example", /a quotation mark has no end/],
    [`curl ${'x '.repeat(60_000)}`, /more than 50000 words/],
  ] as const)
    test(`${text.slice(0, 30)} is rejected`, () => {
      assert.throws(() => convertCurl(text), reason);
    });
});
