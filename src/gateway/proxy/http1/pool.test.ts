import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { describe, type TestContext, test } from 'node:test';
import {
  type DispatchHooks,
  type DispatchOptions,
  dispatchRequest,
  type RawUpstream,
  startRawUpstream,
} from '../../../../tests/support/raw-upstream.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import { createTestPool, type TestPoolOptions } from '../../../../tests/support/upstream-pool.ts';

const ok = (body = 'ok', ...lines: string[]) =>
  `HTTP/1.1 200 OK\r\n${lines.map(line => `${line}\r\n`).join('')}Content-Length: ${body.length}\r\n\r\n${body}`;

async function start(t: TestContext, options: TestPoolOptions = {}) {
  const upstream = await startRawUpstream(t);
  const pool = createTestPool(t, upstream.origin, options);
  const send = (given: DispatchOptions = {}, hooks: DispatchHooks = {}) => dispatchRequest(pool, given, hooks);
  return { upstream, pool, send };
}

/** Requests of an upstream whose responses the test releases. */
function holdResponses(upstream: RawUpstream): ((text: string) => void)[] {
  const held: ((text: string) => void)[] = [];
  upstream.respond = socket => void held.push(text => void socket.write(text));
  return held;
}

const waitFor = (count: number, list: readonly unknown[]) => eventually(() => assert.equal(list.length, count));

