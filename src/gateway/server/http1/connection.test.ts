import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { statusesIn } from '../../../../tests/hostile/raw.ts';
import {
  type Handler,
  type HarnessOptions,
  respondWith,
  startTransport,
} from '../../../../tests/support/http1-transport.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import { createNativeTransport } from './native-transport.ts';

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const post = (length: number) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;
const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
const upgrade = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const maxLingerBytes = 33_554_432;

const start = (t: TestContext, handle: Handler, options?: HarnessOptions) =>
  startTransport(t, createNativeTransport, handle, options);
const respondOk: Handler = (_call, writer) => respondWith(writer, 'ok');

/** Resolves after the time, in the order of the other timeouts of this process. */
const expire = (timeoutMs: number) =>
  new Promise<void>(resolve => new TimeoutQueue(timeoutMs).start({ expiresAtMs: 0, onTimeout: resolve }));

/** Lets the process read what has arrived, should a timeout expire late. */
async function readPending(): Promise<'late'> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  return 'late';
}

describe('HTTP/1.1 connection: half-close', () => {
  for (const [name, requests, statuses] of [
    ['after a request', get, [200]],
    ['after two requests', get + get, [200, 200]],
    ['after an empty line', `${get}\r\n`, [200]],
    ['inside a head', `${get}GET / HT`, [200, 400]],
    ['inside a body', `${get}${post(9)}half`, [200]],
  ] as const)
    test(`a client that ends ${name} gets the responses to its complete requests`, async t => {
      const go = Promise.withResolvers<void>();
      let disconnects = 0;
      const { open } = await start(t, async (call, writer) => {
        call.onDisconnect = () => disconnects++;
        await go.promise;
        if (call.body.isEmpty) respondWith(writer, 'ok');
      });
      const client = await open();
      client.accepted.once('end', () => go.resolve());
      client.socket.end(requests);
      await client.closed;
      await eventually(() => assert.equal(client.accepted.closed, true));
      assert.deepEqual(statusesIn(client.received()), statuses);
      const [first] = client.received().split('ok');
      assert.equal(/Connection: close\r\n/.test(first!), requests === get);
      assert.equal(disconnects, name === 'inside a body' ? 1 : 0);
    });

  test('an idle client that ends its side is disconnected, before and after a request', async t => {
    for (const requests of ['', get]) {
      const { open } = await start(t, respondOk);
      const client = await open();
      if (requests !== '') client.send(requests);
      if (requests !== '') await client.until(/ok$/);
      client.socket.end();
      await client.closed;
    }
  });

  test('a client that ends its side while its upgrade is decided is disconnected', async t => {
    const disconnected = Promise.withResolvers<boolean>();
    const { open } = await start(t, call => {
      call.onDisconnect = () => disconnected.resolve(call.isClientDisconnected);
    });
    const client = await open();
    client.socket.end(upgrade);
    assert.equal(await disconnected.promise, true);
  });
});

describe('HTTP/1.1 connection: pipelining', () => {
  for (const isHalfClosed of [false, true])
    test(`a response that waits for the client delays the next request${isHalfClosed ? ', also half-closed' : ''}`, async t => {
      const bytes = 20_000_000;
      let calls = 0;
      const { open } = await start(t, (call, writer) => {
        calls++;
        respondWith(writer, call.query === 'last' ? 'last' : 'x'.repeat(bytes));
      });
      const client = await open();
      client.socket.pause();
      client.send(`${get}GET /?last HTTP/1.1\r\nHost: x\r\n${isHalfClosed ? '' : 'Connection: close\r\n'}\r\n`);
      if (isHalfClosed) {
        const ended = once(client.accepted, 'end');
        client.socket.end();
        await ended;
      } else await eventually(() => assert.ok(client.accepted.writableNeedDrain));
      assert.equal(calls, 1);
      client.socket.resume();
      await client.closed;
      const received = client.received();
      assert.ok(received.length > bytes);
      assert.match(received.slice(-500), /xHTTP[\s\S]*\r\n\r\nlast$/);
    });

  test('thousands of requests of one read are answered one after the other, not inside each other', async t => {
    let depth = 0;
    let maxDepth = 0;
    let count = 0;
    const { open } = await start(t, (_call, writer) => {
      maxDepth = Math.max(maxDepth, ++depth);
      respondWith(writer, `<${++count}>`);
      depth--;
    });
    const client = await open();
    client.send(get.repeat(2000));
    await client.until(/<2000>$/);
    assert.equal(maxDepth, 1);
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
  });
});

