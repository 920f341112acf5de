import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../../../tests/support/app.ts';
import { startUpstream } from '../../../tests/support/upstream.ts';
import { createZip } from '../../../tests/support/zip.ts';

const main = `openapi: 3.0.3
info: { title: Orders, version: '1' }
paths:
  /orders: { $ref: 'paths/orders.yaml' }
`;
const orders = 'get: { operationId: listOrders, responses: { 200: { description: Orders } } }';
const archive = createZip([
  { name: 'openapi.yaml', content: main },
  { name: 'paths/orders.yaml', content: orders },
]);

describe('POST /api/apis/convert', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite', { settings: { 'management.max_body_bytes': '20000' } });
  });
  after(() => app?.close());

  const convert = (body: object) => app.ask('POST', '/api/apis/convert', { body });

  test('a text is converted to a document that an import accepts, and nothing is stored', async () => {
    const text = "curl 'https://shop.example/items/17?page=2' -H 'X-Api-Key: hidden-key'";
    const { status, body } = await convert({ text });
    assert.equal(status, 200);
    assert.deepEqual(
      [body.format, body.kind, body.warnings],
      ['curl', 'openapi', ['segments of paths that are numbers or ids became parameters']],
    );
    assert.ok(!JSON.stringify(body).includes('hidden-key'));
    assert.deepEqual((await app.ask('GET', '/gw/apis')).body, []);
    const imported = await app.ask('POST', '/api/apis/oas/import?listenPath=/shop/', { body: body.document });
    assert.equal(imported.status, 200, imported.text);
  });

  test('wrong texts and formats are 400 with the reason, and one that is too large 413', async () => {
    for (const [body, reason] of [
      [{ text: '{"a": 1}' }, /format of the text is not recognised/],
      [{ format: 'wsdl', text: '<definitions/>' }, /wsdl is not supported/],
      [{ format: 'blueprint', text: '# API' }, /it has no action/],
      [{ format: 'har', text: '{}' }, /log.entries must be a list/],
      [{ format: 'curl', text: 'curl' }, /no curl command has a URL/],
      [{ format: 'raml', text: 'x' }, /format/],
      [{ text: '' }, /text/],
      [{ txt: 'curl https://a.example' }, /txt: no such member; did you mean text/],
    ] as const) {
      const { status, text } = await convert(body);
      assert.equal(status, 400, text);
      assert.match(text, reason);
    }
    assert.equal((await convert({ text: 'x'.repeat(30_000) })).status, 413);
  });

  test('the files of a ZIP archive are one document, which an import accepts', async () => {
    const { status, body, text } = await convert({ archive: archive.toString('base64') });
    assert.equal(status, 200, text);
    assert.deepEqual([body.format, body.kind], ['openapi', 'openapi']);
    assert.deepEqual(body.document.paths['/orders'], { $ref: '#/x-files/paths~1orders.yaml' });
    const imported = await app.ask('POST', '/api/apis/oas/import?listenPath=/zip/&upstreamURL=http://127.0.0.1:9/', {
      body: body.document,
    });
    assert.equal(imported.status, 200, imported.text);
  });

  test('a description is fetched from an address: a document, a text of another format, or an archive', async t => {
    const upstream = await startUpstream();
    t.after(() => upstream.close());
    for (const [content, format] of [
      [main.replace("{ $ref: 'paths/orders.yaml' }", `{ ${orders} }`), 'openapi'],
      ['curl https://shop.example/items', 'curl'],
      [archive, 'openapi'],
    ] as const) {
      upstream.answer = (_request, response) => void response.end(content);
      const { status, body, text } = await convert({ url: `${upstream.url}/description` });
      assert.equal(status, 200, text);
      assert.equal(body.format, format);
      assert.equal(Object.keys(body.document.paths).length, 1);
    }
    upstream.answer = (_request, response) => void response.end(Buffer.from([0xff, 0xfe]));
    assert.match((await convert({ url: upstream.url })).text, /it is not UTF-8 text/);
  });

  test('a source that is unclear, no archive, an unsafe one or one of another format is 400 and names it', async () => {
    const outside = createZip([
      { name: 'openapi.json', content: '{"openapi":"3.0.3","paths":{"/a":{"$ref":"../../etc/passwd"}}}' },
    ]);
    const bomb = createZip([{ name: 'openapi.json', content: '0'.repeat(50_000) }]);
    for (const [body, expected, reason] of [
      [{}, 400, /exactly one of them/],
      [{ text: 'curl https://a.example', url: 'https://a.example' }, 400, /exactly one of them/],
      [{ archive: 'bm8gYXJjaGl2ZQ==' }, 400, /must be a ZIP archive in base64/],
      [{ archive: archive.toString('base64'), format: 'postman' }, 400, /a ZIP archive holds an OpenAPI/],
      [{ archive: outside.toString('base64') }, 400, /lacks \.\.\/\.\.\/etc\/passwd/],
      [{ archive: bomb.toString('base64') }, 413, /holds more than \d+ bytes/],
    ] as const) {
      const { status, text } = await convert(body);
      assert.equal(status, expected, text);
      assert.match(text, reason);
    }
  });
});
