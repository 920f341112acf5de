import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  type DispatchHooks,
  type DispatchOptions,
  dispatchRequest,
  startRawUpstream,
} from '../../../../tests/support/raw-upstream.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import { createTestPool, type TestPoolOptions } from '../../../../tests/support/upstream-pool.ts';

const host = ['host', 'upstream.test'];
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

async function start(t: TestContext, options: TestPoolOptions = {}) {
  const upstream = await startRawUpstream(t);
  const pool = createTestPool(t, upstream.origin, options);
  const send = (given: DispatchOptions = {}, hooks: DispatchHooks = {}) => dispatchRequest(pool, given, hooks);
  return { upstream, send };
}

/** Body that is given chunk by chunk. */
function createSource() {
  const chunks: (string | Error)[] = [];
  let wake: () => void = () => undefined;
  const state = { isReturned: false, pulls: 0 };
  const push = (...more: (string | Error)[]) => {
    chunks.push(...more);
    wake();
  };
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        state.pulls++;
        while (chunks.length === 0)
          await new Promise<void>(resolve => {
            wake = resolve;
          });
        const chunk = chunks.shift()!;
        if (chunk instanceof Error) throw chunk;
        return chunk === '' ? { done: true, value: undefined } : { done: false, value: Buffer.from(chunk) };
      },
      async return() {
        state.isReturned = true;
        return { done: true, value: undefined };
      },
    }),
  };
  return { body, push, state };
}

const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4);
const linesOf = (text: string) => text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');

