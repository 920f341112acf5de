import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { openApi, publish } from '../support/traffic.ts';
import { eventually, startUpstream, type Upstream } from '../support/upstream.ts';

/** A TCP server that sends the bytes of the test. */
interface Hostile {
  readonly url: string;
  /** Connections on which a request arrived. */
  readonly sockets: Set<Socket>;
  /** Runs on a connection after its request. */
  says: (socket: Socket) => void;
  close(): Promise<void>;
}

async function startHostile(): Promise<Hostile> {
  const sockets = new Set<Socket>();
  const server: Server = createServer(socket => {
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => {
      sockets.add(socket);
      hostile.says(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostile: Hostile = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    says: socket => void socket.destroy(),
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return hostile;
}

const head = (...lines: string[]) =>
  `${['HTTP/1.1 200 OK', 'Content-Type: application/json', ...lines].join('\r\n')}\r\n\r\n`;
const template_source = Buffer.from('{"length": {{len .array}}}').toString('base64');

describe('Hostile upstreams', () => {
  let app: TestApp;
  let upstream: Upstream;
  let hostile: Hostile;
  let ordinary = '';
  let plain = '';
  let held = '';
  before(async () => {
    [upstream, hostile] = await Promise.all([startUpstream(), startHostile()]);
    app = await startApp('sqlite', {
      settings: { 'log.level': 'error', 'upstream.timeout_ms': '1000', 'gateway.max_buffered_body_bytes': '2097152' },
    });
    ordinary = await publish(app, openApi(upstream));
    plain = await publish(app, openApi(hostile));
    const extended_paths = {
      transform_response: [{ path: '/x', method: 'GET', template_data: { template_mode: 'blob', template_source } }],
    };
    const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths } };
    held = await publish(app, openApi(hostile, { version_data: { not_versioned: true, versions } }));
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    await hostile?.close();
  });

  /** Sends a request to this API and one to another API, which must not be delayed. */
  async function fetchBeside(url: string): Promise<{ status: number; text: string }> {
    const [reply, other] = await Promise.all([fetch(`${url}/x`), fetch(`${ordinary}/y`)]);
    assert.equal(other.status, 200);
    return { status: reply.status, text: await reply.text() };
  }

  const everyMs = (socket: Socket, text: string | Uint8Array) => {
    const timer = setInterval(() => socket.write(text), 5);
    socket.once('close', () => clearInterval(timer));
  };

  test('endless 1xx responses end in an error or a timeout', async () => {
    hostile.says = socket => everyMs(socket, 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n');
    assert.equal((await fetchBeside(plain)).status, 502);
    hostile.says = socket => void socket.write('HTTP/1.1 103 Early Hints\r\n\r\n');
    assert.equal((await fetchBeside(plain)).status, 504);
    await eventually(() => assert.equal(hostile.sockets.size, 0));
  });

  test('a body that never ends and must be buffered times out with 504', async () => {
    hostile.says = socket => void socket.write(`${head('Content-Length: 10')}[1`);
    assert.equal((await fetchBeside(held)).status, 504);
    await eventually(() => assert.equal(hostile.sockets.size, 0));
    hostile.says = socket => {
      socket.write(head('Transfer-Encoding: chunked'));
      everyMs(socket, '1\r\n \r\n');
    };
    assert.equal((await fetchBeside(held)).status, 504);
    await eventually(() => assert.equal(hostile.sockets.size, 0));
  });

  test('a few 103 responses before the final one are accepted', async () => {
    hostile.says = socket => {
      socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3));
      socket.end(`${head('Content-Length: 3')}[1]`);
    };
    assert.deepEqual(await fetchBeside(held), { status: 200, text: '{"length": 1}' });
    assert.deepEqual(await fetchBeside(plain), { status: 200, text: '[1]' });
  });

  test('a body sent byte by byte is buffered completely', async () => {
    const body = `[${'1,'.repeat(1200)}1]`;
    const chunked = Buffer.from(`${[...body].map(it => `1\r\n${it}\r\n`).join('')}0\r\n\r\n`);
    hostile.says = socket => {
      socket.write(head('Transfer-Encoding: chunked'));
      socket.end(chunked);
    };
    assert.deepEqual(await fetchBeside(held), { status: 200, text: '{"length": 1201}' });
  });

  test('a wrong length, an oversized head or an invalid status fails only its own request', async () => {
    for (const bytes of [
      `${head('Content-Length: 100')}[1]`,
      head('Content-Length: 3', 'Content-Length: 4'),
      `${head('Transfer-Encoding: chunked', 'Content-Length: 3')}3\r\n[1]\r\n0\r\n\r\n`,
      head(`X: ${'x'.repeat(1_000_000)}`),
      head(...Array.from({ length: 20_000 }, (_, at) => `X-${at}: y`)),
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 099 Odd\r\n\r\n',
      'SSH-2.0-x\r\n',
    ]) {
      hostile.says = socket => void socket.end(bytes);
      const { status } = await fetchBeside(held);
      assert.ok(status === 502 || status === 504, `${status}: ${bytes.slice(0, 80)}`);
    }
  });
});
