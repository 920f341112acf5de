import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { type Federation, federation2, type SubgraphFixture, startFederation } from '../support/federation.ts';

const typeNames = ['A', 'B', 'C'];
const node = { __typename: 'A', id: '1', next: () => node };

/** An interface that two subgraphs have: each nested one multiplies what the planner compares. */
const subgraphs: Record<string, SubgraphFixture> = {
  nodes: {
    sdl: `${federation2('key')} interface I { id: ID! next: I }
      ${typeNames.map(type => `type ${type} implements I @key(fields: "id") { id: ID! next: I }`).join(' ')}
      type Plain { plain: Plain id: ID }
      type Query { i: I plain: Plain }`,
    root: { i: node },
  },
  values: {
    sdl: `${federation2('key')} interface I { id: ID! v: Int }
      ${typeNames.map(type => `type ${type} implements I @key(fields: "id") { id: ID! v: Int }`).join(' ')}`,
    entities: { A: ({ id }) => ({ id, v: 7 }) },
  },
};

const nest = (depth: number): string => (depth === 0 ? 'v' : `v next { ${nest(depth - 1)} }`);
const nestPlain = (levels: number) => `{ ${'plain { '.repeat(levels)} id ${'} '.repeat(levels)} }`;

describe('GraphQL federation: size of plans', () => {
  let app: TestApp;
  let graph: Federation;
  before(async () => {
    app = await startApp('sqlite');
    graph = await startFederation(app, subgraphs, {});
  });
  after(async () => {
    await app?.close();
    await graph?.close();
  });

  test('an operation that nests interfaces of several subgraphs is refused before it is planned', async () => {
    for (const depth of [4, 6, 12]) {
      const { errors, data } = await graph.ask(`{ i { ${nest(depth)} } }`);
      assert.match(JSON.stringify(errors), /more than 300 selections to plan/);
      assert.equal(data, undefined);
    }
    assert.deepEqual(graph.takeRequests(), []);
  });

  test('an operation that nests interfaces within the bound is answered', async () => {
    assert.deepEqual(await graph.ask('{ i { v next { v next { v } } } }'), {
      data: { i: { v: 7, next: { v: 7, next: { v: 7 } } } },
    });
  });

  test('operations of a supergraph without a depth limit have that of 15', async () => {
    assert.deepEqual(await graph.ask(nestPlain(14)), { data: { plain: null } });
    assert.match(JSON.stringify(await graph.ask(nestPlain(15))), /depth limit exceeded/);
    const deep = await startFederation(app, subgraphs, {}, { limits: { max_query_depth: 16 } });
    const answered = await deep.ask(nestPlain(15));
    await deep.close();
    assert.deepEqual(answered, { data: { plain: null } });
  });
});

test('graphql.max_planned_selections bounds the operations of supergraphs', async () => {
  const app = await startApp('sqlite', { settings: { 'graphql.max_planned_selections': '4' } });
  const graph = await startFederation(app, subgraphs, {});
  try {
    assert.deepEqual(await graph.ask('{ i { v } }'), { data: { i: { v: 7 } } });
    assert.match(JSON.stringify(await graph.ask('{ i { v } plain { id } }')), /more than 4 selections to plan/);
  } finally {
    await graph.close();
    await app.close();
  }
});
