import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { buildSchema } from 'graphql';
import { type Client, createClient } from 'graphql-ws';
import { startApp, type TestApp } from '../support/app.ts';
import { type SubscriptionServer, startSubscriptionServer } from '../support/subscription-server.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const sourceSdl = `
  type Order { id: ID! total: Int customerId: ID }
  type Query { ready: Boolean }
  type Subscription { placed(shop: ID): Order }
`;
const graphSdl = `
  type Customer { name: String }
  type Order { id: ID! total: Int customer: Customer }
  type Query { status: Status }
  type Status { state: String }
  type Subscription { placed(shop: ID): Order unresolved: Order fixed(shop: ID): Order }
`;

describe('subscriptions of a data graph', () => {
  let app: TestApp;
  let source: SubscriptionServer;
  let rest: Upstream;
  before(async () => {
    [app, source, rest] = await Promise.all([
      startApp('sqlite', {
        settings: { 'graphql.max_socket_operations': '3', 'gateway.half_close_timeout_ms': '100' },
      }),
      startSubscriptionServer({ schema: buildSchema(sourceSdl) }),
      startUpstream(),
    ]);
    rest.answer = ({ url = '' }, response) => {
      response.setHeader('content-type', 'application/json');
      if (url.endsWith('/missing')) return response.writeHead(404).end('{}');
      response.end(JSON.stringify(url === '/status' ? { state: 'up' } : { name: `Customer ${url.split('/').at(-1)}` }));
    };
  });
  after(async () => {
    await app?.close();
    await source?.close();
    await rest?.close();
  });

  async function publishGraph(config: object = {}, more: Record<string, unknown> = {}, block: object = {}) {
    const graphqlSource = (name: string, field: string, extra: object) => ({
      kind: 'GraphQL',
      name,
      root_fields: [{ type: 'Subscription', fields: [field] }],
      config: { url: source.url, headers: { 'X-Shop': '{{ .request.headers.X-Tenant }}' }, ...extra, ...config },
    });
    const restSource = (name: string, type: string, field: string, url: string) => ({
      kind: 'REST',
      name,
      root_fields: [{ type, fields: [field] }],
      config: { url, method: 'GET' },
    });
    const definition = openApi(
      { url: 'http://127.0.0.1:1' },
      {
        graphql: {
          enabled: true,
          execution_mode: 'executionEngine',
          version: '2',
          schema: graphSdl,
          engine: {
            data_sources: [
              graphqlSource('orders', 'placed', {}),
              graphqlSource('fixed', 'fixed', {
                has_operation: true,
                operation: 'subscription ($shop: ID) { placed(shop: $shop) { id total } }',
                variables: { shop: '{{ .arguments.shop }}' },
              }),
              restSource('customers', 'Order', 'customer', `${rest.url}/customers/{{ .object.customerId }}`),
              restSource('status', 'Query', 'status', `${rest.url}/status`),
            ],
            field_configs: [
              { type_name: 'Order', field_name: 'customer', disable_default_mapping: true, path: [] },
              { type_name: 'Query', field_name: 'status', disable_default_mapping: true, path: [] },
              { type_name: 'Subscription', field_name: 'fixed', path: ['placed'] },
            ],
          },
          ...block,
        },
        ...more,
      },
    );
    return { apiId: definition.api_id, url: await publish(app, definition) };
  }
  function connect(url: string, protocol = 'graphql-transport-ws', headers: Record<string, string> = {}): Client {
    class Socket extends WebSocket {
      constructor(address: string) {
        super(address, { protocols: [protocol], headers } as never);
      }
    }
    return createClient({ url: url.replace('http', 'ws'), webSocketImpl: Socket, retryAttempts: 0, lazy: true });
  }
  async function openRaw(url: string, protocol = 'graphql-transport-ws', authorization = '') {
    const socket = new WebSocket(url.replace('http', 'ws'), {
      protocols: [protocol],
      headers: { ...(authorization !== '' && { authorization }) },
    } as never);
    const messages: Record<string, unknown>[] = [];
    socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))));
    await once(socket, 'open');
    assert.equal(socket.protocol, protocol);
    return { socket, messages, send: (message: object) => socket.send(JSON.stringify(message)) };
  }
  /** Waits for the feed of the source, then sends it values. */
  async function emit(...values: unknown[]) {
    await eventually(() => assert.equal(source.feeds.size, 1));
    for (const value of values) source.emit(value);
  }
  const query = 'subscription S($shop: ID) { placed(shop: $shop) { id sum: total customer { name } } }';
  const results = [
    { data: { placed: { id: '1', sum: 5, customer: { name: 'Customer c1' } } } },
    {
      data: { placed: { id: '2', sum: null, customer: null } },
      errors: [{ message: 'the data source customers responded with status 404', path: ['placed', 'customer'] }],
    },
  ];
  const values = [
    { id: '1', total: 5, customerId: 'c1' },
    { id: '2', customerId: 'missing' },
  ];
  /** Members of a result have no order. */
  const sortErrors = (text: string) => text.replaceAll(/\{("errors":\[.*?\}\]),("data":.*)\}\n/g, '{$2,$1}\n');
  const take = async (client: Client, operation = query, variables: Record<string, unknown> = { shop: 's' }) => {
    const taken: unknown[] = [];
    const iterator = client.iterate({ query: operation, variables });
    const next = async () => {
      const { value, done } = await iterator.next();
      if (!done) taken.push(value);
      return done;
    };
    return { taken, next, iterator };
  };

  for (const type of ['', 'graphql-transport-ws', 'graphql-ws', 'sse'])
    test(`events of a source (${type || 'protocol of its choice'}) are joined with values of other sources`, async () => {
      const { url } = await publishGraph({ subscription_type: type }, {});
      const client = connect(url, 'graphql-transport-ws', { 'x-tenant': 'ann' });
      const before = source.requests.length;
      const { taken, next, iterator } = await take(client);
      const first = next();
      await emit(...values);
      await first;
      await next();
      assert.deepEqual(taken, results);
      const request = source.requests[before]!;
      assert.equal(request.headers['x-shop'], 'ann');
      assert.equal(request.method, type === 'sse' ? 'POST' : 'GET', 'variables are in no URL');
      const sent = type === 'sse' ? JSON.parse(request.body) : source.operations.at(-1);
      assert.deepEqual(sent.variables, { shop: 's' });
      assert.doesNotMatch(sent.query, /customer \{/);
      await iterator.return!();
      await eventually(() => assert.equal(source.feeds.size + source.sockets.size, 0));
      await client.dispose();
    });

  test('a page of another origin opens no socket with cookies, unless CORS names it', async () => {
    const CORS = { enable: true, allowed_origins: ['https://app.example'] };
    const { url } = await publishGraph({}, { CORS });
    const upgrade = (given: Record<string, string>) => {
      const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', ...given };
      const more = {
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        'sec-websocket-protocol': 'graphql-transport-ws',
      };
      const sent = request(url, { headers: { ...headers, ...more } }).end();
      return new Promise<number | undefined>((resolve, reject) => {
        sent.once('error', reject);
        sent.once('response', ({ statusCode }) => resolve(statusCode));
        sent.once('upgrade', (_response, socket) => {
          socket.destroy();
          resolve(101);
        });
      });
    };
    const cookie = 'session=x';
    for (const [headers, status] of [
      [{ cookie, origin: 'https://evil.example' }, 400],
      [{ cookie, origin: 'null' }, 400],
      [{ cookie, origin: 'https://app.example' }, 101],
      [{ cookie, origin: new URL(url).origin }, 101],
      [{ cookie }, 101],
      [{ origin: 'https://evil.example' }, 101],
    ] as const)
      assert.equal(await upgrade(headers), status, JSON.stringify(headers));
  });

  test('an operation of the definition subscribes, with templates in its variables', async () => {
    const { url } = await publishGraph();
    const client = connect(url);
    const { taken, next, iterator } = await take(client, 'subscription { fixed(shop: "7") { id total } }', {});
    const first = next();
    await emit({ id: '3', total: 9 });
    await first;
    assert.deepEqual(taken, [{ data: { fixed: { id: '3', total: 9 } } }]);
    assert.deepEqual(source.operations.at(-1)!.variables, { shop: '7' });
    await iterator.return!();
    await client.dispose();
  });

  test('a client subscribes by server-sent events, until the source completes', async () => {
    const { url } = await publishGraph();
    const subscribe = (accept: string) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query, variables: { shop: 's' } }),
      });
    const reply = await subscribe('text/event-stream');
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'text/event-stream']);
    await emit(...values);
    for (const feed of source.feeds) feed.end();
    const next = results.map(it => `event: next\ndata: ${JSON.stringify(it)}\n\n`).map(sortErrors);
    assert.equal(sortErrors(await reply.text()), `${next.join('')}event: complete\ndata: \n\n`);
    const plain = await subscribe('application/json');
    assert.deepEqual([plain.status, /needs Accept: text\/event-stream/.test(await plain.text())], [400, true]);
  });

  test('a client that leaves its event stream ends the subscription at the source', async () => {
    const { url } = await publishGraph();
    const reply = await fetch(`${url}?query=${encodeURIComponent('subscription { placed { id } }')}`, {
      headers: { accept: 'text/event-stream' },
    });
    await eventually(() => assert.equal(source.feeds.size, 1));
    await reply.body!.cancel();
    await eventually(() => assert.equal(source.feeds.size + source.sockets.size, 0));
  });

  test('queries run over the socket beside subscriptions, also in the older protocol', async () => {
    const { url } = await publishGraph();
    for (const [protocol, start, data] of [
      ['graphql-transport-ws', 'subscribe', 'next'],
      ['graphql-ws', 'start', 'data'],
    ] as const) {
      const { send, messages, socket } = await openRaw(url, protocol);
      send({ type: 'connection_init' });
      send({ id: 's', type: start, payload: { query: 'subscription { placed { id } }' } });
      send({ id: 'q', type: start, payload: { query: '{ status { state } }' } });
      send({ id: 'm', type: start, payload: { query: '{ __typename }' } });
      await emit({ id: '9' });
      const expected = [
        { type: 'connection_ack' },
        { id: 'm', type: data, payload: { data: { __typename: 'Query' } } },
        { id: 'm', type: 'complete' },
        { id: 'q', type: data, payload: { data: { status: { state: 'up' } } } },
        { id: 'q', type: 'complete' },
        { id: 's', type: data, payload: { data: { placed: { id: '9' } } } },
      ];
      await eventually(() => assert.equal(messages.length, expected.length));
      assert.deepEqual(new Set(messages), new Set(expected));
      send({ id: 's', type: protocol === 'graphql-ws' ? 'stop' : 'complete' });
      await eventually(() => assert.equal(source.feeds.size, 0));
      socket.close();
      await once(socket, 'close');
    }
  });

  test('invalid documents, fields without a source and sources that fail are errors of their operation', async () => {
    const { url } = await publishGraph();
    const { send, messages, socket } = await openRaw(url);
    send({ type: 'connection_init' });
    send({ id: '1', type: 'subscribe', payload: { query: 'subscription { missing { id } }' } });
    send({ id: '2', type: 'subscribe', payload: { query: 'subscription { unresolved { id } }' } });
    await eventually(() => assert.equal(messages.length, 3));
    assert.match(JSON.stringify(messages[1]), /"id":"1","type":"error","payload":\[\{"message":"field: missing not/);
    assert.match(JSON.stringify(messages[2]), /"id":"2","type":"error".*the field Subscription.unresolved has no data/);
    const down = await publishGraph({ url: 'http://127.0.0.1:1' });
    const other = await openRaw(down.url);
    other.send({ type: 'connection_init' });
    other.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { placed { id } }' } });
    await eventually(() => assert.equal(other.messages.length, 2));
    assert.deepEqual(other.messages[1], {
      ...{ id: '1', type: 'error' },
      payload: [{ message: 'the data source orders is unavailable' }],
    });
    for (const it of [socket, other.socket]) it.close();
  });

  test('operations beyond the bound of a socket get an error, until another one ends', async () => {
    const { url } = await publishGraph();
    const { send, messages, socket } = await openRaw(url);
    const start = (id: string) => send({ id, type: 'subscribe', payload: { query: 'subscription { placed { id } }' } });
    send({ type: 'connection_init' });
    for (const id of ['1', '2', '3', '4']) start(id);
    await eventually(() => assert.equal(messages.length, 2));
    assert.match(
      JSON.stringify(messages[1]),
      /"id":"4","type":"error".*at most 3 operations.*operation_limit_exceeded/,
    );
    send({ id: '1', type: 'complete' });
    await eventually(() => assert.equal(source.feeds.size, 2));
    start('5');
    await eventually(() => assert.equal(source.feeds.size, 3));
    socket.close();
    await eventually(() => assert.equal(source.feeds.size, 0));
  });

  const violations: Readonly<Record<string, readonly [number, ...object[]]>> = {
    'an operation before connection_init': [4401, { id: '1', type: 'subscribe', payload: { query: '{ __typename }' } }],
    'a second connection_init': [4429, { type: 'connection_init' }, { type: 'connection_init' }],
    'an unknown type': [4400, { type: 'subscibe' }],
    'an unknown member': [4400, { type: 'ping', Type: 'ping' }],
    'an id that is in use': [
      4409,
      { type: 'connection_init' },
      ...[1, 2].map(() => ({ id: '1', type: 'subscribe', payload: { query: 'subscription { placed { id } }' } })),
    ],
  };
  for (const [about, [code, ...messages]] of Object.entries(violations))
    test(`${about} closes the socket with ${code}`, async () => {
      const { url } = await publishGraph();
      const { send, socket } = await openRaw(url);
      const closed = once(socket, 'close') as Promise<[CloseEvent]>;
      for (const message of messages) send(message);
      assert.equal((await closed)[0].code, code);
      await eventually(() => assert.equal(source.feeds.size, 0));
    });

  test('each operation counts against the limits of its key, whose deletion ends socket and subscription', async () => {
    const { url, apiId } = await publishGraph({}, { use_keyless: false, use_standard_auth: true });
    const made = await app.ask('POST', '/gw/keys?wait=applied', {
      body: {
        access_rights: { [apiId]: { api_id: apiId, restricted_types: [{ name: 'Order', fields: ['total'] }] } },
        rate: 4,
        per: 3600,
      },
    });
    const { key } = made.body;
    const refused = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
    await once(refused, 'error');
    const { send, messages, socket } = await openRaw(url, 'graphql-transport-ws', key);
    send({ type: 'connection_init' });
    const start = (id: string, selected: string) =>
      send({ id, type: 'subscribe', payload: { query: `subscription { placed { ${selected} } }` } });
    start('1', 'total');
    start('2', 'id');
    start('3', 'id');
    start('4', 'id');
    await eventually(() => assert.equal(messages.length, 3));
    assert.match(JSON.stringify(messages[1]), /"id":"1".*field: total is restricted on type: Order/);
    assert.match(JSON.stringify(messages[2]), /"id":"4".*rate_exceeded/);
    await eventually(() => assert.equal(source.feeds.size, 2));
    const closed = once(socket, 'close') as Promise<[CloseEvent]>;
    assert.equal((await app.ask('DELETE', `/gw/keys/${key}?wait=applied`)).status, 200);
    assert.equal((await closed)[0].code, 4401);
    await eventually(() => assert.equal(source.feeds.size, 0));
  });

  test('a source behind another API of the gateway is subscribed through its chain, with its checks', async () => {
    const inner = openApi({ url: source.url }, { graphql: { enabled: true, schema: sourceSdl } });
    await publish(app, inner);
    for (const type of ['graphql-transport-ws', 'sse']) {
      const { url } = await publishGraph({ url: `gw://${inner.api_id}`, subscription_type: type });
      // A graph of graphs: its source is the data graph above.
      const outer = openApi(
        { url: 'http://127.0.0.1:1' },
        {
          graphql: {
            ...{ enabled: true, execution_mode: 'executionEngine', version: '2' },
            schema: 'type Order { id: ID! total: Int } type Query { a: Int } type Subscription { placed: Order }',
            engine: {
              data_sources: [
                {
                  ...{ kind: 'GraphQL', name: 'inner', root_fields: [{ type: 'Subscription', fields: ['placed'] }] },
                  config: { url, subscription_type: type },
                },
              ],
            },
          },
        },
      );
      const client = connect(await publish(app, outer));
      const { taken, next, iterator } = await take(client, 'subscription { placed { id total } }', {});
      const first = next();
      await emit({ id: '4', total: 1 });
      await first;
      assert.deepEqual(taken, [{ data: { placed: { id: '4', total: 1 } } }]);
      await iterator.return!();
      await eventually(() => assert.equal(source.feeds.size + source.sockets.size, 0));
      await client.dispose();
    }
  });
});