describe('HTTP/1.1 upstream requests', () => {
  test('the head has Host first and one Content-Length, as the number of bytes sent', async t => {
    const { upstream, send } = await start(t);
    await send({
      method: 'POST',
      path: '/a?b=%20',
      headers: ['X-One', '1', 'Host', 'a.test', 'content-length', '0002', 'x-two', '\xe9'],
      body: Buffer.from('{}'),
    });
    assert.deepEqual(linesOf(upstream.received[0]!), [
      'POST /a?b=%20 HTTP/1.1',
      'host: a.test',
      'connection: keep-alive',
      'X-One: 1',
      'x-two: \xe9',
      'content-length: 2',
    ]);
    assert.equal(bodyOf(upstream.received[0]!), '{}');
  });

  test('a request without a body has Content-Length: 0 only where the method expects one', async t => {
    const { upstream, send } = await start(t);
    for (const method of ['POST', 'PUT', 'PATCH', 'GET', 'DELETE', 'OPTIONS'] as const) {
      const before = upstream.received[0]?.length ?? 0;
      await send({ method, ...(method === 'PUT' ? { body: Buffer.alloc(0) } : {}) });
      const hasLength = linesOf(upstream.received[0]!.slice(before)).includes('content-length: 0');
      assert.equal(hasLength, /^P/.test(method), method);
    }
    assert.equal(upstream.connectionCount(), 1);
  });

  test('HEAD, and a body where none is expected, close the connection after the response', async t => {
    const { upstream, send } = await start(t);
    upstream.respond = socket => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    await send({ method: 'HEAD' });
    assert.ok(linesOf(upstream.received[0]!).includes('connection: close'));
    await send({ method: 'GET', body: Buffer.from('a') });
    await send();
    assert.equal(upstream.connectionCount(), 3);
    await eventually(() => assert.equal(upstream.sockets.size, 1));
  });

  for (const [title, given] of Object.entries({
    'a line break in a value': { headers: [...host, 'x', 'a\r\nb: c'] },
    'a NUL in a value': { headers: [...host, 'x', 'a\0'] },
    'a character beyond latin-1': { headers: [...host, 'x', '\u20ac'] },
    'a name that is no token': { headers: [...host, 'x y', 'z'] },
    'an empty name': { headers: [...host, '', 'z'] },
    'two hosts': { headers: [...host, 'Host', 'b.test'] },
    'no host': { headers: ['a', 'b'] },
    'a transfer coding': { headers: [...host, 'Transfer-Encoding', 'chunked'] },
    'connection options': { headers: [...host, 'Connection', 'x'] },
    'an upgrade': { headers: [...host, 'Upgrade', 'x'] },
    'an expectation': { headers: [...host, 'Expect', '100-continue'] },
    'a space in the path': { path: '/a b' },
    'a line break in the path': { path: '/a\r\nb' },
    'a path without a slash': { path: 'a' },
    'a method that is no token': { method: 'GE T' },
  } as Record<string, DispatchOptions>))
    test(`${title} is refused and nothing is sent`, async t => {
      const { upstream, send } = await start(t);
      await assert.rejects(async () => send(given), { code: /^(UND_ERR_INVALID_ARG|GW_HEADER_INVALID)$/ });
      assert.equal((await send()).body, 'ok');
      assert.match(upstream.received[0]!, /^GET \/ HTTP/);
      assert.equal(upstream.connectionCount(), 1);
    });

  test('a streamed body with a length is sent as it comes', async t => {
    const { upstream, send } = await start(t);
    const { body, push, state } = createSource();
    upstream.respond = () => undefined;
    const result = send({ method: 'POST', headers: [...host, 'content-length', '6'], body });
    push('ab', 'cd');
    await eventually(() => assert.equal(bodyOf(upstream.received[0] ?? ''), 'abcd'));
    push('ef', '');
    await eventually(() => assert.equal(bodyOf(upstream.received[0]!), 'abcdef'));
    for (const socket of upstream.sockets) socket.write(ok);
    assert.equal((await result).body, 'ok');
    assert.ok(linesOf(upstream.received[0]!).includes('content-length: 6'));
    assert.equal(state.isReturned, false);
    upstream.respond = socket => void socket.write(ok);
    await send();
    assert.equal(upstream.connectionCount(), 1);
  });

  test('a streamed body without a length is sent in chunks', async t => {
    const { upstream, send } = await start(t);
    const { body, push } = createSource();
    upstream.respond = () => undefined;
    const result = send({ method: 'POST', body });
    push('a', 'b'.repeat(20), '');
    const expected = `1\r\na\r\n14\r\n${'b'.repeat(20)}\r\n0\r\n\r\n`;
    await eventually(() => assert.equal(bodyOf(upstream.received[0] ?? ''), expected));
    assert.ok(linesOf(upstream.received[0]!).includes('transfer-encoding: chunked'));
    for (const socket of upstream.sockets) socket.write(ok);
    assert.equal((await result).body, 'ok');
  });

  test('an empty stream is a request without a body', async t => {
    const { upstream, send } = await start(t);
    const { body, push } = createSource();
    push('');
    await send({ method: 'POST', body });
    assert.match(upstream.received[0]!, /content-length: 0\r\n\r\n$/);
  });

  for (const [title, chunks] of Object.entries({ shorter: ['ab', ''], longer: ['abc', 'd', ''] }))
    test(`a streamed body ${title} than its length fails and closes the connection`, async t => {
      const { upstream, send } = await start(t);
      upstream.respond = () => undefined;
      const { body, push } = createSource();
      push(...chunks);
      const result = await send({ method: 'POST', headers: [...host, 'content-length', '3'], body });
      assert.equal(result.error, 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH');
      await eventually(() => assert.equal(upstream.sockets.size, 0));
      assert.ok(!upstream.received[0]!.endsWith('d'));
    });

  test('a failure of the body fails the request with its error', async t => {
    const { upstream, send } = await start(t);
    upstream.respond = () => undefined;
    const { body, push } = createSource();
    push('a', Object.assign(new Error('the client disconnected'), { code: 'BODY' }));
    assert.equal((await send({ method: 'POST', body })).error, 'BODY');
    await eventually(() => assert.equal(upstream.sockets.size, 0));
  });

  test('a response before the end of the body is passed on, then the body is abandoned', async t => {
    const { upstream, send } = await start(t);
    const { body, push, state } = createSource();
    push('a');
    upstream.respond = socket => void socket.write(ok);
    const result = await send({ method: 'POST', body });
    assert.deepEqual([result.error, result.body], ['', 'ok']);
    assert.equal(state.isReturned, true);
    await eventually(() => assert.equal(upstream.sockets.size, 0));
  });

  test('body and response flow at the same time', async t => {
    const { upstream, send } = await start(t);
    const { body, push } = createSource();
    push('ping');
    upstream.respond = (socket, { index }) => {
      if (index === 0) socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n');
    };
    const result = send(
      { method: 'POST', body },
      {
        onData: chunk => {
          if (String(chunk) === 'pong') push('more', '');
          return true;
        },
      },
    );
    await eventually(() => assert.ok(upstream.received[0]?.endsWith('4\r\nmore\r\n0\r\n\r\n')));
    for (const socket of upstream.sockets) socket.write('4\r\ndone\r\n0\r\n\r\n');
    assert.equal((await result).body, 'pongdone');
    upstream.respond = socket => void socket.write(ok);
    await send();
    assert.equal(upstream.connectionCount(), 1);
  });

  test('a socket that takes no more stops reading the body; without progress the request times out', async t => {
    const { upstream, send } = await start(t, { pool: { headersTimeoutMs: 300 } });
    upstream.respond = socket => void socket.pause();
    const chunk = 'x'.repeat(65_536);
    let pulls = 0;
    const body: AsyncIterable<Uint8Array> = {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          pulls++;
          yield Buffer.from(chunk);
        }
      },
    };
    const { error } = await send({ method: 'POST', body });
    assert.equal(error, 'UND_ERR_HEADERS_TIMEOUT');
    // Socket buffers of both sides take some megabytes; without back-pressure it would be gigabytes.
    assert.ok(pulls < 1000, String(pulls));
  });
});

