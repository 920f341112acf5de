import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import {
  addApi,
  addPlan,
  addProduct,
  localProvider,
  portalTimePattern,
  requestPortal,
} from '../../../tests/support/portal.ts';

onEveryEngine('portal products', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api/products${path}`, body === undefined ? {} : { body });
  const policyOf = async (id: string) => requestPortal(app(), 'GET', `/api/portal/policies/${id}`);

  test('a new product is returned with 201 and every member, and its access policy exists', async () => {
    const apiId = await addApi(app(), 'whole-api');
    const { status, body } = await ask('POST', '', {
      Name: 'Whole Product!',
      ProviderID: String(localProvider),
      IsDocumentationOnly: 'false',
      DisplayName: 'The whole',
      Description: 'Short',
      Content: '<p>Long</p>',
      Feature: true,
      Scopes: 'a,b',
      Catalogues: [1, 'Private Catalogue'],
      Tags: ['new'],
      APIDetails: [{ APIID: apiId, Description: 'An API', OASUrl: 'https://a.example/oas.json' }],
    });
    assert.equal(status, 201);
    const { ID, CID, ReferenceID, CreatedAt, UpdatedAt, ...rest } = body;
    assert.match(CID, /^[0-9A-Za-z]{27}$/);
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, {
      Name: 'Whole Product!',
      DisplayName: 'The whole',
      Path: 'whole-product',
      ProviderID: localProvider,
      AuthType: 'authToken',
      AuthTypes: ['authToken'],
      DCREnabled: false,
      Feature: true,
      IsDocumentationOnly: false,
      Scopes: 'a,b',
      Preview: '',
      Logo: '',
      Catalogues: ['Public Catalogue', 'Private Catalogue'],
      Content: '<p>Long</p>',
      Description: 'Short',
      Tags: ['new'],
      Templates: [],
      SpecDetails: [],
      Hidden: false,
      APIDetails: [
        {
          APIID: apiId,
          Name: 'whole-api',
          Description: 'An API',
          APIType: 'REST',
          ListenPath: '/whole-api/',
          TargetURL: 'http://127.0.0.1:9/',
          OASUrl: 'https://a.example/oas.json',
          Status: true,
        },
      ],
    });
    const policy = await policyOf(ReferenceID);
    assert.equal(policy.name, 'Whole Product!');
    assert.equal(policy.state, 'active');
    assert.deepEqual(policy.partitions, {
      acl: true,
      complexity: false,
      per_api: false,
      quota: false,
      rate_limit: false,
    });
    assert.deepEqual(policy.access_rights[apiId].versions, ['Default']);
    assert.deepEqual([policy.rate, policy.quota_max], [-1, -1]);
    for (const id of [ID, CID]) assert.deepEqual((await ask('GET', `/${id}`)).body, body);
    const [row] = (await ask('GET', '?limit=1')).body;
    assert.deepEqual(row.APIDetails, [{ APIID: apiId, Name: 'whole-api', Status: true }]);
    assert.deepEqual(row.Catalogues, ['Public Catalogue', 'Private Catalogue']);
    assert.ok(!('Content' in row) && !('Templates' in row));
  });

  test('a documentation-only product has no policy until an API is added; without APIs the policy is a draft', async () => {
    const { body: documents } = await ask('POST', '', {
      Name: 'Papers',
      IsDocumentationOnly: true,
      SpecDetails: [{ SpecAlias: 'v1', OASUrl: 'https://a.example/v1.json' }],
    });
    assert.deepEqual(
      [documents.IsDocumentationOnly, documents.ReferenceID, documents.ProviderID, documents.SpecDetails[0].SpecAlias],
      [true, '', 0, 'v1'],
    );
    assert.ok(!('AuthType' in documents));
    const apiId = await addApi(app());
    const details = { APIDetails: [{ APIID: apiId }] };
    const homeless = await ask('PUT', `/${documents.ID}`, details);
    assert.deepEqual([homeless.status, homeless.body.errors], [422, ['ProviderID: is required']]);
    const { body: filled } = await ask('PUT', `/${documents.ID}`, { ...details, ProviderID: localProvider });
    assert.equal(filled.IsDocumentationOnly, false);
    assert.equal((await policyOf(filled.ReferenceID)).state, 'active');
    const { body: emptied } = await ask('PUT', `/${documents.ID}`, { APIDetails: [] });
    assert.deepEqual([emptied.IsDocumentationOnly, emptied.ReferenceID], [true, filled.ReferenceID]);
    const resting = await policyOf(filled.ReferenceID);
    assert.deepEqual([resting.state, resting.access_rights], ['draft', {}]);
    await ask('PUT', `/${documents.ID}`, details);
    assert.equal((await policyOf(filled.ReferenceID)).state, 'active');
    const both = await ask('POST', '', { Name: 'b', ProviderID: 1, IsDocumentationOnly: true, ...details });
    assert.deepEqual(both.body.errors, ['APIDetails: must be empty when IsDocumentationOnly is true']);
  });

  test('a returned product can be edited and sent back; name and APIs are updated in the policy at once', async () => {
    const product = await addProduct(app(), { Catalogues: [2], Tags: ['a'] });
    const more = await addApi(app());
    const answer = await ask('PUT', `/${product.ID}`, {
      ...product,
      Name: 'Renamed product',
      APIDetails: [...product.APIDetails, { APIID: more, Description: 'Second' }],
    });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body.Catalogues, ['Private Catalogue']);
    assert.deepEqual([answer.body.Path, answer.body.APIDetails.length], [product.Path, 2]);
    const policy = await policyOf(product.ReferenceID);
    assert.equal(policy.name, 'Renamed product');
    assert.deepEqual(Object.keys(policy.access_rights).sort(), [product.APIDetails[0].APIID, more].sort());
    const { body: same } = await ask('PUT', `/${product.CID}`, { Description: 'Only this' });
    assert.deepEqual({ ...same, UpdatedAt: '' }, { ...answer.body, Description: 'Only this', UpdatedAt: '' });
    assert.deepEqual((await ask('PUT', `/${product.ID}`, { Catalogues: null })).body.Catalogues, []);
  });

  test('paths derive from names, are unique, and can be chosen', async () => {
    const APIDetails: unknown[] = [];
    const paths = [];
    for (const Name of ['Same name', 'same  NAME', 'Same-Name'])
      paths.push((await requestPortal(app(), 'POST', '/portal-api/products', { Name, APIDetails }, 201)).Path);
    assert.deepEqual(paths, ['same-name', 'same-name-2', 'same-name-3']);
    const chosen = await ask('POST', '', { Name: 'x', Path: 'same-name' });
    assert.deepEqual([chosen.status, chosen.body.errors], [409, ['A product with this Path or CID already exists']]);
    const product = await addProduct(app());
    assert.equal((await ask('PUT', `/${product.ID}`, { Path: 'same-name' })).status, 409);
    assert.equal((await ask('PUT', `/${product.ID}`, { Path: 'my_own.path' })).body.Path, 'my_own.path');
    assert.match((await ask('PUT', `/${product.ID}`, { Path: 'a/b' })).body.errors[0], /^Path: may hold letters/);
  });

  test('a persistent id can be chosen, and is unique', async () => {
    const CID = '2xQ9bR7mKf3TzL0aYw5HcV8nPdE';
    const product = await addProduct(app(), { CID });
    assert.equal(product.CID, CID);
    const count = async () => (await requestPortal(app(), 'GET', '/api/portal/policies?p=-1')).Data.length;
    const policies = await count();
    const again = await ask('POST', '', {
      Name: 'again',
      CID,
      ProviderID: 1,
      APIDetails: [{ APIID: product.APIDetails[0].APIID }],
    });
    assert.equal(again.status, 409);
    assert.equal(await count(), policies);
    assert.match((await ask('POST', '', { Name: 'x', CID: 'short' })).body.errors[0], /^CID: must be 27/);
  });

  test('an invalid product is refused with its path, and leaves no policy', async () => {
    const errors = async (body: object) => {
      const answer = await ask('POST', '', body);
      assert.equal(answer.status, 422);
      return answer.body.errors;
    };
    const details = [{ APIID: await addApi(app()) }];
    assert.deepEqual(await errors({ Name: 'x', ProviderID: 1, APIDetails: [...details, { APIID: 'nothing' }] }), [
      'APIDetails[1].APIID: provider Gatewright has no API nothing',
    ]);
    assert.deepEqual(await errors({ Name: 'x', ProviderID: 7777, APIDetails: details }), [
      'ProviderID: there is no provider 7777',
    ]);
    assert.deepEqual(await errors({ Name: 'x', ProviderID: 1, APIDetails: details, Catalogues: [1, 99, 'No such'] }), [
      'Catalogues[1]: there is no catalogue 99',
      'Catalogues[2]: there is no catalogue No such',
    ]);
    const [wrongName, wrongFlag] = await errors({ Name: 7, Feature: 'maybe' });
    assert.match(wrongFlag + wrongName, /Feature: must be true or false/);
    const plan = await addPlan(app(), { Name: 'a taken name' });
    assert.deepEqual(await errors({ Name: plan.Name, ProviderID: 1, APIDetails: details }), [
      'Provider Gatewright refused: A policy named a taken name already exists in this organisation',
    ]);
    const product = await addProduct(app());
    const moved = await ask('PUT', `/${product.ID}`, { ProviderID: 2 });
    assert.deepEqual(moved.body.errors, ['ProviderID: cannot be changed: the product belongs to its provider']);
  });

  test('removing a product removes its policy; unknown products are 404, 422 on update', async () => {
    const product = await addProduct(app(), { Catalogues: [1] });
    assert.deepEqual((await ask('DELETE', `/${product.ID}`)).body, { status: 'ok' });
    assert.equal((await app().ask('GET', `/api/portal/policies/${product.ReferenceID}`)).status, 404);
    assert.ok(!(await requestPortal(app(), 'GET', '/portal-api/catalogues/1')).Products.includes(product.Name));
    for (const id of [product.ID, 'nobody']) {
      assert.equal((await ask('GET', `/${id}`)).status, 404);
      assert.equal((await ask('DELETE', `/${id}`)).status, 404);
      assert.equal((await ask('PUT', `/${id}`, { Name: 'x' })).status, 422);
    }
  });

  test('an API of another organisation cannot be published', async () => {
    const { accessKey } = await app().stranger();
    const body = {
      api_definition: { name: 'theirs', proxy: { listen_path: '/theirs/', target_url: 'http://127.0.0.1:9' } },
    };
    const { body: theirs } = await app().ask('POST', '/api/apis', { body, credential: accessKey });
    const answer = await ask('POST', '', { Name: 'stolen', ProviderID: 1, APIDetails: [{ APIID: theirs.ID }] });
    assert.equal(answer.status, 422);
    assert.match(answer.body.errors[0], /has no API/);
  });
});
