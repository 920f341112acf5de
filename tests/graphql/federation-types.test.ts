import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { type Federation, startFederation } from '../support/federation.ts';
import { librarySubgraphs, wholeLibrary } from '../support/federation-library.ts';

const operations: Readonly<Record<string, string>> = {
  'fields of an interface': '{ media { id title format } }',
  'fields of implementations': '{ media { title ... on Book { pages copies } ... on Film { minutes } } }',
  'type names behind an interface': '{ media { __typename id ... on Book { kind: __typename } } }',
  'fields of an interface object': '{ media { title stars } }',
  'the same key for fields of several types': '{ media { ... on Book { size: pages } ... on Film { size: minutes } } }',
  'an interface object as the root': '{ best { __typename title stars ... on Film { minutes } } }',
  'an interface object behind an entity': '{ loans { media { title label ... on Book { pages } } } }',
  'members of a union':
    '{ shelf { items { __typename ... on Book { title copies stars } ... on Film { minutes stars } } } }',
  'an interface fragment on a union': '{ item(id: "b1") { ... on Media { title stars } ... on Book { copies } } }',
  'a union that one subgraph knows in part': '{ newest { ... on Book { title copies } ... on Film { minutes } } }',
  'a key with a nested object': '{ shelves { code first { ... on Book { title } } } shelf { code } }',
  'a field that moved to another subgraph': '{ loans { id price } }',
  'a shareable value type': '{ catalog { size } shelf { place { city } } }',
  'fragments nested over types': `{ media { ...M } } fragment M on Media { ... on Book { ... on Media { stars title } } ...F }
     fragment F on Film { minutes ... on Media { label } }`,
  'introspection of types': '{ __type(name: "Media") { possibleTypes { name } fields { name } } }',
};

describe('GraphQL federation: types', () => {
  let app: TestApp;
  let library: Federation;
  before(async () => {
    app = await startApp('sqlite');
    library = await startFederation(app, librarySubgraphs, wholeLibrary());
  });
  after(async () => {
    await app?.close();
    await library?.close();
  });

  for (const [subject, query] of Object.entries(operations))
    test(`${subject}: a supergraph answers as a single server does`, async () => {
      const { data, errors } = await library.same(query);
      assert.ok(data);
      assert.equal(errors, undefined);
    });

  test('an overridden field is not requested from the subgraph that had it', async () => {
    library.takeRequests();
    await library.same('{ loans { price } }');
    const asked = library.takeRequests().filter(({ query }) => /\bprice\b/.test(query));
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['ratings'],
    );
  });

  test('inaccessible fields are no part of the schema of clients', async () => {
    const { errors } = await library.ask('{ hidden }');
    assert.match(JSON.stringify(errors), /field: hidden not defined on type: Query/);
    const { data } = await library.ask('{ __type(name: "Book") { fields { name } } }');
    assert.doesNotMatch(JSON.stringify(data), /isbn/);
  });
});
