import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { problem } from '../../src/apis/data-graphs/problems.ts';
import { expectProblem } from '../contract/expect-problem.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type KafkaTestBroker, startKafkaBroker, toRecordBatch } from '../support/kafka-broker.ts';
import { openEventStream } from '../support/subscription-events.ts';
import { eventually, waitUntilApplied } from '../support/traffic.ts';

const path = '/api/data-graphs/data-sources/import';
const topic = 'shop.orders';
const schemas = {
  Order: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      'total-cents': { type: 'integer' },
      state: { type: 'string', enum: ['open', 'paid'] },
      items: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
    },
  },
  Item: { type: 'object', properties: { name: { type: 'string' } } },
};
const message = { name: 'placed', contentType: 'application/json', payload: { $ref: '#/components/schemas/Order' } };

const createOlder = (address: string) => ({
  asyncapi: '2.6.0',
  info: { title: 'Orders', version: '1' },
  servers: {
    main: {
      url: 'kafka://{host}',
      protocol: 'kafka',
      variables: { host: { default: address } },
      security: [{ a: [] }],
    },
    web: { url: 'ws://a.example', protocol: 'ws' },
  },
  channels: {
    [topic]: {
      servers: ['web', 'main'],
      description: 'All "orders"',
      subscribe: { operationId: 'orderPlaced', message: { $ref: '#/components/messages/placed' } },
      publish: { message: { payload: {} } },
    },
    'shop.{region}': { subscribe: { message: { payload: {} } } },
    avro: { subscribe: { message: { contentType: 'application/avro', payload: {} } } },
    web: { servers: ['web'], subscribe: { message: { payload: {} } } },
  },
  components: { schemas, messages: { placed: message } },
});
const createNewer = (address: string) => ({
  asyncapi: '3.0.0',
  info: { title: 'Orders', version: '1' },
  servers: { main: { host: address, protocol: 'kafka' } },
  channels: {
    orders: {
      address: 'ignored',
      bindings: { kafka: { topic } },
      servers: [{ $ref: '#/servers/main' }],
      messages: { placed: { $ref: '#/components/messages/placed' } },
    },
  },
  operations: {
    orderPlaced: {
      action: 'send',
      channel: { $ref: '#/channels/orders' },
      messages: [{ $ref: '#/channels/orders/messages/placed' }],
    },
    placeOrder: { action: 'receive', channel: { $ref: '#/channels/orders' } },
  },
  components: {
    schemas,
    messages: {
      placed: { ...message, payload: { schemaFormat: 'application/schema+json', schema: message.payload } },
    },
  },
});

