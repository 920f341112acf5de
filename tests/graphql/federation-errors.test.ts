import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { type Federation, federation2, type SubgraphFixture, startFederation } from '../support/federation.ts';
import { openApi, publish } from '../support/traffic.ts';

const names = 'key shareable authenticated requiresScopes';

const fail = (message: string) => () => {
  throw new Error(message);
};

const subgraphs: Record<string, SubgraphFixture> = {
  orders: {
    sdl: `${federation2(names)}
      type Order @key(fields: "id") { id: ID! total: Int }
      type Query { orders: [Order!]! broken: Int strict: Int! secret: Int @authenticated
        scoped: Int @requiresScopes(scopes: [["read", "write"], ["admin"]]) }`,
    root: {
      orders: [
        { id: '1', total: 5 },
        { id: '2', total: fail('no total') },
      ],
      broken: fail('broken here'),
      strict: fail('strict here'),
      secret: 7,
      scoped: 8,
    },
    entities: { Order: ({ id }) => ({ id, total: 1 }) },
  },
  parcels: {
    sdl: `${federation2(names)} type Order @key(fields: "id") { id: ID! parcel: Parcel late: Boolean! }
      type Parcel { code: String weight: Int! }`,
    entities: {
      Order: ({ id }) => ({
        id,
        late: id === '1' ? false : fail('unknown date'),
        parcel: id === '1' ? { code: 'a', weight: 3 } : { code: 'b', weight: fail('no scale') },
      }),
    },
  },
};

describe('GraphQL federation: errors and guards', () => {
  let app: TestApp;
  let shop: Federation;
  before(async () => {
    app = await startApp('sqlite');
    shop = await startFederation(app, subgraphs, {});
  });
  after(async () => {
    await app?.close();
    await shop?.close();
  });

  test('an error of a root field is at its path, with the alias of the client', async () => {
    assert.deepEqual(await shop.ask('{ b: broken orders { id } }'), {
      errors: [{ message: 'broken here', path: ['b'] }],
      data: { b: null, orders: [{ id: '1' }, { id: '2' }] },
    });
  });

  test('an error of an entity is at the path of the item, and null ends at the next nullable field', async () => {
    assert.deepEqual(await shop.ask('{ orders { id parcel { code weight } } }'), {
      errors: [{ message: 'no scale', path: ['orders', 1, 'parcel', 'weight'] }],
      data: {
        orders: [
          { id: '1', parcel: { code: 'a', weight: 3 } },
          { id: '2', parcel: null },
        ],
      },
    });
  });

  test('an error of a field that may not be null removes all above it, once', async () => {
    assert.deepEqual(await shop.ask('{ orders { late } }'), {
      errors: [{ message: 'unknown date', path: ['orders', 1, 'late'] }],
      data: null,
    });
    assert.deepEqual(await shop.ask('{ strict }'), {
      errors: [{ message: 'strict here', path: ['strict'] }],
      data: null,
    });
  });

  test('a subgraph that fails leaves the fields of the others, and its address is in no error', async () => {
    const { parcels } = shop.servers;
    const answer = parcels!.answer;
    parcels!.answer = (_request, response) => void response.writeHead(500).end('down');
    const failed = await shop.ask('{ orders { total parcel { code } } }');
    parcels!.answer = answer;
    assert.deepEqual(failed.data, {
      orders: [
        { total: 5, parcel: null },
        { total: null, parcel: null },
      ],
    });
    assert.deepEqual(failed.errors, [
      { message: 'no total', path: ['orders', 1, 'total'] },
      { message: 'the subgraph parcels responded with status 500', path: ['orders'] },
    ]);
  });

  test('a guarded field is refused for a client that is not authenticated, and no subgraph is called', async () => {
    shop.takeRequests();
    for (const field of ['secret', 'scoped']) {
      const { errors } = await shop.ask(`{ ${field} orders { id } }`);
      assert.deepEqual(errors, [{ message: `field: ${field} is restricted on type: Query` }]);
    }
    assert.deepEqual(shop.takeRequests(), []);
    assert.deepEqual(await shop.ask('{ orders { id } }'), { data: { orders: [{ id: '1' }, { id: '2' }] } });
  });

  test('introspection that the definition disables is refused', async () => {
    const hidden = await startFederation(app, subgraphs, {}, { introspection: { disabled: true } });
    const refused = await hidden.ask('{ __schema { queryType { name } } orders { id } }');
    const allowed = await hidden.ask('{ orders { id } }');
    await hidden.close();
    assert.deepEqual(refused, { error: 'introspection is disabled' });
    assert.deepEqual(allowed, { data: { orders: [{ id: '1' }, { id: '2' }] } });
  });

  test('a subgraph may be another API of the gateway, whose chain its requests pass', async () => {
    const { orders, parcels } = shop.servers;
    const inner = openApi(orders!);
    await publish(app, inner);
    const entries = [
      { name: 'orders', url: `gw://${inner.api_id}/`, api_id: inner.api_id, sdl: subgraphs.orders!.sdl },
      { name: 'parcels', url: parcels!.url, sdl: subgraphs.parcels!.sdl },
    ];
    const graphql = { enabled: true, execution_mode: 'supergraph', supergraph: { subgraphs: entries } };
    const url = await publish(app, openApi({ url: 'http://127.0.0.1:1' }, { graphql }));
    const body = JSON.stringify({ query: '{ orders { id parcel { code } } }' });
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    assert.deepEqual(await response.json(), {
      data: {
        orders: [
          { id: '1', parcel: { code: 'a' } },
          { id: '2', parcel: { code: 'b' } },
        ],
      },
    });
  });
});
