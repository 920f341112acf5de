import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import {
  type KafkaBrokerOptions,
  type KafkaTestBroker,
  startKafkaBroker,
  toRecordBatch,
} from '../support/kafka-broker.ts';
import { type KafkaCluster, startKafkaCluster } from '../support/kafka-cluster.ts';
import { type EventStream, openEventStream } from '../support/subscription-events.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';

const sdl = 'type Order { id: ID total: Int } type Query { ready: Boolean } type Subscription { placed: Order }';
const topic = 'orders';
const operation = 'subscription { placed { id total } }';
const order = (id: number) => JSON.stringify({ placed: { id: `${id}`, total: id * 10 } });
const placed = (id: number) => ({ data: { placed: { id: `${id}`, total: id * 10 } } });

interface GraphOptions {
  readonly config?: object;
  readonly engine?: object;
}

describe('Kafka sources of a data graph', () => {
  let app: TestApp;
  let cluster: KafkaCluster;
  const closing: (() => unknown)[] = [];
  before(async () => {
    cluster = await startKafkaCluster();
    closing.push(cluster.close);
    app = await startApp('sqlite', {
      settings: {
        'graphql.max_kafka_consumers': '3',
        'gateway.max_buffered_body_bytes': '100000',
        'gateway.half_close_timeout_ms': '100',
      },
    });
  });
  after(async () => {
    for (const close of closing) await close();
    await app?.close();
  });

  async function publishGraph(addresses: readonly string[], { config = {}, engine = {} }: GraphOptions = {}) {
    const source = {
      ...{ kind: 'Kafka', name: 'broker', root_fields: [{ type: 'Subscription', fields: ['placed'] }] },
      config: { broker_addresses: addresses, topics: [topic], client_id: 'graph', group_id: 'shop', ...config },
    };
    const graphql = {
      ...{ enabled: true, execution_mode: 'executionEngine', version: '2', schema: sdl },
      engine: { data_sources: [source], ...engine },
    };
    return publish(app, openApi({ url: 'http://127.0.0.1:1' }, { graphql }));
  }
  async function subscribe(url: string): Promise<EventStream> {
    const stream = await openEventStream(url, operation);
    closing.push(stream.close);
    return stream;
  }
  async function openBroker(options: KafkaBrokerOptions = {}): Promise<KafkaTestBroker> {
    const broker = await startKafkaBroker(topic, options);
    closing.push(broker.close);
    return broker;
  }
  const unavailable = 'the data source broker is unavailable';
  const ended = (message: string) => [{ errors: [{ message }] }, 'complete'];

  for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd'])
    test(`messages of a cluster, compressed with ${codec}, are events of every subscription`, async () => {
      const own = `orders-${codec}`;
      await cluster.produce(own, [1, 2, 3, 4, 5, 6].map(order), codec);
      const url = await publishGraph(cluster.addresses, { config: { topics: [own] } });
      for (const stream of [await subscribe(url), await subscribe(url)]) {
        const events = [];
        for (let count = 0; count < 6; count++) events.push(await stream.next());
        const byId = (event: unknown) => (event as ReturnType<typeof placed>).data.placed.total;
        assert.deepEqual(
          events.toSorted((a, b) => byId(a) - byId(b)),
          [1, 2, 3, 4, 5, 6].map(placed),
        );
        await stream.close();
      }
    });

  test('start_consuming_latest: a subscription begins with the next message, otherwise with the oldest', async () => {
    const broker = await openBroker();
    broker.log.push(toRecordBatch(0, order(1)));
    const oldest = await subscribe(await publishGraph([broker.address]));
    const latest = await subscribe(await publishGraph([broker.address], { config: { start_consuming_latest: true } }));
    assert.deepEqual(await oldest.next(), placed(1));
    await eventually(() => assert.ok(broker.fetches() > 3));
    broker.log.push(toRecordBatch(1, order(2)));
    assert.deepEqual(await oldest.next(), placed(2));
    assert.deepEqual(await latest.next(), placed(2));
    assert.deepEqual([...broker.clientIds], ['graph']);
    await oldest.close();
    await latest.close();
    await eventually(() => assert.equal(broker.connections(), 0));
  });

  test('a mapping takes the whole message, and one that is no JSON is an error of its event alone', async () => {
    const broker = await openBroker();
    const whole = { type_name: 'Subscription', field_name: 'placed', disable_default_mapping: true, path: [] };
    const url = await publishGraph([broker.address], { engine: { field_configs: [whole] } });
    broker.log.push(toRecordBatch(0, 'no JSON'), toRecordBatch(1, '{"id":"7","total":70}'));
    const stream = await subscribe(url);
    const { errors, data } = (await stream.next()) as { errors: { message: string; path: string[] }[]; data: object };
    assert.match(errors[0]!.message, /^a message of the data source broker cannot be read: /);
    assert.deepEqual([errors[0]!.path, data], [['placed'], { placed: null }]);
    assert.deepEqual(await stream.next(), placed(7));
    await stream.close();
  });

  test('isolation_level ReadCommitted: messages of a transaction that was rolled back are no events', async () => {
    const broker = await openBroker({ aborted: [{ producerId: 5n, firstOffset: 0n }] });
    const [transactional, control] = [0x10, 0x30];
    broker.log.push(
      toRecordBatch(0, order(1), { attributes: transactional, producerId: 5n }),
      toRecordBatch(1, 'marker', { attributes: control, producerId: 5n }),
      toRecordBatch(2, order(3), { attributes: transactional, producerId: 5n }),
    );
    const committed = await subscribe(
      await publishGraph([broker.address], { config: { isolation_level: 'ReadCommitted' } }),
    );
    assert.deepEqual(await committed.next(), placed(3));
    const all = await subscribe(await publishGraph([broker.address]));
    assert.deepEqual(await all.next(), placed(1));
    await committed.close();
    await all.close();
  });

  test('sasl: the user is authenticated with PLAIN; a wrong password ends the subscription with an error', async () => {
    const broker = await openBroker({ credentials: '\0ann\0secret' });
    broker.log.push(toRecordBatch(0, order(1)));
    const publishUser = (password: string) =>
      publishGraph([broker.address], { config: { sasl: { enable: true, user: 'ann', password } } });
    const stream = await subscribe(await publishUser('secret'));
    assert.deepEqual(await stream.next(), placed(1));
    await stream.close();
    const refused = await subscribe(await publishUser('wrong'));
    assert.deepEqual(await refused.rest(), ended('the data source broker cannot be read'));
  });

  test('a broker that is lost is one error at the field, and the subscription goes on where it was', async () => {
    const broker = await openBroker();
    broker.log.push(toRecordBatch(0, order(1)));
    const stream = await subscribe(await publishGraph([broker.address]));
    assert.deepEqual(await stream.next(), placed(1));
    await broker.close();
    assert.deepEqual(await stream.next(), {
      errors: [{ message: `${unavailable}: retrying`, path: ['placed'] }],
      data: { placed: null },
    });
    const again = await openBroker({ port: broker.port });
    again.log.push(toRecordBatch(0, order(1)), toRecordBatch(1, order(2)));
    assert.deepEqual(await stream.next(), placed(2));
    await stream.close();
  });

  test('a broker that is lost for a moment is no event', async () => {
    const broker = await openBroker();
    const stream = await subscribe(await publishGraph([broker.address]));
    await eventually(() => assert.ok(broker.fetches() > 0));
    broker.disconnect();
    broker.log.push(toRecordBatch(0, order(1)));
    assert.deepEqual(await stream.next(), placed(1));
    await stream.close();
  });

  test('a broker that is unavailable at the start ends the subscription with an error', async () => {
    const broker = await openBroker();
    await broker.close();
    const stream = await subscribe(await publishGraph([broker.address]));
    assert.deepEqual(await stream.rest(), ended(unavailable));
  });

  test('a leader at an address that the policy refuses is not connected to', async () => {
    const port = Number(new URL(app.url.dashboard).port);
    const broker = await openBroker({ leader: { host: '127.0.0.1', port } });
    const stream = await subscribe(await publishGraph([broker.address]));
    assert.deepEqual(await stream.rest(), ended(unavailable));
    await eventually(() => assert.equal(broker.connections(), 0));
  });

  test('a response beyond the bound of bodies ends the subscription before it is received', async () => {
    const broker = await openBroker({ claimedBytes: 2_000_000_000 });
    const stream = await subscribe(await publishGraph([broker.address]));
    assert.deepEqual(await stream.rest(), ended('the data source broker cannot be read'));
    await eventually(() => assert.equal(broker.connections(), 0));
  });

  test('graphql.max_kafka_consumers: a further subscription is refused until another one ends', async () => {
    const broker = await openBroker();
    broker.log.push(toRecordBatch(0, order(1)));
    const url = await publishGraph([broker.address]);
    const open = [];
    for (let count = 0; count < 3; count++) {
      const stream = await subscribe(url);
      assert.deepEqual(await stream.next(), placed(1));
      open.push(stream);
    }
    const message = 'the data source broker has no more than 3 subscriptions';
    assert.deepEqual(await (await subscribe(url)).rest(), ended(message));
    await open[0]!.close();
    await eventually(async () => {
      const stream = await subscribe(url);
      assert.deepEqual(await stream.next(), placed(1));
      await stream.close();
    });
    for (const stream of open) await stream.close();
  });

  test('a definition with a wrong Kafka source is refused with the path of its error', async () => {
    const place = 'graphql.engine.data_sources[0]';
    const ok = { broker_addresses: ['kafka.example:9092'], topics: [topic] };
    const cases: [object, object, string, RegExp][] = [
      [{ ...ok, broker_addresses: ['kafka.example'] }, {}, `${place}.config.broker_addresses[0]`, /host and a port/],
      [{ ...ok, broker_addresses: ['169.254.169.254:9092'] }, {}, `${place}.config.broker_addresses[0]`, /169\.254/],
      [{ ...ok, broker_addresses: [] }, {}, `${place}.config.broker_addresses`, /1/],
      [{ ...ok, topics: ['a b'] }, {}, `${place}.config.topics[0]`, /not the name of a topic/],
      [{ ...ok, topic: 'a' }, {}, `${place}.config.topic`, /did you mean topics/],
      [{ ...ok, isolation_level: 'None' }, {}, `${place}.config.isolation_level`, /ReadCommitted/],
      [{ ...ok, sasl: { enable: true } }, {}, `${place}.config.sasl.user`, /required/],
      [ok, { internal: true }, `${place}.config`, /no other API/],
      [
        ok,
        { root_fields: [{ type: 'Query', fields: ['ready'] }] },
        `${place}.root_fields[0].fields[0]`,
        /only fields of the subscription type/,
      ],
    ];
    for (const [config, more, path, message] of cases) {
      const root_fields = [{ type: 'Subscription', fields: ['placed'] }];
      const source = { kind: 'Kafka', name: 'broker', root_fields, config, ...more };
      const engine = { data_sources: [source] };
      const graphql = { enabled: true, execution_mode: 'executionEngine', version: '2', schema: sdl, engine };
      const definition = openApi({ url: 'http://127.0.0.1:1' }, { graphql });
      const { status, text } = await app.ask('POST', '/api/apis', { body: { api_definition: definition } });
      assert.equal(status, 400, text);
      assert.ok(text.includes(path), text);
      assert.match(text, message);
    }
  });
});
