import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import { createClientClaims } from '../../http/client-claims.ts';
import { createClientAddressResolver } from '../../pipeline/client-address.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import { createListener, type Listener } from '../listener.ts';
import type { Transport } from '../transport.ts';
import { createNativeTransport } from './native-transport.ts';

type Handler = (call: Exchange, writer: ResponseWriter) => void | Promise<void>;

const respond = (writer: ResponseWriter, body: string, headers: readonly string[] = []) => {
  writer.writeHead(200, ['Content-Length', String(body.length), ...headers]);
  writer.end(Buffer.from(body));
};

const readBody = async (call: Exchange) => (await call.body.read(10_000_000)).toString('latin1');

/** Particulars of this engine; `tests/transport.test.ts` is the contract of all HTTP/1.1 transports. */
describe('HTTP/1.1 engine, server side', () => {
  let transport: Transport;
  let listener: Listener;
  let port = 0;
  let handler: Handler = (_call, writer) => respond(writer, 'ok');
  let now = systemClock.now;
  const writeErrors: Error[] = [];
  const sockets: Socket[] = [];

  const createTransport = (writeTimeoutMs: number) =>
    createNativeTransport({
      handler: { handle: (call, writer) => void handler(call, writer) },
      clock: { ...systemClock, now: () => now() },
      paths: { keepEncodedSlashes: false, keepDoubleEncoding: false },
      clientAddress: createClientAddressResolver([]),
      isClientClaim: createClientClaims([]),
      limits: {
        maxHeaderBytes: 8192,
        maxHeaders: 50,
        headersTimeoutMs: 1000,
        requestTimeoutMs: 1500,
        bodyRate: { minBytesPerSecond: 0, windowMs: 1000 },
        keepAliveTimeoutMs: 100,
        halfCloseTimeoutMs: 20_000,
        writeTimeoutMs,
      },
      webSockets: true,
      onWriteError: error => void writeErrors.push(error),
    });

  before(async () => {
    transport = createTransport(20_000);
    listener = createListener({ http1: transport, apiPort: 0, firstByteTimeoutMs: 5000, maxConnections: 100 });
    port = await listener.listen({ host: '127.0.0.1', port: 0, reusePort: false });
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    transport.close();
    await listener.close();
  });

  /** Sends parts, each when the one before was written, and collects all bytes until the other side closes. */
  async function exchange(...parts: readonly (string | Buffer)[]): Promise<string> {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.push(socket);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
    await once(socket, 'connect');
    for (const part of parts)
      await new Promise(resolve =>
        socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part, resolve),
      );
    if (!socket.closed) await once(socket, 'close');
    return Buffer.concat(chunks).toString('latin1');
  }

  test('a response has the date of its own second', async () => {
    handler = (_call, writer) => respond(writer, 'ok');
    const readDate = async (time: string) => {
      now = () => Date.parse(time);
      return /^Date: (.*)\r$/m.exec(await exchange('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'))?.[1];
    };
    assert.equal(await readDate('2031-01-02T03:04:05.100Z'), 'Thu, 02 Jan 2031 03:04:05 GMT');
    assert.equal(await readDate('2031-01-02T03:04:05.900Z'), 'Thu, 02 Jan 2031 03:04:05 GMT');
    assert.equal(await readDate('2031-01-02T03:04:06.000Z'), 'Thu, 02 Jan 2031 03:04:06 GMT');
    now = systemClock.now;
  });

  for (const [name, body] of [
    ['shorter', 'abc'],
    ['longer', 'abcdef'],
  ] as const)
    test(`a response ${name} than its content-length ends the connection`, async () => {
      handler = (_call, writer) => {
        writer.writeHead(200, ['Content-Length', '5']);
        writer.write(Buffer.from('a'));
        writer.end(Buffer.from(body.slice(1)));
      };
      const received = await exchange('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n');
      assert.equal(received.split('HTTP/1.1 ').length, 2);
    });

  test('headers that frame the response are those of the writer', async () => {
    handler = (_call, writer) => {
      const framing = ['transfer-encoding', 'gzip', 'Keep-Alive', 'timeout=999', 'connection', 'x, close'];
      respond(writer, 'ok', [...framing, 'Date', 'now']);
    };
    const received = await exchange('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.equal(received, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: now\r\nConnection: close\r\n\r\nok');
  });

  for (const [name, status, headers] of [
    ['two content-lengths', 200, ['Content-Length', '2', 'content-length', '2']],
    ['a content-length that is no number', 200, ['Content-Length', '+2']],
    ['an interim status', 101, []],
    ['a status beyond all', 1000, []],
  ] as const)
    test(`a response with ${name} is replaced by 500`, async () => {
      writeErrors.length = 0;
      handler = (_call, writer) => {
        writer.writeHead(status, [...headers]);
        writer.end(Buffer.from('ok'));
      };
      const received = await exchange('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      assert.match(received, /^HTTP\/1\.1 500 Internal Server Error\r\nContent-Length: 0\r\n[\s\S]*\r\n\r\n$/);
      assert.equal(writeErrors.length, 1);
    });

  test('invalid trailers are left out, and the response ends', async () => {
    writeErrors.length = 0;
    handler = (_call, writer) => {
      writer.writeHead(200, []);
      writer.end(Buffer.from('ok'), ['X-Bad', 'a\r\nb']);
    };
    const received = await exchange('GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nConnection: close\r\n\r\n');
    assert.match(received, /\r\n\r\n2\r\nok\r\n0\r\n\r\n$/);
    assert.equal(writeErrors.length, 1);
  });

  test('requests that arrive byte by byte are read, with chunks and without', async () => {
    handler = async (call, writer) => respond(writer, `<${await readBody(call)}>`);
    const text =
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n' +
      '\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\ndef';
    const received = await exchange(...text);
    assert.match(received, /<abc>HTTP[\s\S]*<def>$/);
  });

  test('a pipelined body larger than the read-ahead waits, and is read after the response before it', async () => {
    const first = Promise.withResolvers<void>();
    handler = async (call, writer) => {
      if (call.path === '/1') await first.promise;
      respond(writer, String((await readBody(call)).length));
    };
    const body = Buffer.alloc(2_000_000, 'x');
    const head = `POST /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    const received = exchange('GET /1 HTTP/1.1\r\nHost: x\r\n\r\n', head, body);
    setImmediate(() => first.resolve());
    assert.match(await received, /\r\n\r\n0HTTP[\s\S]*\r\n\r\n2000000$/);
  });

  test('a hundred small pipelined requests are answered in order', async () => {
    handler = (call, writer) => void setImmediate(() => respond(writer, `${call.query}.`));
    const requests = Array.from({ length: 100 }, (_none, n) => `GET /?${n} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const received = await exchange(requests.join(''), 'GET /?end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const numbers = [...received.matchAll(/\r\n\r\n(\w+)\./g)].map(([, number]) => number);
    assert.deepEqual(numbers, [...Array.from({ length: 100 }, (_none, n) => String(n)), 'end']);
  });

  test('pipelined requests beyond the read-ahead stay in the network while a response is in progress', async t => {
    const first = Promise.withResolvers<void>();
    handler = async (call, writer) => {
      if (call.query === '0') await first.promise;
      respond(writer, `${call.query}.`);
    };
    const accepted = Promise.withResolvers<Socket>();
    const server = createServer({ noDelay: true }, socket => {
      transport.accept(socket, 0);
      accepted.resolve(socket);
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    sockets.push(client);
    let received = '';
    client.on('data', chunk => {
      received += chunk.toString('latin1');
    });
    const padding = 'x'.repeat(1000);
    for (let n = 0; n < 1000; n++) client.write(`GET /?${n} HTTP/1.1\r\nHost: x\r\nX: ${padding}\r\n\r\n`);
    const socket = await accepted.promise;
    await eventually(() => assert.ok(socket.isPaused()));
    // A read is at most 64 KiB: one may begin below the bound.
    assert.ok(socket.bytesRead <= 2 * 65_536, `${socket.bytesRead} bytes read`);
    assert.equal(received, '');
    first.resolve();
    await eventually(() => assert.ok(received.endsWith('999.')));
    const numbers = [...received.matchAll(/\r\n\r\n(\w+)\./g)].map(([, number]) => Number(number));
    assert.deepEqual(
      numbers,
      Array.from({ length: 1000 }, (_none, n) => n),
    );
  });

  test('a refusal of HEAD has no body', async () => {
    const received = await exchange('HEAD /%zz HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(received, /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\n\r\n$/);
  });

  test('a request body that exceeds its timeout gets 408', async () => {
    handler = call => void readBody(call).catch(() => undefined);
    const received = await exchange('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf');
    assert.match(received, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  });

  test('a later request of a connection has the timeout too', async () => {
    const begun = Promise.withResolvers<void>();
    handler = async (call, writer) => {
      begun.resolve();
      const body = await readBody(call).catch(() => undefined);
      if (body !== undefined) respond(writer, 'ok');
    };
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.push(socket);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na');
    await begun.promise;
    socket.write('bPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf');
    await once(socket, 'close');
    assert.match(received, /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nokHTTP\/1\.1 408 Request Timeout\r\n/);
  });

  test('an idle connection is closed after the keep-alive timeout, which the response announces', async () => {
    handler = (_call, writer) => respond(writer, 'ok');
    const received = await exchange('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(received, /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=0\r\n\r\nok$/);
  });

  test('HTTP/1.0 with keep-alive keeps the connection for a response with a length', async () => {
    handler = (_call, writer) => respond(writer, 'ok');
    const request = 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n';
    const received = await exchange(request + request);
    assert.equal(received.split('Connection: keep-alive').length, 3);
  });

  for (const [name, request] of [
    ['after the last response', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['after a response before the request body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf'],
  ] as const)
    test(`a client that stops reading ${name} is disconnected`, { timeout: 10_000 }, async t => {
      const blocking = createTransport(200);
      const accepted = Promise.withResolvers<Socket>();
      const server = createServer(socket => {
        blocking.accept(socket, 0);
        t.after(() => socket.destroy());
        accepted.resolve(socket);
      }).listen(0, '127.0.0.1');
      t.after(() => server.close());
      await once(server, 'listening');
      handler = async (_call, writer) => {
        const socket = await accepted.promise;
        writer.writeHead(200, []);
        // Less than the high-water mark is left unsent: the writer need not wait.
        while (socket.writableLength === 0) {
          assert.equal(writer.write(Buffer.alloc(16_384)), true);
          await new Promise(setImmediate);
        }
        writer.end();
      };
      const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
      sockets.push(client);
      client.on('error', () => undefined).pause();
      client.write(request);
      await once(await accepted.promise, 'close');
    });

  test('bytes of a client that reads nothing do not restart the write timeout', { timeout: 10_000 }, async t => {
    const blocking = createTransport(300);
    const server = createServer(socket => {
      blocking.accept(socket, 0);
      t.after(() => socket.destroy());
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const disconnected = Promise.withResolvers<void>();
    handler = (call, writer) => {
      call.onDisconnect = () => disconnected.resolve();
      writer.writeHead(200, []);
      writer.onDrain = () => {
        while (!call.isClientDisconnected && writer.write(Buffer.alloc(65_536)));
      };
      writer.onDrain();
    };
    const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    sockets.push(client);
    client.on('error', () => undefined).pause();
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const trickle = setInterval(() => client.write('G'), 50);
    t.after(() => clearInterval(trickle));
    await disconnected.promise;
  });
});
