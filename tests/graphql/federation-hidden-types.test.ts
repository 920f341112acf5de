import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { federation2, type SubgraphFixture, startFederation } from '../support/federation.ts';

const open = { __typename: 'Open', id: '1', name: 'open' };
const secret = { __typename: 'Secret', id: '2', name: 'secret' };

const createSubgraphs = (directive: string): Record<string, SubgraphFixture> => ({
  items: {
    sdl: `${federation2('key inaccessible')} interface Item { id: ID! name: String }
      type Open implements Item @key(fields: "id") { id: ID! name: String }
      type Secret implements Item @key(fields: "id") ${directive} { id: ID! name: String }
      type Box { item: Item }
      type Query { items: [Item] item: Item box: Box }`,
    root: { items: [open, secret], item: secret, box: { item: secret } },
  },
  prices: {
    sdl: `${federation2('key')} type Open @key(fields: "id") { id: ID! price: Int }`,
    entities: { Open: ({ id }) => ({ id, price: 3 }) },
  },
});
const visible = `interface Item { id: ID! name: String } type Open implements Item { id: ID! name: String }
  type Box { item: Item } type Query { items: [Item] item: Item box: Box }`;
const error = (...path: (string | number)[]) => ({ message: 'a value of Item is of no type of the schema', path });

describe('GraphQL federation: hidden types', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite');
  });
  after(() => app?.close());

  for (const [subject, directive, supergraph] of [
    ['an inaccessible type', '@inaccessible', {}],
    ['a type that merged_sdl leaves out', '', { merged_sdl: visible }],
  ] as const)
    test(`a value of ${subject} is null behind an interface, with an error`, async () => {
      const graph = await startFederation(app, createSubgraphs(directive), {}, { supergraph });
      try {
        assert.deepEqual(await graph.ask('{ items { name } }'), {
          errors: [error('items', 1)],
          data: { items: [{ name: 'open' }, null] },
        });
        assert.deepEqual(await graph.ask('{ a: item { ...F } box { item { b: name } } } fragment F on Item { id }'), {
          errors: [error('a'), error('box', 'item')],
          data: { a: null, box: { item: null } },
        });
      } finally {
        await graph.close();
      }
    });

  test('a guard of a type that clients do not see holds for its union', async () => {
    const sdl = `${federation2('authenticated')} type Plain { id: ID }
      type Guarded @authenticated { id: ID } union Either = Plain | Guarded
      type Query { either: Either plain: Plain }`;
    const plain = { __typename: 'Plain', id: '1' };
    const merged_sdl = 'type Plain { id: ID } union Either = Plain type Query { either: Either plain: Plain }';
    const items = { sdl, root: { either: plain, plain } };
    const graph = await startFederation(app, { items }, {}, { supergraph: { merged_sdl } });
    const [refused, allowed] = [await graph.ask('{ either { __typename } }'), await graph.ask('{ plain { id } }')];
    await graph.close();
    assert.match(JSON.stringify(refused.errors), /field: either is restricted on type: Query/);
    assert.deepEqual(allowed, { data: { plain: { id: '1' } } });
  });
});

test('a fetch of more entities than requests are left is not begun where each is sent alone', async () => {
  const app = await startApp('sqlite', { settings: { 'graphql.max_source_requests': '3' } });
  const list = Array.from({ length: 5 }, (_, at) => ({ id: String(at) }));
  const subgraphs: Record<string, SubgraphFixture> = {
    list: {
      sdl: `${federation2('key')} type E @key(fields: "id") { id: ID! } type Query { list: [E] }`,
      root: { list },
    },
    values: {
      sdl: `${federation2('key')} type E @key(fields: "id") { id: ID! v: Int }`,
      entities: { E: ({ id }) => ({ id, v: 1 }) },
    },
  };
  const graph = await startFederation(app, subgraphs, {}, { supergraph: { disable_query_batching: true } });
  try {
    assert.deepEqual(await graph.ask('{ list { v } }'), {
      errors: [{ message: 'the operation needs more than 3 requests', path: ['list'] }],
      data: { list: list.map(() => ({ v: null })) },
    });
    assert.deepEqual(
      graph.takeRequests().map(({ name }) => name),
      ['list'],
    );
  } finally {
    await graph.close();
    await app.close();
  }
});