describe('HTTP/1.1 connection: request bodies', () => {
  for (const [name, request, isAsync] of [
    ['a complete body that was refused unread', `${post(2)}ab`, false],
    ['an incomplete body', `${post(9)}half`, false],
    ['an incomplete body that was refused later', `${post(9)}half`, true],
  ] as const)
    test(`the response to ${name} is the last of the connection`, async t => {
      const { open } = await start(t, async (_call, writer) => {
        if (isAsync) await new Promise(setImmediate);
        respondWith(writer, 'no');
      });
      const client = await open();
      client.send(request);
      await client.closed;
      assert.match(client.received(), /Connection: close\r\n\r\nno$/);
    });

  test('a refused body is drained up to 32 MiB', async t => {
    const { open } = await start(t, respondOk);
    const client = await open();
    client.send(post(4 * maxLingerBytes));
    await client.closed;
    const before = client.accepted.bytesRead;
    client.send(Buffer.alloc(maxLingerBytes));
    await eventually(() => assert.equal(client.accepted.bytesRead, before + maxLingerBytes));
    await new Promise(setImmediate);
    assert.equal(client.accepted.destroyed, false);
    const closed = once(client.accepted, 'close');
    client.send(Buffer.alloc(1));
    assert.notEqual(await Promise.race([closed, expire(4000).then(readPending)]), 'late');
  });

  test('an invalid body aborts its request once, in any read; behind a begun response the connection is reset', async t => {
    for (const [sent, hasBegun] of [
      [[`${chunked}ZZ\r\n`], false],
      [[`${chunked}1\r\na\r\n`, 'ZZ\r\n'], false],
      [[`${chunked}1\r\na\r\n`, 'ZZ\r\n'], true],
    ] as const) {
      const disconnects: boolean[] = [];
      let calls = 0;
      const { open } = await start(t, (call, writer) => {
        if (++calls === 1) return respondWith(writer, 'first');
        call.onDisconnect = () => disconnects.push(call.isClientDisconnected);
        call.body.read(1000).catch(() => undefined);
        if (!hasBegun) return;
        writer.writeHead(200, []);
        writer.write(Buffer.from('begun'));
      });
      const client = await open();
      client.send(get);
      await client.until(/first$/);
      client.send(sent[0]);
      await eventually(() => assert.equal(calls, 2));
      if (sent[1] !== undefined) client.send(sent[1]);
      await client.closed;
      assert.deepEqual(statusesIn(client.received()), [200, hasBegun ? 200 : 400]);
      client.leave();
      await eventually(() => assert.equal(client.accepted.closed, true));
      assert.deepEqual(disconnects, [true]);
    }
  });

  test('a body that is read after the response head gets no 100 Continue', async t => {
    const { open } = await start(t, async (call, writer) => {
      writer.writeHead(200, []);
      writer.write(Buffer.from('begun'));
      writer.end(await call.body.read(1000));
    });
    const client = await open();
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n');
    await client.until(/begun/);
    client.send('body');
    await client.until(/body\r\n0\r\n\r\n$/);
    assert.deepEqual(statusesIn(client.received()), [200]);
  });

  test('an unknown expectation of HTTP/1.0 is ignored', async t => {
    const { open } = await start(t, respondOk);
    const client = await open();
    client.send('GET / HTTP/1.0\r\nExpect: tea\r\n\r\n');
    await client.until(/ok$/);
  });
});

describe('HTTP/1.1 connection: timeouts and disconnects', () => {
  test('a head that arrives byte by byte exceeds its timeout all the same', async t => {
    const { open } = await start(t, respondOk, { limits: { headersTimeoutMs: 300 } });
    const client = await open();
    client.send('GET / HTTP/1.1\r\nX: ');
    const trickle = setInterval(() => client.send('x'), 20);
    t.after(() => clearInterval(trickle));
    await client.closed;
    assert.deepEqual(statusesIn(client.received()), [408]);
  });

  test('the request timeout begins with the head, is not restarted by the body, and fails its reader', async t => {
    const limits = { headersTimeoutMs: 2000, requestTimeoutMs: 2000 };
    const outcome = Promise.withResolvers<unknown>();
    let disconnects = 0;
    const handle: Handler = call => {
      call.onDisconnect = () => disconnects++;
      call.body.read(1000).then(outcome.resolve, outcome.resolve);
    };
    const { open } = await start(t, handle, { limits });
    const client = await open();
    client.send(post(9).slice(0, -2));
    await eventually(() => assert.ok(client.accepted.bytesRead > 0));
    await expire(1000);
    client.send('\r\nhalf');
    await expire(1500);
    assert.deepEqual([client.accepted.writableEnded, disconnects], [true, 1]);
    assert.ok((await outcome.promise) instanceof Error);
    await client.closed;
    assert.deepEqual(statusesIn(client.received()), [408]);
  });

  test('a client that leaves after its response, or after an upgrade, disconnects no request', async t => {
    for (const request of [get, upgrade]) {
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
      assert.equal(disconnects, 0);
    }
  });

  test('on shutdown an upgraded connection is closed by its owner, or destroyed without one', async t => {
    for (const hasOwner of [true, false]) {
      let requests = 0;
      const goAway = hasOwner ? () => void requests++ : undefined;
      const { open, transport } = await start(t, (_call, writer) => {
        writer.switchProtocol!(['Connection', 'Upgrade', 'Upgrade', 'websocket'], goAway);
      });
      const client = await open();
      client.send(upgrade);
      await client.until(/101[\s\S]*\r\n\r\n$/);
      transport.close();
      assert.deepEqual([requests, client.accepted.destroyed], hasOwner ? [1, false] : [0, true]);
    }
  });

  test('an upgrade is an ordinary request of a transport without WebSockets', async t => {
    const { open } = await start(t, (call, writer) => respondWith(writer, `upgrade:${call.upgrade}.`), {
      webSockets: false,
    });
    const client = await open();
    client.send(upgrade + get);
    await client.until(/upgrade:\.HTTP[\s\S]*upgrade:\.$/);
  });
});
