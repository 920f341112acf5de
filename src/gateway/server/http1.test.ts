import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { statusesIn } from '../../../tests/hostile/raw.ts';
import {
  type Handler,
  type HarnessOptions,
  respondWith,
  startTransport,
} from '../../../tests/support/http1-transport.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { createHttp1Transport } from './http1.ts';

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const maxLingerBytes = 1_048_576;

const start = (t: TestContext, handle: Handler, options?: HarnessOptions) =>
  startTransport(t, createHttp1Transport, handle, options);
const respondOk: Handler = (_call, writer) => respondWith(writer, 'ok');
const respondWithBody: Handler = async (call, writer) => respondWith(writer, `<${await call.body.read(1000)}>`);

/** Resolves after the time, in the order of the other timeouts of this process. */
const expire = (timeoutMs: number) =>
  new Promise<void>(resolve => new TimeoutQueue(timeoutMs).start({ expiresAtMs: 0, onTimeout: resolve }));

/** Lets the process read what has arrived, should a timeout expire late. */
async function readPending(): Promise<'late'> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  return 'late';
}

const countTimers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;

/** Particulars of this adapter; `tests/transport.test.ts` is the contract of all HTTP/1.1 transports. */
describe('HTTP/1.1 on node:http: closing', () => {
  test('a refused body is drained up to 1 MiB, for longer than it takes to arrive', async t => {
    const { open } = await start(t, respondOk);
    const client = await open();
    client.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${4 * maxLingerBytes}\r\n\r\n`);
    await client.closed;
    assert.match(client.received(), /Connection: close\r\n[\s\S]*ok$/);
    await expire(300);
    assert.equal(client.accepted.destroyed, false);
    const before = client.accepted.bytesRead;
    client.send(Buffer.alloc(maxLingerBytes));
    await eventually(() => assert.equal(client.accepted.bytesRead, before + maxLingerBytes));
    await new Promise(setImmediate);
    assert.equal(client.accepted.destroyed, false);
    client.send(Buffer.alloc(1));
    await once(client.accepted, 'close');
    assert.equal(client.accepted.bytesRead, before + maxLingerBytes + 1);
  });

  test('the end of a refused body closes the connection, and no timer remains', async t => {
    const timers = countTimers();
    const { open } = await start(t, respondOk);
    const client = await open();
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab');
    await client.closed;
    const closed = once(client.accepted, 'close');
    client.send('cd');
    assert.notEqual(await Promise.race([closed, expire(4000).then(readPending)]), 'late');
    assert.equal(countTimers(), timers);
  });

  test('bytes that are no request get 400, and no timer remains when the connection is closed', async t => {
    const timers = countTimers();
    let disconnects = 0;
    const { open } = await start(t, (call, writer) => {
      call.onDisconnect = () => disconnects++;
      respondWith(writer, 'ok');
    });
    const client = await open();
    client.send(get);
    await client.until(/ok$/);
    client.send('no request\r\n\r\n');
    await client.closed;
    const [, refusal] = client.received().split('\r\n\r\nok');
    assert.match(refusal!, /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\nConnection: close\r\n\r\nBad Request: /);
    assert.doesNotMatch(refusal!, /undefined/);
    for (const line of refusal!.split('\r\n\r\n')[0]!.split('\r\n').slice(1)) assert.match(line, /^[A-Za-z-]+: \S/);
    client.socket.end();
    await once(client.accepted, 'close');
    assert.deepEqual([countTimers(), disconnects], [timers, 0]);
  });

  test('an invalid body aborts its request once; behind a begun response the connection is reset', async t => {
    for (const hasBegun of [false, true]) {
      let disconnects = 0;
      const { open } = await start(t, (call, writer) => {
        call.onDisconnect = () => disconnects++;
        call.body.read(1000).catch(() => undefined);
        if (!hasBegun) return;
        writer.writeHead(200, []);
        writer.write(Buffer.from('begun'));
      });
      const client = await open();
      client.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
      if (hasBegun) await client.until(/begun/);
      client.send('ZZ\r\n');
      await client.closed;
      assert.deepEqual(statusesIn(client.received()), [hasBegun ? 200 : 400]);
      client.leave();
      await eventually(() => assert.equal(client.accepted.destroyed, true));
      await eventually(() => assert.ok(disconnects > 0));
      assert.equal(disconnects, 1);
    }
  });

  test('on shutdown an upgraded connection is closed by its owner, or destroyed without one', async t => {
    for (const hasOwner of [true, false]) {
      let requests = 0;
      const goAway = hasOwner ? () => void requests++ : undefined;
      const { open, transport } = await start(t, (_call, writer) => {
        const duplex = writer.switchProtocol!(['Connection', 'Upgrade', 'Upgrade', 'websocket'], goAway);
        duplex.on('data', chunk => duplex.write(chunk));
      });
      const client = await open();
      client.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhi');
      await client.until(/\r\n\r\nhi$/);
      transport.close();
      assert.deepEqual([requests, client.accepted.destroyed], hasOwner ? [1, false] : [0, true]);
    }
  });

  test('a client that leaves after its response, or after an upgrade, disconnects no request', async t => {
    for (const request of [get, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n']) {
      let disconnects = 0;
      const { open } = await start(t, (call, writer) => {
        call.onDisconnect = () => disconnects++;
        if (call.upgrade === '') return respondWith(writer, 'ok');
        const duplex = writer.switchProtocol!(['Connection', 'Upgrade', 'Upgrade', 'websocket']);
        duplex.on('end', () => duplex.end()).resume();
        duplex.write('ok');
      });
      const client = await open();
      client.send(request);
      await client.until(/ok$/);
      client.leave();
      await once(client.accepted, 'close');
      await new Promise(setImmediate);
      assert.equal(disconnects, 0);
    }
  });

  test('an error of an upgraded connection closes it and raises no unhandled error', async t => {
    const { open } = await start(t, (_call, writer) => {
      writer.switchProtocol!(['Connection', 'Upgrade', 'Upgrade', 'websocket']);
    });
    const client = await open();
    client.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await client.until(/101/);
    client.accepted.destroy(new Error('reset'));
    await client.closed;
  });

  test('a connection that arrives after the shutdown is closed without a response', async t => {
    const { open, transport } = await start(t, respondOk);
    transport.close();
    const client = await open();
    assert.equal(client.accepted.destroyed, true);
  });

  test('the shutdown of a port closes its idle connections, and no others', async t => {
    const { open, transport } = await start(t, respondOk);
    const [closing, remaining] = [await open(8081), await open(8082)];
    for (const client of [closing, remaining]) {
      client.send(get);
      await client.until(/ok$/);
    }
    transport.closePort(8081);
    await closing.closed;
    remaining.send(get);
    await remaining.until(/ok[\s\S]*ok$/);
  });
});

describe('HTTP/1.1 on node:http: limits', () => {
  test('the connection pauses at 100 pipelined requests, and all of them are answered', async t => {
    const waiting: (() => void)[] = [];
    let answered = 0;
    const { open } = await start(t, (_call, writer) => void waiting.push(() => respondWith(writer, `<${++answered}>`)));
    const client = await open();
    client.send(get.repeat(100));
    await eventually(() => assert.equal(waiting.length, 1));
    assert.equal(client.accepted.isPaused(), false);
    client.send(get);
    await eventually(() => assert.equal(client.accepted.isPaused(), true));
    client.send(get);
    for (let number = 1; number <= 102; number++) {
      await eventually(() => assert.equal(waiting.length, 1));
      waiting.pop()!();
    }
    await client.until(/<102>$/);
  });

  test('a transport of single requests handles one, and ignores those pipelined after it', async t => {
    let calls = 0;
    const { open } = await start(
      t,
      (_call, writer) => {
        calls++;
        respondWith(writer, 'ok');
      },
      { closesAfterResponse: true },
    );
    const client = await open();
    client.send(get + get);
    await client.closed;
    assert.deepEqual([statusesIn(client.received()), calls], [[200], 1]);
    assert.match(client.received(), /Connection: close\r\n/);
  });

  test('a client that reads nothing is disconnected after the write timeout', async t => {
    const disconnected = Promise.withResolvers<void>();
    const handle: Handler = (call, writer) => {
      call.onDisconnect = () => disconnected.resolve();
      writer.writeHead(200, []);
      writer.onDrain = () => {
        while (!call.isClientDisconnected && writer.write(Buffer.alloc(1_000_000)));
      };
      writer.onDrain();
    };
    const { open } = await start(t, handle, { limits: { writeTimeoutMs: 100 } });
    const client = await open();
    client.socket.pause();
    client.send(get);
    await disconnected.promise;
  });

  test('timeouts are checked after all connections have left', async t => {
    const { open } = await start(t, respondOk, { limits: { headersTimeoutMs: 50 } });
    const first = await open();
    first.leave();
    await once(first.accepted, 'close');
    const client = await open();
    client.send('GET / HT');
    await client.closed;
    assert.deepEqual(statusesIn(client.received()), [408]);
  });

  for (const [name, limits] of [
    ['without a request timeout a body may take longer than a head', { headersTimeoutMs: 1000, requestTimeoutMs: 0 }],
    ['a request timeout below that of the head is the one of the head', { requestTimeoutMs: 50 }],
  ] as const)
    test(name, async t => {
      const { open } = await start(t, respondWithBody, { limits });
      const client = await open();
      client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab');
      await expire(2500);
      client.send('cd');
      await client.until(/<abcd>$/);
    });

  test('without a half-close timeout a client that ends its side gets the end at once', async t => {
    const { open } = await start(t, () => undefined, { limits: { halfCloseTimeoutMs: 0 } });
    const client = await open();
    const ended = Promise.withResolvers<boolean>();
    client.socket.end(get);
    client.accepted.once('end', () => ended.resolve(client.accepted.writable));
    assert.equal(await ended.promise, false);
  });

  test('as many headers as allowed arrive, one more is refused', async t => {
    const { open } = await start(t, (call, writer) => respondWith(writer, `<${call.headers.flat.length / 2}>`));
    for (const [count, response] of [
      [50, /^HTTP\/1\.1 200 OK[\s\S]*<50>$/],
      [51, /^HTTP\/1\.1 431 /],
    ] as const) {
      const client = await open();
      client.send(`GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(count - 1)}\r\n`);
      await client.until(response);
    }
  });
});

describe('HTTP/1.1 on node:http: requests', () => {
  for (const [name, head, response] of [
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\n\r\nBad Request: /],
    [
      'two ends of the body',
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    ['the method CONNECT', 'CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n', /^HTTP\/1\.1 405 Method Not Allowed\r\n/],
  ] as const)
    test(`a request with ${name} is refused, and the connection closes`, async t => {
      const { open } = await start(t, respondOk);
      const client = await open();
      client.send(head);
      await client.closed;
      assert.match(client.received(), response);
      assert.deepEqual(statusesIn(client.received()).length, 1);
    });

  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
  for (const [name, head, webSockets] of [
    ['a transport without WebSockets', `GET / HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`, false],
    ['another method', `POST / HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`, true],
    ['HTTP/1.0', `GET / HTTP/1.0\r\nHost: x\r\n${upgrade}\r\n`, true],
    ['an empty body', `GET / HTTP/1.1\r\nHost: x\r\n${upgrade}Content-Length: 0\r\n\r\n`, true],
    ['a chunked body', `GET / HTTP/1.1\r\nHost: x\r\n${upgrade}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, true],
  ] as const)
    test(`an upgrade with ${name} is an ordinary request`, async t => {
      const handle: Handler = async (call, writer) => {
        await call.body.read(1000);
        respondWith(writer, `upgrade:${call.upgrade}.`);
      };
      const { open } = await start(t, handle, { webSockets });
      const client = await open();
      client.send(head);
      await client.until(/upgrade:\.$/);
    });

  test('a refused upgrade gets a response that closes the connection', async t => {
    const { open } = await start(t, respondOk);
    const client = await open();
    client.send(`GET / HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`);
    await client.closed;
    assert.match(client.received(), /^HTTP\/1\.1 200 OK\r\n[\s\S]*Connection: close\r\n[\s\S]*ok$/);
  });

  test('a response with status 204 has no Content-Length, and its other headers', async t => {
    const { open } = await start(t, (_call, writer) => {
      writer.writeHead(204, ['Content-Length', '0', 'X-A', '1', 'content-length', '0', 'X-B', '2']);
      writer.end();
    });
    const client = await open();
    client.send(get);
    await client.until(/\r\n\r\n$/);
    assert.match(client.received(), /^HTTP\/1\.1 204 No Content\r\nX-A: 1\r\nX-B: 2\r\n/);
    assert.doesNotMatch(client.received(), /content-length/i);
  });

  test('a response with an interim status is replaced by 500', async t => {
    const { open, writeErrors } = await start(t, (_call, writer) => {
      writer.writeHead(150, []);
      writer.end();
    });
    const client = await open();
    client.send(get);
    await client.until(/^HTTP\/1\.1 500 Internal Server Error\r\n[\s\S]*\r\n\r\n/);
    assert.equal(writeErrors.length, 1);
  });

  test('a response without trailers ends as others do for a client with TE: trailers', async t => {
    const { open } = await start(t, (_call, writer) => {
      writer.writeHead(200, []);
      writer.end(Buffer.from('ok'));
    });
    const client = await open();
    client.send('GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n');
    await client.until(/\r\n2\r\nok\r\n0\r\n\r\n$/);
  });
});
