import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { addApi, addProduct, requestPortal, toFileForm } from '../../../../tests/support/portal.ts';
import { createSiteClient } from '../../../../tests/support/site-client.ts';
import { sampleLanguages } from './samples.ts';

const hostile = `'; rm -rf / #"</script><script>alert(1)</script>`;
const document = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1.2.0', description: 'All **orders**. <script>alert(1)</script>' },
  paths: {
    '/orders/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' }, example: 7 }],
      get: {
        operationId: 'getOrder',
        summary: 'Reads an order',
        tags: ['orders'],
        responses: { 200: { $ref: '#/components/responses/Order' } },
      },
      delete: { summary: 'Removes an order', deprecated: true, responses: { 204: { description: 'gone' } } },
    },
    '/orders': {
      post: {
        operationId: 'createOrder',
        summary: hostile,
        parameters: [{ name: 'X-Trace', in: 'header', required: true, schema: { type: 'string' }, example: hostile }],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } } },
        responses: { 201: { description: 'created' }, default: { $ref: '#/nowhere' } },
      },
      get: { operationId: 'getOrder', summary: 'Lists orders', responses: {} },
    },
  },
  components: {
    responses: {
      Order: {
        description: 'An order',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } },
      },
    },
    schemas: {
      Order: {
        type: 'object',
        required: ['id'],
        properties: {
          id: { type: 'integer', minimum: 1 },
          state: { type: 'string', enum: ['open', 'paid'] },
          parent: { $ref: '#/components/schemas/Order' },
          lines: { type: 'array', items: { $ref: '#/components/schemas/Line' } },
        },
      },
      Line: {
        allOf: [
          { type: 'object', properties: { sku: { type: 'string' } } },
          { properties: { count: { type: 'integer' } } },
        ],
      },
    },
  },
};

