import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { waitUntilApplied } from '../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

const swagger = {
  swagger: '2.0',
  info: { title: 'Orders', version: '1.0.0' },
  paths: {
    '/orders': {
      get: {
        operationId: 'orders',
        produces: ['application/json'],
        responses: { 200: { description: 'All orders', examples: { 'application/json': { mocked: true } } } },
      },
    },
  },
};

onEveryEngine('POST /api/import/swagger and blueprint', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  const importSwagger = (body: object) => app().ask('POST', '/api/import/swagger/', { body });

  test('a Swagger document as text or object becomes an API that is served below its id', async () => {
    const host = new URL(upstream.url).host;
    for (const document of [{ ...swagger, host, schemes: ['http'] }, 'text'] as const) {
      const given =
        document === 'text'
          ? `swagger: "2.0"\ninfo: {title: Orders, version: "1"}\nhost: "${host}"\nschemes: [http]\npaths: {}\n`
          : document;
      const { status, body, text } = await importSwagger({ swagger: given });
      assert.equal(status, 200, text);
      assert.deepEqual([body.Status, body.Message], ['OK', 'API Imported']);
      assert.equal((await app().ask('GET', `/api/apis/${body.Meta}`)).body.api_definition.api_id, body.ID);
      await waitUntilApplied(app());
      assert.equal((await fetch(`${app().url.gateway}/${body.ID}/orders`)).status, 200);
    }
  });

  test('as_mock responds with the examples, and insert_into_api adds a version to an API', async () => {
    const { body: base } = await importSwagger({
      swagger,
      upstream_url: upstream.url,
      as_mock: true,
      api_id: 'orders-base',
    });
    assert.equal(base.ID, 'orders-base');
    await waitUntilApplied(app());
    const mocked = await fetch(`${app().url.gateway}/orders-base/orders`);
    assert.deepEqual(await mocked.json(), { mocked: true });
    const version = { insert_into_api: true, api_id: base.ID, version_name: 'v2', base_api_version_name: 'v1' };
    const { status, text } = await importSwagger({ swagger, upstream_url: upstream.url, ...version });
    assert.equal(status, 200, text);
    await waitUntilApplied(app());
    const served = await fetch(`${app().url.gateway}/orders-base/orders`, { headers: { 'x-gw-version': 'v2' } });
    assert.equal(served.status, 200);
    assert.notDeepEqual(await served.json(), { mocked: true });
  });

  const blueprint = `FORMAT: 1A
# Orders
## Order [/orders/{id}]
### Read [GET]
+ Response 200 (application/json)

        {"mocked": true}
`;
  const importBlueprint = (body: object) => app().ask('POST', '/api/import/blueprint/', { body });

  test('an API Blueprint becomes an API that is served, or mocked by its examples', async () => {
    const served = await importBlueprint({ blueprint: `HOST: ${upstream.url}\n${blueprint.slice(11)}` });
    assert.equal(served.status, 200, served.text);
    assert.deepEqual([served.body.Status, served.body.Message], ['OK', 'API Imported']);
    const mocked = await importBlueprint({ blueprint, upstream_url: upstream.url, as_mock: true });
    assert.equal(mocked.status, 200, mocked.text);
    await waitUntilApplied(app());
    const call = (id: string) => fetch(`${app().url.gateway}/${id}/orders/17`);
    assert.equal((await call(served.body.ID)).status, 200);
    assert.deepEqual(await (await call(mocked.body.ID)).json(), { mocked: true });
  });

  test('a wrong blueprint is 400 with its line', async () => {
    for (const [body, reason] of [
      [{ blueprint: `${blueprint}+ Answer 404\n` }, /blueprint: line 8: the section Answer 404 is unknown/],
      [{ blueprint: '# Orders' }, /blueprint: it has no action/],
      [{ blueprint }, /servers/],
      [{ blueprint: {} }, /blueprint: /],
      [{ blueprint, insert_into_api: true }, /api_id: is required with insert_into_api/],
      [{ swagger: blueprint }, /swagger: no such member/],
    ] as const) {
      const { status, text } = await importBlueprint(body);
      assert.equal(status, 400, text);
      assert.match(text, reason);
    }
  });

  test('wrong documents and members are 400 with their path', async () => {
    for (const [body, reason] of [
      [{ swagger: '[]' }, /swagger: must be an object in JSON or YAML/],
      [{ swagger: { swagger: '1.2' } }, /swagger: Swagger 1.2 is not supported/],
      [{ swagger: { openapi: '4' } }, /swagger: OpenAPI 4 is not supported/],
      [{ swagger, insert_into_api: true }, /api_id: is required with insert_into_api/],
      [{ swagger, insert_into_api: true, api_id: 'a' }, /version_name: is required with insert_into_api/],
      [{ swagger }, /servers/],
      [{ swagger: { ...swagger, openapi: '3.0.3', 'x-gw-api-gateway': {} } }, /x-gw-api-gateway/],
      [{ swager: swagger }, /swager: no such member; did you mean swagger/],
    ] as const) {
      const { status, text } = await importSwagger(body);
      assert.equal(status, 400, text);
      assert.match(text, reason);
    }
  });
});
