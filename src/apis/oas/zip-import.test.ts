import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';
import { createZip, type ZipFile } from '../../../tests/support/zip.ts';

const order = {
  type: 'object',
  required: ['count'],
  properties: { count: { type: 'integer' }, parts: { type: 'array', items: { $ref: 'order.json' } } },
};
const main = `openapi: 3.0.3
info: { title: Orders, version: '1' }
paths:
  /orders:
    post:
      operationId: createOrder
      requestBody: { $ref: 'parts/bodies.yaml#/order' }
      responses: { '200': { description: ok } }
components:
  schemas:
    Local: { $ref: '#/components/schemas/Other' }
    Other: { type: string }
`;
const bodies = `order:
  required: true
  content: { application/json: { schema: { $ref: './schemas/order.json' } } }
text: { $ref: '../openapi.yaml#/components/schemas/Other' }
`;
const files: readonly ZipFile[] = [
  { name: 'openapi.yaml', content: main },
  { name: 'parts/', content: '' },
  { name: 'parts/bodies.yaml', content: bodies },
  { name: 'parts/schemas/order.json', content: JSON.stringify(order) },
  { name: 'README.md', content: 'not read' },
];

onEveryEngine('ZIP archives of OpenAPI documents', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  const importZip = (archive: Buffer, query = '', headers = { 'content-type': 'application/zip' }) =>
    app().ask('POST', `/api/apis/oas/import?upstreamURL=${upstream.url}${query}`, { body: archive, headers });
  const form = (archive: Buffer) => {
    const body = new FormData();
    body.set('file', new Blob([new Uint8Array(archive)]), 'orders.zip');
    return body;
  };

  test('references that become longer than a document may be are refused, as are long names', async () => {
    const folder = 'd'.repeat(250);
    const content = (count: number) =>
      JSON.stringify({ openapi: '3.0.3', refs: Array(count).fill({ $ref: 'b.json' }) });
    const zip = (name: string, count: number) =>
      createZip([
        { name: `${name}/openapi.json`, content: content(count) },
        { name: `${name}/b.json`, content: '{}' },
      ]);
    const { status, text } = await importZip(zip(folder, 60_000));
    assert.equal(status, 413, text);
    const long = await importZip(zip('d'.repeat(600), 1));
    assert.equal(long.status, 400);
    assert.match(long.text, /a name of more than 512 bytes/);
  });

  test('the files of an archive become one document, which validates requests', async () => {
    const path = `/z${createPublicId()}`;
    const made = await importZip(createZip(files), `&listenPath=${path}/&validateRequest=true`);
    assert.equal(made.status, 200, made.text);
    const { body: document } = await app().ask('GET', `/api/apis/oas/${made.body.ID}`);
    assert.deepEqual(document.paths['/orders'].post.requestBody, { $ref: '#/x-files/parts~1bodies.yaml/order' });
    assert.deepEqual(Object.keys(document['x-files']).sort(), ['parts/bodies.yaml', 'parts/schemas/order.json']);
    assert.deepEqual(document['x-files']['parts/bodies.yaml'].text, { $ref: '#/components/schemas/Other' });
    assert.deepEqual(document.components.schemas.Local, { $ref: '#/components/schemas/Other' });
    await app().application.waitForDataPlane();
    const send = async (body: object) => {
      const headers = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(`${app().url.gateway}${path}/orders`, init)).status;
    };
    assert.deepEqual([await send({ count: 1 }), await send({ count: 'x' })], [200, 422]);
    assert.deepEqual(
      [await send({ count: 1, parts: [{ count: 2 }] }), await send({ count: 1, parts: [{}] })],
      [200, 422],
    );
  });

  test('an archive is also a file of a form, a patch, and what an address serves', async () => {
    const listenPath = `/z${createPublicId()}/`;
    const archive = createZip([
      { name: 'orders/openapi.json', content: JSON.stringify({ ...plain, info: title('A') }) },
    ]);
    const path = `/api/apis/oas/import?upstreamURL=${upstream.url}&listenPath=${listenPath}`;
    const made = await app().ask('POST', path, { body: form(archive) });
    assert.equal(made.status, 200, made.text);
    const id = made.body.ID;
    const next = createZip([{ name: 'openapi.json', content: JSON.stringify({ ...plain, info: title('B') }) }]);
    const patched = await app().ask('PATCH', `/api/apis/oas/${id}`, { body: form(next) });
    assert.equal(patched.status, 200, patched.text);
    assert.equal((await app().ask('GET', `/api/apis/oas/${id}`)).body.info.title, 'B');
    upstream.answer = (_request, response) => void response.end(archive);
    const fetched = await app().ask('PATCH', `/api/apis/oas/${id}`, { body: { url: `${upstream.url}/orders.zip` } });
    upstream.answer = undefined;
    assert.equal(fetched.status, 200, fetched.text);
    assert.equal((await app().ask('GET', `/api/apis/oas/${id}`)).body.info.title, 'A');
  });

  test('an archive that is unclear, too large or broken is refused', async () => {
    const broken = (index: number, content: string) =>
      files.map((file, at) => (at === index ? { ...file, content } : file));
    const reference = (target: string) => broken(2, `order: { $ref: '${target}' }`);
    for (const [archive, status, message] of [
      [[{ name: 'api.json', content: '{}' }], 400, /holds no openapi\.json/],
      [[...files, { name: 'openapi.json', content: '{}' }], 400, /two main files, openapi\.yaml and openapi\.json/],
      [reference('gone.yaml'), 400, /lacks gone\.yaml, which parts\/bodies\.yaml references/],
      [reference('../../../etc/passwd'), 400, /lacks \.\.\/\.\.\/\.\.\/etc\/passwd/],
      [reference('schemas/order.json#anchor'), 400, /is not a JSON pointer/],
      [broken(3, '{"a":1,"a":2}'), 400, /duplicate member a/],
      [broken(3, '{'), 400, /Request body malformed/],
      [[...files, { name: '../x', content: '' }], 400, /outside of its root/],
      [[...files, { name: 'bomb', content: '0'.repeat(6_000_000) }], 413, /holds more than \d+ bytes/],
      [broken(3, `[${'1,'.repeat(400_000)}1]`), 400, /more than \d+ values/],
    ] as const) {
      const answer = await importZip(createZip(archive));
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.body.Message, message);
    }
    const truncated = await importZip(createZip(files).subarray(0, -1));
    assert.match(truncated.body.Message, /is truncated/);
  });
});

const title = (text: string) => ({ title: text, version: '1' });
const plain = { openapi: '3.0.3', info: title('Orders'), paths: {} };