onEveryEngine('API reference of the portal', app => {
  async function publish(content: string, more: Record<string, unknown> = {}, kind = 'oas') {
    const APIID = await addApi(app());
    const product = await addProduct(app(), { APIDetails: [{ APIID }], Catalogues: [1], ...more });
    const path = `/portal-api/products/${product.ID}/api-details/${APIID}/${kind}`;
    const answer = await app().ask('POST', path, { body: toFileForm(content) });
    assert.ok(answer.status < 300, answer.text);
    return { url: `/portal/catalogue-products/${product.Path}`, APIID, product };
  }
  const client = () => createSiteClient(app());

  test('operations are listed by tag, found by search, and have a page each', async () => {
    const { url, APIID } = await publish(JSON.stringify(document));
    assert.match((await client().get(url)).text, /Reference<\/a>/);
    assert.equal((await client().get(`${url}/docs`)).location, `${url}/${APIID}/docs`);
    const { text } = await client().get(`${url}/${APIID}/docs`);
    assert.match(text, /4 of 4 operations/);
    assert.match(text, /<h3>orders<\/h3>/);
    assert.doesNotMatch(text, /<script>alert/);
    assert.match((await client().get(`${url}/${APIID}/docs?q=removes`)).text, /1 of 4 operations/);
    for (const id of ['getorder', 'getorder-2', 'createorder', 'delete-orders-id'])
      assert.equal((await client().get(`${url}/${APIID}/docs/${id}`)).status, 200, id);
    assert.equal((await client().get(`${url}/${APIID}/docs/nothing`)).status, 404);
  });

  test('an operation shows schemas, also those that contain themselves, and samples in seven languages', async () => {
    const { url, APIID } = await publish(JSON.stringify(document));
    const { text } = await client().get(`${url}/${APIID}/docs/createorder`);
    assert.match(text, /one of open, paid/);
    assert.match(text, /<code>sku<\/code>/);
    for (const [name] of sampleLanguages) assert.ok(text.includes(`<summary>${name}</summary>`), name);
    assert.equal(sampleLanguages.length, 7);
    assert.match(text, /-H &#34;Authorization: \$API_KEY&#34;/);
    assert.doesNotMatch(text, /<script>alert/);
    const read = await client().get(`${url}/${APIID}/docs/getorder`);
    assert.match(read.text, /\/orders\/7/);
  });

  test('a document whose parts refer to each other many times over is shown in bounded time', async () => {
    const named = (name: string, count: number) =>
      Array.from({ length: count }, () => ({ $ref: `#/components/${name}` }));
    const knot = { type: 'object', allOf: named('schemas/Knot', 50), properties: { tie: { type: 'string' } } };
    const item = {
      parameters: named('parameters/Long', 5000),
      get: {
        summary: 'Reads',
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Knot' } } } },
        responses: {},
      },
    };
    const paths = Object.fromEntries(named('items/Every', 20_000).map((it, place) => [`/p${place}`, it]));
    const Long = { name: 'long', in: 'query', description: 'x'.repeat(100_000) };
    const components = { schemas: { Knot: knot }, parameters: { Long }, items: { Every: item } };
    const { url, APIID } = await publish(JSON.stringify({ openapi: '3.0.0', info: {}, paths, components }));
    assert.match((await client().get(`${url}/${APIID}/docs?q=p4999`)).text, /1 of 5000 operations/);
    const { text } = await client().get(`${url}/${APIID}/docs/get-p7`);
    assert.equal(text.match(/<code>tie<\/code>/g)?.length, 1);
    assert.equal(text.match(/<code>long<\/code>/g)?.length, 100);
  });

  test('YAML, Swagger 2.0, AsyncAPI and GraphQL documents have a page and a download', async () => {
    const swagger = {
      swagger: '2.0',
      info: { title: 'Old' },
      paths: {
        '/a': {
          post: {
            parameters: [{ name: 'b', in: 'body', schema: { type: 'object', properties: { c: { type: 'string' } } } }],
            responses: {},
          },
        },
      },
    };
    const old = await publish(JSON.stringify(swagger));
    assert.match((await client().get(`${old.url}/${old.APIID}/docs/post-a`)).text, /<code>c<\/code>/);
    const yaml = await publish(
      'openapi: 3.1.0\ninfo: {title: Y}\npaths:\n  /y: {get: {summary: Why, responses: {}}}\n',
    );
    assert.match((await client().get(`${yaml.url}/${yaml.APIID}/docs`)).text, /Why/);
    const events = await publish(JSON.stringify({ asyncapi: '2.6.0', info: { title: 'E' }, channels: {} }));
    assert.match((await client().get(`${events.url}/${events.APIID}/docs`)).text, /asyncapi/);
    const graph = await publish('type Query { hello: String }', {}, 'graphql/schema');
    assert.match((await client().get(`${graph.url}/${graph.APIID}/docs`)).text, /hello: String/);
    const download = await client().get(`${graph.url}/${graph.APIID}/docs/download`);
    assert.equal(download.text, 'type Query { hello: String }');
    assert.match(download.headers.get('content-security-policy')!, /sandbox/);
  });

  test('documents with absent or wrong members show what they have', async () => {
    for (const paths of [
      null,
      [],
      { '/x': null, '/y': { get: { parameters: [null, 1, {}], responses: [], tags: 7 } } },
    ]) {
      const { url, APIID } = await publish(JSON.stringify({ openapi: '3.0.0', info: {}, paths }));
      assert.equal((await client().get(`${url}/${APIID}/docs`)).status, 200);
      if (paths && !Array.isArray(paths)) assert.equal((await client().get(`${url}/${APIID}/docs/get-y`)).status, 200);
    }
  });

  test('the reference of a product that is not visible is not found', async () => {
    const { url, APIID } = await publish(JSON.stringify(document), { Catalogues: [2] });
    for (const path of ['/docs', `/${APIID}/docs`, `/${APIID}/docs/getorder`, `/${APIID}/docs/download`])
      assert.equal((await client().get(url + path)).status, 404, path);
    const plain = await requestPortal(app(), 'GET', '/portal-api/products?per_page=1');
    assert.ok(plain.length > 0);
  });
});