describe('HTTP/1.1 upstream back-pressure', () => {
  test('a handler that pauses stops the upstream, and gets every byte after it resumes', async t => {
    const { upstream, send } = await start(t);
    const total = 20_000_000;
    let written = 0;
    upstream.respond = socket => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
      const write = () => {
        while (written < total) {
          const size = Math.min(65_536, total - written);
          written += size;
          if (!socket.write(Buffer.alloc(size, written % 251))) return;
        }
      };
      socket.on('drain', write);
      write();
    };
    let resume: (() => void) | undefined;
    let size = 0;
    const result = send(
      {},
      {
        onHeaders(given) {
          resume = given;
          return false;
        },
        onData(chunk) {
          size += chunk.length;
          // Every chunk pauses, also the last one.
          setImmediate(resume!);
          return false;
        },
      },
    );
    await eventually(() => assert.ok(resume));
    await eventually(() => assert.equal(upstream.sockets.values().next().value!.writableNeedDrain, true));
    assert.equal(size, 0);
    assert.ok(written < total);
    resume!();
    assert.equal((await result).error, '');
    assert.equal(size, total);
    upstream.respond = socket => void socket.write(ok);
    assert.equal((await send()).body, 'ok');
    assert.equal(upstream.connectionCount(), 1);
  });

  for (const [title, bytes] of Object.entries({
    chunks: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n',
    'a length': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab',
    'no length': 'HTTP/1.1 200 OK\r\n\r\nab',
  }))
    test(`a handler that pauses at the head and at each part gets a body with ${title} in order`, async t => {
      const { upstream, send } = await start(t);
      upstream.respond = socket => void (title === 'no length' ? socket.end(bytes) : socket.write(bytes));
      const order: string[] = [];
      const result = await send(
        {},
        {
          onHeaders(resume) {
            order.push('head');
            setImmediate(resume);
            return false;
          },
          onData(chunk, resume) {
            order.push(String(chunk));
            setImmediate(resume);
            return false;
          },
        },
      );
      assert.equal(result.error, '');
      assert.equal(order.join(' '), title === 'chunks' ? 'head a b' : 'head ab');
      upstream.respond = socket => void socket.write(ok);
      assert.equal((await send()).body, 'ok');
      assert.equal(upstream.connectionCount(), title === 'no length' ? 2 : 1);
    });
});
