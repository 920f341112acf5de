import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { call } from './hostile/raw.ts';
import { startApp, type TestApp } from './support/app.ts';
import { openApi, publish } from './support/traffic.ts';

describe('Upstream connect timeout', () => {
  let app: TestApp;
  const sockets: Socket[] = [];
  const servers: Server[] = [];
  /** Accepts connections and sends nothing, or a given text. */
  async function listening(onSocket: (socket: Socket) => void = socket => void socket.resume()): Promise<number> {
    const server = createServer(socket => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      onSocket(socket);
    });
    servers.push(server);
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  /** Opens tunnels to every requested target. */
  const proxy = (socket: Socket) =>
    socket.once('data', chunk => {
      const other = connect(Number(/^CONNECT \S+:(\d+) /.exec(chunk.toString())![1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(other).pipe(socket);
      });
      sockets.push(other.on('error', () => undefined));
    });

  before(async () => {
    app = await startApp('sqlite', { settings: { 'upstream.connect_timeout_ms': '300', 'upstream.http2': 'true' } });
  });
  after(async () => {
    await app?.close();
    for (const socket of sockets) socket.destroy();
    for (const server of servers) await new Promise(resolve => server.close(resolve));
  });

  const late = [504, '{\n    "error": "Upstream service reached hard timeout."\n}'];
  async function got(target: string, more: object = {}) {
    const reply = await fetch(await publish(app, openApi({ url: target }, { proxy: more })));
    return [reply.status, await reply.text()];
  }

  test('applies to the TLS handshake', async () => {
    assert.deepEqual(await got(`https://127.0.0.1:${await listening()}`), late);
  });

  test('applies to the TLS handshake behind a forward proxy', async () => {
    const transport = { proxy_url: `http://127.0.0.1:${await listening(proxy)}` };
    assert.deepEqual(await got(`https://127.0.0.1:${await listening()}`, { transport }), late);
  });

  test('applies to the forward proxy itself', async () => {
    const transport = { proxy_url: `http://127.0.0.1:${await listening()}` };
    assert.deepEqual(await got('https://127.0.0.1:1', { transport }), late);
  });

  test('applies to a WebSocket upgrade', async () => {
    const url = new URL(await publish(app, openApi({ url: `wss://127.0.0.1:${await listening()}` })));
    const one = await call(Number(url.port));
    one.send(
      `GET ${url.pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    await one.closed;
    assert.match(one.received(), /^HTTP\/1\.1 504 [\s\S]*Upstream service reached hard timeout\./);
  });
});
