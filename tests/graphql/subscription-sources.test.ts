import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';

const sdl = 'type User { name: String } type Query { user: User } type Subscription { joined: User }';

const accept = ({ headers }: IncomingMessage) =>
  createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
const switchTo = (accepted: string, protocol: string) =>
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  `Sec-WebSocket-Accept: ${accepted}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`;

/** Responses to an upgrade that open no WebSocket of GraphQL, by what is wrong with them. */
const faults: Readonly<Record<string, readonly [string, (request: IncomingMessage) => string]>> = {
  'a wrong Sec-WebSocket-Accept': [
    'has no WebSocket with graphql-transport-ws or graphql-ws',
    () => switchTo('AAAA', 'graphql-transport-ws'),
  ],
  'a subprotocol that was not offered': [
    'has no WebSocket with graphql-transport-ws or graphql-ws',
    request => switchTo(accept(request), 'mqtt'),
  ],
  'an error whose body does not end': [
    'responded with status 503',
    () => `HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(1_000_000)}`,
  ],
};

describe('sources of GraphQL subscriptions that fail', () => {
  let app: TestApp;
  let server: Server;
  let url: string;
  let respondToUpgrade: (request: IncomingMessage) => string;
  const sockets = new Set<Duplex>();
  before(async () => {
    server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"extensions":{}}\n\n');
    });
    server.on('upgrade', (request, socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      socket.once('end', () => socket.end());
      socket.resume();
      socket.write(respondToUpgrade(request));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    app = await startApp('sqlite');
  });
  after(async () => {
    await app?.close();
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });

  const toDataGraph = () => ({
    ...{ execution_mode: 'executionEngine', schema: sdl },
    engine: {
      data_sources: [
        {
          ...{ kind: 'GraphQL', name: 'users', root_fields: [{ type: 'Subscription', fields: ['joined'] }] },
          config: { url },
        },
      ],
    },
  });
  const toSupergraph = () => ({
    execution_mode: 'supergraph',
    supergraph: { subgraphs: [{ name: 'users', url, sdl, subscription_type: 'sse' }] },
  });

  /** Events of a subscription that ends. */
  async function subscribe(mode: object): Promise<string> {
    const graphql = { enabled: true, version: '2', ...mode };
    const at = await publish(app, openApi({ url: 'http://127.0.0.1:1' }, { graphql }));
    const response = await fetch(`${at}?query=${encodeURIComponent('subscription { joined { name } }')}`, {
      headers: { accept: 'text/event-stream' },
    });
    return response.text();
  }
  const expected = (text: string) =>
    `event: next\ndata: {"errors":[{"message":"${text}"}]}\n\nevent: complete\ndata: \n\n`;

  for (const [about, [text, respond]] of Object.entries(faults))
    test(`an upgrade that gets ${about} is an error, and its connection is closed`, async () => {
      respondToUpgrade = respond;
      assert.equal(await subscribe(toDataGraph()), expected(`the data source users ${text}`));
      await eventually(() => assert.equal(sockets.size, 0));
    });

  test('an event without data and errors ends the subscription with an error that names the subgraph', async () => {
    assert.equal(
      await subscribe(toSupergraph()),
      expected('an event of the subgraph users has neither data nor errors'),
    );
  });
});
