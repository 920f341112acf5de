import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../../../tests/support/app.ts';

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
});