describe('HTTP/1.1 upstream pool', () => {
  test('sequential requests share a connection, concurrent ones do not', async t => {
    const { upstream, send } = await start(t);
    for (let i = 0; i < 5; i++) assert.equal((await send()).body, 'ok');
    assert.equal(upstream.connectionCount(), 1);
    await Promise.all([send(), send(), send()]);
    assert.equal(upstream.connectionCount(), 3);
  });

  test('the most recently used connection is reused first', async t => {
    const { upstream, send } = await start(t);
    const held = holdResponses(upstream);
    const both = [send(), send()];
    await waitFor(2, held);
    held[0]!(ok('first'));
    await both[0];
    held[1]!(ok('second'));
    await both[1];
    upstream.respond = (socket, { connection }) => void socket.write(ok(String(connection)));
    for (let i = 0; i < 3; i++) assert.equal((await send()).body, '1');
  });

  test('requests beyond the limit wait in order for a connection', async t => {
    const { upstream, send } = await start(t, { pool: { maxConnections: 2 } });
    const held = holdResponses(upstream);
    const order: number[] = [];
    const all = [0, 1, 2, 3].map(async i => {
      await send();
      order.push(i);
    });
    for (let answered = 0; answered < 4; answered++) {
      await waitFor(Math.min(answered + 2, 4), held);
      held[answered]!(ok());
      await eventually(() => assert.equal(order.length, answered + 1));
    }
    await Promise.all(all);
    assert.deepEqual(order, [0, 1, 2, 3]);
    assert.equal(upstream.connectionCount(), 2);
  });

  test('more waiting requests than the bound fail, the others are answered', async t => {
    const { upstream, send } = await start(t, { pool: { maxConnections: 1 } });
    const held = holdResponses(upstream);
    const first = send();
    await waitFor(1, held);
    const more = Array.from({ length: 3 }, () => send());
    assert.equal((await more[2]!).error, 'GW_UPSTREAM_QUEUE_FULL');
    for (let i = 0; i < 3; i++) {
      await waitFor(i + 1, held);
      held[i]!(ok());
    }
    assert.deepEqual(
      (await Promise.all([first, more[0]!, more[1]!])).map(it => it.error),
      ['', '', ''],
    );
  });

  test('a connection that fails to open fails one request, the next connects again', async t => {
    const { upstream, send } = await start(t, { pool: { maxConnections: 1 } });
    const closedPool = createTestPool(t, 'http://127.0.0.1:1');
    const results = await Promise.all([dispatchRequest(closedPool), dispatchRequest(closedPool)]);
    for (const { error, bytesRead } of results) assert.deepEqual([error, bytesRead], ['ECONNREFUSED', 0]);
    assert.equal((await send()).body, 'ok');
    assert.equal(upstream.connectionCount(), 1);
  });

  for (const close of ['end', 'resetAndDestroy'] as const)
    test(`an idle connection that the upstream closes (${close}) is not used again`, async t => {
      const { upstream, send } = await start(t);
      await send();
      for (const socket of upstream.sockets) socket[close]();
      await eventually(() => assert.equal(upstream.sockets.size, 0));
      for (const method of ['POST', 'GET'] as const) assert.equal((await send({ method })).body, 'ok');
      assert.equal(upstream.connectionCount(), 2);
    });

  for (const close of ['end', 'resetAndDestroy'] as const)
    test(`an idle connection whose last response was paused notices its close (${close})`, async t => {
      const { upstream, send } = await start(t);
      const pauseOnce = (_chunk: Buffer, resume: () => void) => {
        setImmediate(resume);
        return false;
      };
      assert.equal((await send({}, { onData: pauseOnce })).body, 'ok');
      for (const socket of upstream.sockets) socket[close]();
      // The upstream has closed only its side: its socket ends when the pool has closed too.
      await eventually(() => assert.equal(upstream.sockets.size, 0));
      assert.equal((await send({ method: 'POST' })).body, 'ok');
      assert.equal(upstream.connectionCount(), 2);
    });

  for (const name of ['a waiting request', 'the next request'])
    test(`a connection whose end is unread after a pause does not get ${name}`, async t => {
      const { upstream, send } = await start(t, { pool: { maxConnections: 1 } });
      upstream.respond = socket => void socket.end(ok());
      const paused = Promise.withResolvers<() => void>();
      const pause = (_chunk: Buffer, resume: () => void) => {
        paused.resolve(resume);
        return false;
      };
      const first = send({}, { onData: pause });
      const resume = await paused.promise;
      await eventually(() => assert.ok([...upstream.sockets].every(socket => socket.writableFinished)));
      upstream.respond = socket => void socket.write(ok('next'));
      const post = () => send({ method: 'POST' });
      const next = name === 'a waiting request' ? post() : first.then(post);
      // Continues among the reads of a turn of the event loop: what this connection has to read comes in the next one.
      await stat('.');
      resume();
      assert.equal((await first).body, 'ok');
      const { error, body } = await next;
      assert.deepEqual([error, body], ['', 'next']);
      assert.equal(upstream.connectionCount(), 2);
    });

  test('a reused connection closed without a response byte is reported as stale, a new one is not', async t => {
    const { upstream, send } = await start(t);
    await send();
    upstream.respond = socket => void socket.destroy();
    const stale = await send();
    assert.equal(stale.error, 'UND_ERR_SOCKET');
    assert.ok(stale.bytesRead > 0);
    const fresh = await send();
    assert.deepEqual([fresh.error, fresh.bytesRead], ['UND_ERR_SOCKET', 0]);
  });

  test('a reused connection closed after a response byte is not reported as stale', async t => {
    const { upstream, send } = await start(t);
    await send();
    upstream.respond = socket => void socket.end('H');
    const { error, bytesRead } = await send();
    assert.deepEqual([error, bytesRead], ['UND_ERR_SOCKET', 0]);
  });

  test('bytes that arrived on an idle connection close it, also when a request has just taken it', async t => {
    const { upstream, send } = await start(t);
    await send();
    const [socket] = upstream.sockets;
    // Dispatched in the check phase: the unsolicited response is read in the poll phase before the request is written.
    await new Promise(resolve => setImmediate(resolve));
    socket!.write(ok('unsolicited'));
    const next = await send({ method: 'POST' });
    assert.deepEqual([next.error, next.body], ['', 'ok']);
    assert.equal(upstream.connectionCount(), 2);
  });

  test('an idle connection is closed before the time that the upstream names', async t => {
    const { upstream, send } = await start(t);
    upstream.respond = socket => void socket.write(ok('ok', 'Keep-Alive: timeout=3'));
    await send();
    assert.equal(upstream.sockets.size, 1);
    await eventually(() => assert.equal(upstream.sockets.size, 0));
    assert.equal((await send()).body, 'ok');
    assert.equal(upstream.connectionCount(), 2);
  });

  test('a waiting request does not get a connection that the upstream is about to close', async t => {
    const { upstream, send } = await start(t, { pool: { maxConnections: 1 } });
    const held = holdResponses(upstream);
    const both = [send(), send()];
    await waitFor(1, held);
    held[0]!(ok('first', 'Keep-Alive: timeout=2'));
    await both[0];
    await waitFor(2, held);
    held[1]!(ok('second'));
    assert.equal((await both[1]!).body, 'second');
    assert.equal(upstream.connectionCount(), 2);
  });

  test('closing the pool lets requests end and keeps no connection', async t => {
    const { upstream, pool, send } = await start(t);
    await send();
    const held = holdResponses(upstream);
    const last = send();
    await waitFor(1, held);
    const closing = pool.close();
    held[0]!(ok('last'));
    assert.equal((await last).body, 'last');
    await closing;
    await eventually(() => assert.equal(upstream.sockets.size, 0));
  });

  test('destroying the pool fails requests in progress and waiting ones', async t => {
    const { upstream, pool, send } = await start(t, { pool: { maxConnections: 1 } });
    const held = holdResponses(upstream);
    const all = [send(), send()];
    await waitFor(1, held);
    await pool.destroy();
    for (const result of all) assert.equal((await result).error, 'UND_ERR_DESTROYED');
    assert.equal((await send()).error, 'UND_ERR_DESTROYED');
    await eventually(() => assert.equal(upstream.sockets.size, 0));
  });

  test('a request without a response head in time fails', async t => {
    const { upstream, send } = await start(t, { pool: { headersTimeoutMs: 100 } });
    upstream.respond = () => undefined;
    assert.equal((await send()).error, 'UND_ERR_HEADERS_TIMEOUT');
    await eventually(() => assert.equal(upstream.sockets.size, 0));
  });

  test('interim responses restart the time for the response head', async t => {
    const { upstream, send } = await start(t, { pool: { headersTimeoutMs: 2000 } });
    upstream.respond = socket => {
      let count = 0;
      const timer = setInterval(() => {
        if (++count < 12) return socket.write('HTTP/1.1 103 Early Hints\r\n\r\n');
        clearInterval(timer);
        socket.write(ok());
      }, 200);
    };
    const { body, interim } = await send();
    assert.deepEqual([body, interim.length], ['ok', 11]);
    await eventually(() => assert.equal(upstream.sockets.size, 1));
  });

  test('a request with a timeout of its caller has none of the pool', async t => {
    const { upstream, send } = await start(t, { pool: { headersTimeoutMs: 200 } });
    const held = holdResponses(upstream);
    const timed = send();
    const untimed = send({ hasCallerTimeout: true });
    await waitFor(2, held);
    assert.equal((await timed).error, 'UND_ERR_HEADERS_TIMEOUT');
    held[1]!(ok());
    assert.equal((await untimed).body, 'ok');
  });

  test('an abort fails the request and closes its connection only', async t => {
    const { upstream, send } = await start(t);
    const held = holdResponses(upstream);
    let abort: (error?: Error) => void = () => assert.fail();
    const keepAbort = (given: typeof abort) => {
      abort = given;
    };
    const aborted = send({}, { onConnect: keepAbort });
    const other = send();
    await waitFor(2, held);
    abort();
    abort();
    assert.equal((await aborted).error, 'UND_ERR_ABORTED');
    await eventually(() => assert.equal(upstream.sockets.size, 1));
    for (const answer of held) answer(ok());
    assert.equal((await other).body, 'ok');
    // An abort that comes late does not reach the next request on the connection.
    upstream.respond = socket => void socket.write(ok());
    await send({}, { onConnect: keepAbort });
    const next = send({}, { onConnect: () => abort(new Error('late')) });
    assert.deepEqual([(await next).error, upstream.connectionCount()], ['', 2]);
  });

  test('an abort before anything is written keeps the connection', async t => {
    const { upstream, send } = await start(t);
    assert.equal((await send({}, { onConnect: abort => abort() })).error, 'UND_ERR_ABORTED');
    assert.equal((await send()).body, 'ok');
    assert.equal((await send({}, { onConnect: abort => abort() })).error, 'UND_ERR_ABORTED');
    assert.equal((await send()).body, 'ok');
    assert.equal(upstream.connectionCount(), 1);
  });

  test('an error of a handler fails its request only', async t => {
    const { upstream, send } = await start(t);
    const bug = () => {
      throw Object.assign(new Error('bug'), { code: 'BUG' });
    };
    for (const hooks of [{ onConnect: bug }, { onHeaders: bug }, { onData: bug }])
      assert.equal((await send({}, hooks)).error, 'BUG');
    assert.equal((await send()).body, 'ok');
    await eventually(() => assert.equal(upstream.sockets.size, 1));
  });
});
