import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { type Federation, startFederation } from '../support/federation.ts';
import { marketSubgraphs, wholeMarket } from '../support/federation-market.ts';

type Bag = Record<string, unknown>;

const operations: Readonly<Record<string, readonly [query: string, variables?: Bag]>> = {
  'values of an enum that one subgraph lacks': ['{ shops { state lastState } }'],
  'an enum value of all subgraphs as an argument': ['{ shops(order: NAME) { id visits(order: NAME) } }'],
  'an enum value in a variable': ['query ($o: Order) { shops(order: $o) { visits(order: $o) } }', { o: 'NAME' }],
  'entities in lists of lists, with nulls at each level': ['{ shop(id: "s1") { grid { id count } } }'],
  'lists of lists of entities behind a list': ['{ shops { id grid { count } } }'],
  'three levels of lists of scalars': ['{ shop(id: "s3") { codes } }'],
  'an entity that its subgraph does not know': ['{ shop(id: "s2") { name grid { id count } } }'],
  'a root that is null': ['{ nobody { name score grid { count } } version }'],
  'items of a list that are null': ['{ shops { name lastState } }'],
  'a required field that is null': ['{ shop(id: "s2") { score } }'],
  'a chain of required fields': ['{ shops { rank } }'],
  'a chain of required fields beside each of them': ['{ shop(id: "s3") { rank score base } }'],
  'a required field of an entity behind one of its type': ['{ shop(id: "s1") { next { score } } }'],
  'introspection of enums': ['{ __type(name: "State") { enumValues { name } } }'],
};

describe('GraphQL federation: values', () => {
  let app: TestApp;
  let market: Federation;
  before(async () => {
    app = await startApp('sqlite');
    market = await startFederation(app, marketSubgraphs, wholeMarket());
  });
  after(async () => {
    await app?.close();
    await market?.close();
  });

  for (const [subject, [query, variables]] of Object.entries(operations))
    test(`${subject}: a supergraph answers as a single server does`, async () => {
      const { data, errors } = await market.same(query, variables);
      assert.ok(data);
      assert.equal(errors, undefined);
    });

  test('an input value of an enum that one subgraph lacks is refused, and no subgraph is called', async () => {
    market.takeRequests();
    for (const value of ['STATE', 'STARS']) {
      const { data, errors } = await market.ask(`{ shops(order: ${value}) { id } }`);
      assert.equal(data, undefined);
      assert.match(JSON.stringify(errors), new RegExp(value));
      const inVariable = await market.ask('query ($o: Order) { shops(order: $o) { id } }', { o: value });
      assert.match(JSON.stringify(inVariable.errors), new RegExp(value));
    }
    assert.deepEqual(market.takeRequests(), []);
  });
});
