import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { buildSchema } from 'graphql';
import { startApp, type TestApp } from '../support/app.ts';
import { type SubscriptionServer, startSubscriptionServer } from '../support/subscription-server.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';

const sdl = 'type Query { ready: Boolean } type Subscription { placed: Int failing: Int }';
const excess = {
  message: 'a WebSocket has at most 2 operations in progress',
  extensions: { code: 'operation_limit_exceeded' },
};
const pingFrame = Buffer.from([0x89, 0]);
/** Masked with zeros. */
const pongFrame = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

describe('bounds of GraphQL WebSockets', () => {
  let app: TestApp;
  let source: SubscriptionServer;
  before(async () => {
    const settings = { 'graphql.max_socket_operations': '2', 'graphql.socket_ping_interval_ms': '200' };
    const root = { ready: true };
    [app, source] = await Promise.all([
      startApp('sqlite', { settings }),
      startSubscriptionServer({ schema: buildSchema(sdl), root }),
    ]);
  });
  after(async () => {
    await app?.close();
    await source?.close();
  });

  const publishProxy = () =>
    publish(app, openApi({ url: source.url.replace('http', 'ws') }, { graphql: { enabled: true, schema: sdl } }));
  const publishGraph = () =>
    publish(
      app,
      openApi(
        { url: 'http://127.0.0.1:1' },
        {
          graphql: {
            enabled: true,
            execution_mode: 'executionEngine',
            version: '2',
            schema: sdl,
            engine: {
              data_sources: [
                {
                  kind: 'GraphQL',
                  name: 'orders',
                  root_fields: [{ type: 'Subscription', fields: ['placed'] }],
                  config: { url: source.url },
                },
              ],
            },
          },
        },
      ),
    );

  for (const protocol of ['graphql-transport-ws', 'graphql-ws']) {
    const [start, stop] = protocol === 'graphql-ws' ? ['start', 'stop'] : ['subscribe', 'complete'];
    test(`a proxied socket (${protocol}) has a bound of operations, and each that ends makes place`, async () => {
      const socket = new WebSocket((await publishProxy()).replace('http', 'ws'), { protocols: [protocol] } as never);
      const messages: Record<string, unknown>[] = [];
      socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))));
      await once(socket, 'open');
      const send = (message: object) => socket.send(JSON.stringify(message));
      const run = (id: string, query = 'subscription { placed }') => send({ id, type: start, payload: { query } });
      const errorsOf = (id: string) => messages.filter(it => it.id === id && it.type === 'error');
      send({ type: 'connection_init' });
      await eventually(() => assert.equal(messages[0]?.type, 'connection_ack'));

      for (let n = 0; n < 5; n++) {
        run(`query ${n}`, '{ ready }');
        await eventually(() => assert.ok(messages.some(it => it.id === `query ${n}` && it.type === 'complete')));
      }
      for (const id of ['a', 'b', 'c']) run(id);
      await eventually(() => assert.equal(errorsOf('c').length, 1));
      assert.deepEqual(errorsOf('c')[0]!.payload, protocol === 'graphql-ws' ? excess : [excess]);
      await eventually(() => assert.equal(source.feeds.size, 2));

      send({ id: 'a', type: stop });
      await eventually(() => assert.equal(source.feeds.size, 1));
      for (const id of ['a', 'd']) run(id);
      await eventually(() => assert.equal(errorsOf('d').length, 1));
      await eventually(() => assert.equal(source.feeds.size, 2));

      for (const feed of source.feeds) feed.end();
      await eventually(() => assert.equal(messages.filter(it => it.id === 'b' && it.type === 'complete').length, 1));
      run('e');
      await eventually(() => assert.equal(source.feeds.size, 1));
      assert.deepEqual(errorsOf('e'), []);
      socket.close();
      await once(socket, 'close');
      await eventually(() => assert.equal(source.feeds.size, 0));
    });
  }

  test('an id of more than 256 characters closes a proxied socket with 4400', async () => {
    const url = (await publishProxy()).replace('http', 'ws');
    const socket = new WebSocket(url, { protocols: ['graphql-transport-ws'] } as never);
    await once(socket, 'open');
    const payload = { query: 'subscription { placed }' };
    socket.send(JSON.stringify({ id: 'x'.repeat(257), type: 'subscribe', payload }));
    const [event] = (await once(socket, 'close')) as [CloseEvent];
    assert.equal(event.code, 4400);
  });

  /** A client of bytes: it replies to no frame by itself. */
  async function openBytes(url: string): Promise<{ socket: Socket; received: () => Buffer }> {
    const { hostname, port, pathname, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
    });
    socket.on('error', () => undefined);
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
    );
    await eventually(() => assert.ok(received.includes('\r\n\r\n')));
    const at = received.indexOf('\r\n\r\n') + 4;
    return { socket, received: () => received.subarray(at) };
  }
  const countPings = (bytes: Buffer) => {
    let count = 0;
    for (let at = bytes.indexOf(pingFrame); at >= 0; at = bytes.indexOf(pingFrame, at + 2)) count++;
    return count;
  };

  for (const [about, open] of [
    ['a proxied socket', publishProxy],
    ['a socket of a data graph', publishGraph],
  ] as const) {
    test(`a client of ${about} that sends nothing is disconnected after a Ping frame`, async () => {
      const url = await open();
      const earlier = new Set(source.sockets);
      const { socket, received } = await openBytes(url);
      const upstream = [...source.sockets].filter(it => !earlier.has(it));
      // A proxied socket is open at its upstream too; that of a data graph has no operation, and so no source.
      assert.equal(upstream.length, open === publishProxy ? 1 : 0);
      await once(socket, 'close', { signal: AbortSignal.timeout(30_000) });
      assert.equal(countPings(received()), 1);
      for (const it of upstream) await eventually(() => assert.ok(it.readableEnded || it.destroyed));
    });

    test(`a client of ${about} that replies to Ping frames stays connected`, async () => {
      const { socket, received } = await openBytes(await open());
      for (let count = 1; count < 6; count++) {
        await eventually(() => assert.ok(countPings(received()) >= count));
        socket.write(pongFrame);
      }
      assert.equal(socket.destroyed, false);
      socket.destroy();
    });
  }
});
