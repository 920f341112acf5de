import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, test } from 'node:test';
import { call } from '../hostile/raw.ts';
import { type Child, eventually, scratch, startChild } from '../support/gw-process.ts';
import { openApi } from '../support/traffic.ts';

const { fresh, remove } = scratch('websocket-stop');
const server = createServer((_request, response) => response.end('served'));
const sockets: Duplex[] = [];
/** Bytes received by the upstream, per WebSocket. */
const received: Buffer[] = [];
let target = '';

before(async () => {
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    const at = sockets.push(socket) - 1;
    received[at] = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', chunk => {
      received[at] = Buffer.concat([received[at]!, chunk]);
      // A server answers a Close frame with one, and ends the connection.
      if (request.url !== '/mute' && received[at].includes(Buffer.from([0x88, 0x82])))
        socket.end(Buffer.from([0x88, 0x02, 0x03, 0xe9]));
    });
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await remove();
});

async function publish(child: Child): Promise<string> {
  const definition = openApi({ url: target });
  const { status, text } = await child.ask('POST', '/gw/apis', { body: definition });
  assert.equal(status, 200, text);
  const url = child.urls.gateway! + definition.proxy.listen_path;
  await eventually(async () => (await fetch(url)).status === 200, 'it is served');
  return url;
}

/** The code of a Close frame of a client, which is masked. */
function closeCodeIn(bytes: Buffer): number {
  const at = bytes.indexOf(Buffer.from([0x88, 0x82]));
  assert.ok(at >= 0, `a Close frame in ${bytes.toString('hex')}`);
  return ((bytes[at + 6]! ^ bytes[at + 2]!) << 8) | (bytes[at + 7]! ^ bytes[at + 3]!);
}

test('a WebSocket is closed with 1001 on both sides when the gateway stops', async () => {
  const child = await startChild({ directory: fresh() });
  const url = await publish(child);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/chat`);
  await once(socket, 'open');
  const upstream = sockets.length - 1;
  const closed = once(socket, 'close') as Promise<[CloseEvent]>;
  const ended = child.stop();
  const [{ code, wasClean }] = await closed;
  assert.deepEqual([code, wasClean], [1001, true]);
  assert.equal((await ended).code, 0);
  assert.equal(closeCodeIn(received[upstream]!), 1001);
});

test('a frame in transit is completed before the Close frame, and no frame follows it', async () => {
  const child = await startChild({ directory: fresh() });
  const url = new URL(await publish(child));
  const one = await call(Number(url.port));
  one.send(
    `GET ${url.pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  await one.until(/\r\n\r\n$/);
  const upstream = sockets.length - 1;
  const head = Buffer.from([0x81, 0x85, 0, 0, 0, 0]);
  one.socket.write(Buffer.concat([head, Buffer.from('he')]));
  await eventually(() => received[upstream]!.length === 8, 'the first half arrived');
  const ended = child.stop();
  // The last byte of 1001.
  await one.until(/\u00e9$/);
  assert.equal(received[upstream]!.length, 8, 'no Close frame inside of another frame');
  // The rest of the frame, one frame that is too late, and the reply to the Close frame.
  one.socket.write(
    Buffer.concat([Buffer.from('llo'), head, Buffer.from('later'), Buffer.from([0x88, 0x80, 0, 0, 0, 0])]),
  );
  await one.closed;
  assert.equal((await ended).code, 0);
  assert.equal(received[upstream]!.subarray(6, 11).toString(), 'hello');
  assert.equal(received[upstream]!.length, 11 + 8);
  assert.equal(closeCodeIn(received[upstream]!.subarray(11)), 1001);
  one.leave();
});

test('a peer that does not answer the Close frame delays the shutdown by at most half of the grace period', async () => {
  const child = await startChild({ directory: fresh(), environment: { GW_SHUTDOWN_GRACE_SECONDS: '4' } });
  const url = await publish(child);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mute`);
  await once(socket, 'open');
  const closed = once(socket, 'close') as Promise<[CloseEvent]>;
  const ended = child.stop();
  assert.equal((await closed)[0].code, 1001);
  assert.equal((await ended).code, 0);
});

test('shutdown.delay_seconds: /ready returns 503 on every listener while requests are still served', async () => {
  const child = await startChild({ directory: fresh(), environment: { GW_SHUTDOWN_DELAY_SECONDS: '2' } });
  const url = await publish(child);
  const ended = child.stop();
  for (const base of Object.values(child.urls))
    await eventually(async () => (await fetch(`${base}/ready`)).status === 503, `${base} is not ready`);
  const reply = await fetch(url, { headers: { connection: 'close' } });
  assert.deepEqual([reply.status, await reply.text()], [200, 'served']);
  assert.equal((await child.ask('GET', '/gw/apis')).status, 200);
  assert.equal((await fetch(`${child.urls.gateway}/live`)).status, 200);
  assert.equal((await ended).code, 0);
});
