import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { type Federation, startFederation } from '../support/federation.ts';
import { shopSubgraphs, wholeShop } from '../support/federation-shop.ts';

/** Operations over several subgraphs, by what is particular to each. */
const operations: Readonly<Record<string, readonly [query: string, variables?: Record<string, unknown>]>> = {
  'fields of one subgraph': ['{ me { id name zip } users { name } }'],
  'root fields of several subgraphs': ['{ me { name } products { upc } reviews { id } }'],
  'an entity of a list': ['{ users { name reviews { id body } } }'],
  'entities three levels deep': ['{ me { reviews { product { name reviews { author { name zip } } } } } }'],
  'aliases of fields and roots': [
    '{ a: me { n: name r: reviews { p: product { title: name } } } b: users { z: zip } }',
  ],
  'one field with different arguments': ['{ products { en: name(lang: "en") de: name(lang: "de") } }'],
  'an alias that hides a key': ['{ products { upc: name reviews { id: body } } }'],
  'an alias that hides a required field': [
    '{ products { price: name weight: upc shipping } users { zip: name isLocal } }',
  ],
  'an alias that hides the type name': ['{ products { __typename: name reviews { __proto__: body } } }'],
  'a field that requires others': ['{ products { shipping } users { isLocal } }'],
  'required fields below an entity': [
    '{ me { reviews { product { shipping express } } } products { reviews { author { isLocal } } } }',
  ],
  'a provided field': ['{ reviews { author { name } } }'],
  'lists in lists': ['{ products { related { name shipping reviews { body } } } }'],
  'named fragments': [
    `query ($lang: String) { me { ...U } user(id: "u2") { ...U } }
      fragment U on User { name reviews { ...R } } fragment R on Review { body product { name(lang: $lang) } }`,
    { lang: 'de' },
  ],
  'inline fragments without a type': ['{ me { ... { name reviews { id } } ... on User { zip } } }'],
  'variables with defaults': [
    'query ($n: Int = 2, $lang: String = "de") { products(first: $n) { name(lang: $lang) } }',
  ],
  'a variable that is null': [
    'query ($lang: String) { products { name(lang: $lang) reviews { id } } }',
    { lang: null },
  ],
  'type names': ['{ __typename me { __typename reviews { __typename product { kind: __typename stars } } } }'],
  'an entity that is null': ['{ user(id: "none") { name reviews { id } } }'],
  'the same field twice': ['{ me { reviews { id } } me { reviews { body product { upc } } } }'],
  'a condition that holds': [
    'query ($on: Boolean!) { me { name @include(if: $on) reviews @include(if: $on) { product { name } } } }',
    { on: true },
  ],
  'a condition that does not hold': [
    'query ($on: Boolean!) { me { name reviews @include(if: $on) { product { name } } ...F @skip(if: $on) } } fragment F on User { zip }',
    { on: false },
  ],
  'conditions on both sides': [
    'query ($a: Boolean!, $b: Boolean!) { me @include(if: $a) @skip(if: $b) { reviews { product { name } } } products { stars @skip(if: $a) } }',
    { a: true, b: false },
  ],
  'constant conditions': [
    '{ me { name reviews @skip(if: true) { id } zip @include(if: false) } users @skip(if: true) { id } }',
  ],
  'only excluded fields': ['{ me { name @skip(if: true) } users @include(if: false) { id } }'],
  'introspection beside data': [
    '{ __schema { queryType { name } } __type(name: "User") { fields { name } } me { name } }',
  ],
};

describe('GraphQL federation: queries', () => {
  let app: TestApp;
  let shop: Federation;
  before(async () => {
    app = await startApp('sqlite');
    shop = await startFederation(app, shopSubgraphs, wholeShop());
  });
  after(async () => {
    await app?.close();
    await shop?.close();
  });

  for (const [subject, [query, variables]] of Object.entries(operations))
    test(`${subject}: a supergraph answers as a single server does`, async () => {
      const { data, errors } = await shop.same(query, variables);
      assert.ok(data);
      assert.equal(errors, undefined);
    });

  test('an operation that introspects alone needs no subgraph', async () => {
    shop.takeRequests();
    await shop.same('{ __schema { types { name fields { name type { name } } } } }');
    assert.deepEqual(shop.takeRequests(), []);
  });

  test('entities of a list are fetched in one request, equal ones once', async () => {
    shop.takeRequests();
    await shop.same('{ reviews { product { name } } }');
    const [, second, ...others] = shop.takeRequests();
    assert.deepEqual(others, []);
    assert.equal(second!.name, 'products');
    const { representations } = second!.variables as { representations: { upc: string }[] };
    assert.deepEqual(representations.map(it => it.upc).sort(), ['p1', 'p2', 'p3']);
  });

  test('a provided field is not fetched from its own subgraph', async () => {
    shop.takeRequests();
    await shop.same('{ reviews { author { name } } }');
    assert.deepEqual(
      shop.takeRequests().map(({ name }) => name),
      ['reviews'],
    );
  });

  test('an operation that the planner cannot plan has an error and no data', async () => {
    const { data, errors } = await shop.ask('{ me { reviews { author { isLocal } } } }');
    assert.equal(data, null);
    assert.deepEqual(errors, [{ message: 'the gateway has no query plan for this operation' }]);
  });

  test('a mutation calls its subgraphs in the order of its fields', async () => {
    shop.takeRequests();
    const mutation = `mutation { review(upc: "p2", body: "ok") { body product { name } }
      addProduct(upc: "p1") { name shipping } rename(id: "u1", name: "Eva") { name } again: addProduct(upc: "p3") { upc } }`;
    await shop.same(mutation);
    const changes = shop.takeRequests().filter(({ query }) => query.startsWith('mutation'));
    assert.deepEqual(
      changes.map(({ name }) => name),
      ['reviews', 'products', 'users', 'products'],
    );
  });

  test('equal fields of a mutation are sent once for each of them', async () => {
    shop.takeRequests();
    await shop.same('mutation { a: addProduct(upc: "p1") { upc } b: addProduct(upc: "p1") { upc } }');
    const sent = shop.takeRequests().map(({ query }) => query.match(/addProduct/g)?.length ?? 0);
    assert.equal(
      sent.reduce((sum, count) => sum + count, 0),
      2,
    );
  });
});