describe('AsyncAPI import of data graphs', () => {
  let app: TestApp;
  let broker: KafkaTestBroker;
  before(async () => {
    [app, broker] = await Promise.all([
      startApp('sqlite', { settings: { 'gateway.half_close_timeout_ms': '100' } }),
      startKafkaBroker(topic),
    ]);
  });
  after(async () => {
    await broker?.close();
    await app?.close();
  });

  for (const [version, create] of [
    ['2', createOlder],
    ['3', createNewer],
  ] as const)
    test(`a channel of AsyncAPI ${version} is a subscription to its topic`, async () => {
      const listenPath = `/orders-${version}/`;
      const headers = { 'content-type': 'application/vnd.gw.udg.v2.asyncapi' };
      const asked = { headers, body: JSON.stringify(create(broker.address)) };
      const { status, text, body } = await app.ask('POST', `${path}?listenPath=${listenPath}`, asked);
      assert.equal(status, 200, text);
      const key = await app.ask('POST', '/gw/keys', { body: { access_rights: { [body.ID]: { api_id: body.ID } } } });
      await waitUntilApplied(app);
      const query = 'subscription { orderPlaced { id totalCents state items { name } } }';
      const fetches = broker.fetches();
      const stream = await openEventStream(app.url.gateway + listenPath, query, key.body.key);
      await eventually(() => assert.ok(broker.fetches() > fetches));
      const value = { id: '7', 'total-cents': 70, state: 'paid', items: [{ name: 'Tea' }] };
      broker.log.push(toRecordBatch(broker.log.length, JSON.stringify(value)));
      const expected = { id: '7', totalCents: 70, state: 'paid', items: [{ name: 'Tea' }] };
      assert.deepEqual(await stream.next(), { data: { orderPlaced: expected } });
      await stream.close();
      // The next subscription begins with no other one: fetches are its own.
      await eventually(() => assert.equal(broker.connections(), 0));
    });

  test('warnings name what is left out, with its place', async () => {
    const asked = { body: createOlder(broker.address) };
    const { text } = await app.ask('POST', `${path}?listenPath=/warned/`, asked);
    for (const warning of [
      /\/channels\/shop\.orders\/publish: messages that clients send are left out/,
      /\/channels\/shop\.\{region\}: left out, its address has parameters/,
      /\/channels\/avro: left out, its messages are not JSON/,
      /\/channels\/web: left out, it has no Kafka server/,
      /\/servers\/main: credentials are not imported/,
    ])
      assert.match(text, warning);
  });

  test('several messages, and schemas of another format, have the type JSON, with a warning', async () => {
    const avro = { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', payload: { type: 'record' } };
    const channels = {
      several: { subscribe: { message: { oneOf: [message, { payload: {} }] } } },
      other: { subscribe: { message: { ...avro, contentType: 'application/json' } } },
    };
    const asked = { body: { ...createOlder(broker.address), channels } };
    const { status, text, body } = await app.ask('POST', `${path}?listenPath=/json-types/`, asked);
    assert.equal(status, 200, text);
    assert.match(text, /\/channels\/several: several messages: their type is JSON/);
    assert.match(text, /\/channels\/other\/subscribe\/message: schemas of application\/vnd\.apache\.avro/);
    const stored = await app.ask('GET', `/api/apis/${body.ID}`);
    assert.match(JSON.stringify(stored.body), /several: JSON\\n {2}other: JSON/);
  });

  test('a document with an error is refused with the place of it', async () => {
    const older = createOlder(broker.address);
    const newer = createNewer(broker.address);
    const withServer = (url: string) => ({ ...older, servers: { main: { url, protocol: 'kafka' }, web: {} } });
    const withChannel = (name: string, channel: object) => ({ ...older, channels: { [name]: channel } });
    const subscribe = { message: { payload: {} } };
    const invalid: [object, RegExp][] = [
      [{ ...older, asyncapi: '1.2.0' }, / at #\/asyncapi: /],
      [withServer('kafka://$secret_env.X:9092'), / at #\/servers\/main\/url: /],
      [withServer('ann:secret@a.example:9092'), / at #\/servers\/main\/url: /],
      [withServer('{{.request.headers.x}}:9092'), / at #\/servers\/main\/url: /],
      [{ ...newer, servers: { main: { host: '', protocol: 'kafka' } } }, / at #\/servers\/main\/host: /],
      [withChannel('a b', { subscribe }), / at #\/channels\/a b: its address is not the name of a topic/],
      [withChannel('a', { subscribe, servers: ['nope'] }), / at #\/channels\/a\/servers: there is no server nope/],
      [withChannel('a', { $ref: 'https://a.example/x' }), / at #\/channels\/a\/\$ref: /],
      [
        withChannel('a', { subscribe: { message: { $ref: '#/nowhere' } } }),
        / at #\/channels\/a\/subscribe\/message\/\$ref: there is no/,
      ],
      [
        withChannel('a', { subscribe: { message: { oneOf: Array(101).fill(subscribe.message) } } }),
        /more than 100 messages/,
      ],
      [
        { ...newer, operations: { a: { action: 'send', channel: { $ref: '#/components/schemas/Item' } } } },
        / at #\/operations\/a\/channel: /,
      ],
      [
        { ...older, channels: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`c${at}`, { subscribe }])) },
        / at #\/channels: has more than 1000/,
      ],
    ];
    for (const [body, text] of invalid) {
      await expectProblem(app, 'importDataGraph', problem.document_invalid, path, { body });
      assert.match((await app.ask('POST', path, { body })).body.Message, text);
    }
    const secure = { main: { url: 'a.example:9093', protocol: 'kafka-secure' }, web: {} };
    for (const body of [{ asyncapi: '3.0.0' }, { ...older, servers: secure }, withChannel('a', { publish: subscribe })])
      await expectProblem(app, 'importDataGraph', problem.document_unsupported, path, { body });
  });
});
