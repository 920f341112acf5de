import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addApi, addProduct, requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { createPortalFileStore } from '../files/store.ts';

const yaml = 'openapi: 3.0.3\ninfo: {title: Orders, version: "1"}\npaths: {}\n';
const json = '{"openapi":"3.1.0","info":{"title":"Orders","version":"1"},"paths":{}}';
const sdl = 'type Query { order(id: ID!): String }\n';
const introspection = JSON.stringify({
  data: {
    __schema: {
      queryType: { name: 'Query' },
      directives: [],
      types: [
        {
          kind: 'OBJECT',
          name: 'Query',
          interfaces: [],
          fields: [{ name: 'a', args: [], type: { kind: 'SCALAR', name: 'String' }, isDeprecated: false }],
        },
        { kind: 'SCALAR', name: 'String' },
        { kind: 'SCALAR', name: 'Boolean' },
      ],
    },
  },
});

onEveryEngine('API details and specifications of portal products', app => {
  let product: { ID: number; APIDetails: { APIID: string; Name: string }[] };
  let apiId: string;
  let specId: number;
  before(async () => {
    product = await addProduct(app());
    apiId = product.APIDetails[0]!.APIID;
    const spec = { SpecAlias: 'shared' };
    specId = (await requestPortal(app(), 'POST', `/portal-api/products/${product.ID}/spec-details`, spec, 201)).ID;
  });
  const send = (method: string, path: string, content: string, name?: string) =>
    app().ask(method, path, { body: toFileForm(content, name) });

  test('name, description and document address of an API are the portal’s own, and outlive a synchronisation', async () => {
    const path = `/portal-api/products/${product.ID}/api-details/${apiId}`;
    const detail = await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}/api-details/${apiId}`);
    const own = { Name: 'Orders API', Description: 'All orders', OASUrl: 'https://a.example/oas.json' };
    const changed = await requestPortal(app(), 'PUT', path, { ...detail, ...own });
    assert.deepEqual(changed, { ...detail, ...own });
    await requestPortal(app(), 'PUT', '/portal-api/providers/1/synchronize');
    assert.deepEqual(await requestPortal(app(), 'GET', path), changed);
    const [row] = await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}/api-details`);
    assert.deepEqual(row, { APIID: apiId, Name: 'Orders API', Status: true });
    const shown = await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}`);
    assert.deepEqual(await requestPortal(app(), 'PUT', `/portal-api/products/${product.ID}`, shown), {
      ...shown,
      UpdatedAt: (await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}`)).UpdatedAt,
    });
    assert.deepEqual(await requestPortal(app(), 'PUT', path, { Name: '' }), { ...changed, Name: detail.Name });
    assert.deepEqual(await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}/api-details?page=2`), []);
  });

  test('an address that is not http, and a misspelt member of an API, are refused', async () => {
    const path = `/portal-api/products/${product.ID}/api-details/${apiId}`;
    const script = await app().ask('PUT', path, { body: { OASUrl: 'javascript:alert(1)' } });
    assert.deepEqual([script.status, script.body.errors], [422, ['OASUrl: must be an http or https address']]);
    const misspelt = await app().ask('PUT', path, { body: { Descripton: 'x' } });
    assert.match(misspelt.body.errors[0], /Description/);
  });

  test('documents of APIs and specifications are returned as uploaded, with the type of their content', async () => {
    for (const [subject, schemaMethod] of [
      [`/portal-api/products/${product.ID}/api-details/${apiId}`, 'POST'],
      [`/portal-api/products/${product.ID}/spec-details/${specId}`, 'PUT'],
    ] as const)
      for (const [part, method, content, type] of [
        ['oas', 'POST', yaml, 'application/x-yaml'],
        ['oas', 'POST', json, 'application/json'],
        ['graphql/schema', schemaMethod, sdl, 'application/graphql'],
        ['graphql/schema', schemaMethod, introspection, 'application/json'],
      ] as const) {
        const stored = await send(method, `${subject}/${part}`, content, '../../etc/passwd');
        assert.deepEqual([stored.status, stored.body], [200, { status: 'ok' }], stored.text);
        const read = await app().ask('GET', `${subject}/${part}`);
        assert.deepEqual([read.text, read.headers.get('content-type')?.split(';')[0]], [content, type]);
      }
  });

  test('a document that is not of its kind is refused and leaves the stored one', async () => {
    const api = `/portal-api/products/${product.ID}/api-details/${apiId}`;
    await send('POST', `/portal-api/products/${product.ID}/api-details/${apiId}/oas`, yaml);
    for (const [part, content, status, message] of [
      ['oas', 'hello', 422, /must be an OpenAPI 3, Swagger 2.0 or AsyncAPI document/],
      ['oas', '{"openapi":"9.0.0","info":{}}', 422, /must be an OpenAPI 3/],
      ['oas', 'a: &a [*a]\nb: [', 422, /^file: /],
      ['graphql/schema', 'type Query {', 400, /^file: Syntax Error/],
      ['graphql/schema', 'type Query { a: Missing }', 400, /^file: Unknown type/],
      ['graphql/schema', '{"data":{}}', 400, /has the member __schema/],
      ['graphql/schema', '{"__schema":{"types":7}}', 400, /^file: the introspection result: /],
      ['graphql/schema', '{', 400, /^file: /],
    ] as const) {
      const answer = await send('POST', `${api}/${part}`, content);
      assert.equal(answer.status, status, `${content}: ${answer.text}`);
      assert.match(answer.body.errors[0], message);
    }
    assert.equal((await app().ask('GET', `${api}/oas`)).text, yaml);
    const spec = `/portal-api/products/${product.ID}/spec-details/${specId}`;
    assert.equal((await send('PUT', `${spec}/graphql/schema`, 'type Query {')).status, 400);
    assert.equal((await send('POST', `${spec}/oas`, 'hello')).status, 422);
  });

  test('dry_run checks a schema and stores nothing', async () => {
    const { ID, APIDetails } = await addProduct(app());
    const path = `/portal-api/products/${ID}/api-details/${APIDetails[0].APIID}/graphql/schema`;
    assert.equal((await send('POST', `${path}?dry_run=true`, sdl)).status, 200);
    assert.equal((await send('POST', `${path}?dry_run=true`, 'type')).status, 400);
    const read = await app().ask('GET', path);
    assert.deepEqual([read.status, read.body.errors], [422, ['no graphql schema specified']]);
    const created = await send(
      'POST',
      `/portal-api/products/${ID}/spec-details/graphql/schema?dry_run=true`,
      sdl,
      'My Orders.graphql',
    );
    assert.deepEqual(
      [created.status, created.body],
      [200, { SpecAlias: 'my-orders', OASUrl: '', Name: '', DocumentationType: 'graphqlSDL' }],
    );
    assert.deepEqual(await requestPortal(app(), 'GET', `/portal-api/products/${ID}/spec-details`), []);
  });

  test('a GraphQL schema becomes a specification, which is deleted with it', async () => {
    const { ID } = await addProduct(app());
    const path = `/portal-api/products/${ID}/spec-details/graphql/schema`;
    const { status, body } = await send('POST', path, sdl, 'orders.gql');
    assert.deepEqual([status, body.SpecAlias, body.DocumentationType], [200, 'orders', 'graphqlSDL']);
    const again = await send('POST', path, sdl, 'orders.gql');
    assert.deepEqual(
      [again.status, again.body.errors],
      [422, ['SpecAlias: the product already has a specification orders']],
    );
    assert.equal((await send('POST', path, 'type Query {', 'b.gql')).status, 422);
    const spec = `/portal-api/products/${ID}/spec-details/${body.CID}`;
    assert.equal((await app().ask('GET', `${spec}/graphql/schema`)).text, sdl);
    assert.equal((await app().ask('DELETE', `${spec}/graphql/schema`)).status, 200);
    assert.equal((await app().ask('GET', spec)).status, 404);
    assert.deepEqual(await requestPortal(app(), 'GET', `/portal-api/products/${ID}/spec-details`), []);
  });

  test('a specification is created, read, changed and deleted; aliases are unique in the product', async () => {
    const { ID } = await addProduct(app());
    const list = `/portal-api/products/${ID}/spec-details`;
    const given = { SpecAlias: 'v1', OASUrl: 'https://a.example/v1.json', Name: 'One' };
    const made = await requestPortal(app(), 'POST', list, given, 201);
    assert.deepEqual({ ...given, ID: made.ID, CID: made.CID, DocumentationType: 'OAS' }, made);
    const path = `/portal-api/products/${ID}/spec-details/${made.ID}`;
    assert.deepEqual(await requestPortal(app(), 'GET', path), made);
    const other = await requestPortal(app(), 'POST', list, { SpecAlias: 'v2' }, 201);
    const taken = { body: { SpecAlias: 'v2' } };
    assert.equal((await app().ask('PUT', path, taken)).status, 422);
    assert.equal((await app().ask('POST', list, taken)).status, 422);
    const changed = await requestPortal(app(), 'PUT', path, { ...made, Name: 'First' });
    assert.deepEqual(changed, { ...made, Name: 'First' });
    assert.deepEqual(await requestPortal(app(), 'DELETE', path), { status: 'ok' });
    assert.deepEqual(await requestPortal(app(), 'GET', list), [other]);
  });

  test('documents are deleted with their specification, in every way that it ends, and with their product', async () => {
    const { ID, APIDetails } = await addProduct(app());
    const list = `/portal-api/products/${ID}/spec-details`;
    const files = createPortalFileStore(app().application.installation.records);
    for (const [at, end] of [
      () => requestPortal(app(), 'DELETE', `${list}/1`),
      () => requestPortal(app(), 'PUT', `/portal-api/products/${ID}`, { SpecDetails: [] }),
      () => requestPortal(app(), 'DELETE', `/portal-api/products/${ID}`),
    ].entries()) {
      const id = at + 1;
      const slots = () => files.listSlots(`products/${ID}/specs/${id}`);
      assert.equal((await requestPortal(app(), 'POST', list, { SpecAlias: 'a' }, 201)).ID, id, 'no number twice');
      assert.deepEqual((await app().ask('GET', `${list}/${id}/oas`)).body.errors, ['no oas specified']);
      await send('POST', `${list}/${id}/oas`, yaml);
      await send('POST', `/portal-api/products/${ID}/api-details/${APIDetails[0].APIID}/oas`, yaml);
      assert.deepEqual(await slots(), ['oas']);
      await end();
      assert.deepEqual(await slots(), []);
    }
    assert.deepEqual(await files.listSlots(`products/${ID}/apis/${APIDetails[0].APIID}`), []);
  });

  test('documents of an API end when it leaves the product, by a change and by a synchronisation', async () => {
    const { ID, ReferenceID, APIDetails } = await addProduct(app());
    const own: string = APIDetails[0].APIID;
    const other = await addApi(app());
    const oas = `/portal-api/products/${ID}/api-details/${own}/oas`;
    const change = (apiId: string) =>
      requestPortal(app(), 'PUT', `/portal-api/products/${ID}`, { APIDetails: [{ APIID: apiId }] });
    const policyPath = `/api/portal/policies/${ReferenceID}`;
    const synchronize = async (apiId: string) => {
      const { access_rights_array: _list, ...policy } = await requestPortal(app(), 'GET', policyPath);
      const access_rights = { [apiId]: { api_id: apiId, api_name: apiId, versions: ['Default'] } };
      await requestPortal(app(), 'PUT', policyPath, { ...policy, access_rights });
      await requestPortal(app(), 'PUT', '/portal-api/providers/1/synchronize');
    };
    for (const replace of [change, synchronize]) {
      assert.equal((await send('POST', oas, yaml)).status, 200);
      await replace(own);
      assert.equal((await app().ask('GET', oas)).text, yaml);
      await replace(other);
      assert.equal((await app().ask('GET', oas)).status, 404);
      await replace(own);
      assert.deepEqual((await app().ask('GET', oas)).body.errors, ['no oas specified']);
    }
  });

  test('a document is deleted once; unknown products, APIs and specifications are refused', async () => {
    const api = `/portal-api/products/${product.ID}/api-details/${apiId}`;
    const spec = `/portal-api/products/${product.ID}/spec-details/${specId}`;
    await send('POST', `${api}/graphql/schema`, sdl);
    for (const path of [`${api}/oas`, `${api}/graphql/schema`, `${spec}/oas`]) {
      assert.equal((await app().ask('DELETE', path)).status, 200, path);
      const again = await app().ask('DELETE', path);
      assert.equal(again.status, 422);
      assert.match(again.body.errors[0], /^no (oas|graphql schema) specified$/);
    }
    const { ID } = await requestPortal(
      app(),
      'POST',
      `/portal-api/products/${product.ID}/spec-details`,
      { SpecAlias: 'empty' },
      201,
    );
    const empty = `/portal-api/products/${product.ID}/spec-details/${ID}/graphql/schema`;
    for (const method of ['GET', 'DELETE']) assert.equal((await app().ask(method, empty)).status, 422);
    const otherApi = await addApi(app());
    for (const root of ['/portal-api/products/99999', `/portal-api/products/${product.ID}`])
      for (const [path, method] of [
        [`${root}/api-details/${otherApi}`, 'POST'],
        [`${root}/spec-details/777`, 'PUT'],
      ] as const) {
        for (const end of ['', '/oas', '/graphql/schema'])
          assert.equal((await app().ask('GET', path + end)).status, 404);
        for (const end of ['/oas', '/graphql/schema'])
          assert.equal((await app().ask('DELETE', path + end)).status, 404);
        assert.equal((await send('POST', `${path}/oas`, yaml)).status, 422);
        assert.equal((await send(method, `${path}/graphql/schema`, sdl)).status, 422);
        assert.equal((await app().ask('PUT', path, { body: {} })).status, method === 'POST' ? 422 : 404);
      }
    for (const noun of ['api-details', 'spec-details'])
      assert.equal((await app().ask('GET', `/portal-api/products/99999/${noun}`)).status, 404);
    const unknown = '/portal-api/products/99999/spec-details';
    assert.equal((await app().ask('POST', unknown, { body: { SpecAlias: 'a' } })).status, 422);
    assert.equal((await app().ask('DELETE', `${unknown}/1`)).status, 404);
    assert.equal((await send('POST', `${unknown}/graphql/schema`, sdl)).status, 404);
  });

  test('a product has at most 1000 specifications', async () => {
    const SpecDetails = Array.from({ length: 1000 }, (_each, at) => ({ SpecAlias: `s${at}` }));
    const { ID } = await addProduct(app(), { SpecDetails });
    const path = `/portal-api/products/${ID}/spec-details`;
    const full = await app().ask('POST', path, { body: { SpecAlias: 'more' } });
    assert.deepEqual([full.status, full.body.errors], [422, ['The product has 1000 specifications, the maximum']]);
    const schema = await send('POST', `/portal-api/products/${ID}/spec-details/graphql/schema`, sdl, 'x.gql');
    assert.equal(schema.status, 422);
  });
});
