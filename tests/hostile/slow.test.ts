import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/upstream.ts';
import { onGround } from './ground.ts';
import { statusesIn } from './raw.ts';

/** Slow clients and client disconnects. */
onGround(
  'Slow clients',
  ground => {
    const begun: readonly [what: string, bytes: string][] = [
      ['sends nothing', ''],
      ['stops in the request line', 'GET /h HT'],
      ['stops in a header', 'GET /h HTTP/1.1\r\nHost: x\r\nX-A'],
      ['stops before the end of its head', 'GET /h HTTP/1.1\r\nHost: x\r\n'],
      ['stops in the HTTP/2 preface', 'PRI * HTTP/2.0\r\n'],
    ];
    for (const [what, bytes] of begun) {
      test(`a client that ${what} is disconnected after a timeout`, async () => {
        const { statuses, received } = await ground().send(bytes);
        assert.deepEqual(received, []);
        assert.ok(statuses.every(status => status === 408));
      });
    }

    test('a client that sends its head byte by byte is disconnected after a timeout', async () => {
      const one = await ground().caller();
      one.send('GET /h HTTP/1.1\r\nHost: x\r\n');
      const timer = setInterval(() => one.send('X'), 50);
      await one.closed.finally(() => clearInterval(timer));
      assert.deepEqual(statusesIn(one.received()), [408]);
    });

    for (const [what, head] of [
      ['a content-length', 'Content-Length: 1000'],
      ['chunked encoding', 'Transfer-Encoding: chunked'],
    ]) {
      test(`a stalled body with ${what} aborts the request, also at the upstream`, async () => {
        const { upstream, caller } = ground();
        const before = upstream.requests.length;
        const one = await caller();
        one.send(`POST /h HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n3\r\nabc\r\n`);
        await one.closed;
        one.leave();
        assert.ok(statusesIn(one.received()).every(status => status === 408));
        // The upstream received no complete request: the one in progress was aborted.
        assert.equal(upstream.requests.length, before);
      });
    }

    test('a client disconnect during the request body releases all resources', async () => {
      const { upstream, caller, send } = ground();
      const before = upstream.requests.length;
      for (let n = 0; n < 20; n++) {
        const one = await caller();
        one.send('POST /h HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
        if (n % 2) one.socket.end();
        else one.socket.resetAndDestroy();
        await one.closed;
      }
      const { statuses } = await send('GET /h/after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      assert.deepEqual(statuses, [200]);
      assert.deepEqual(
        upstream.requests.slice(before).map(it => it.url),
        ['/base/after'],
      );
    });

    test('a client disconnect before the response aborts the upstream request', async () => {
      const { upstream, caller } = ground();
      let gone = 0;
      let arrived = 0;
      upstream.answer = request => {
        arrived++;
        request.socket.once('close', () => gone++);
      };
      for (const leave of ['end', 'resetAndDestroy', 'destroy'] as const) {
        const one = await caller();
        one.send('GET /h HTTP/1.1\r\nHost: x\r\n\r\n');
        const seen = arrived;
        await eventually(() => assert.equal(arrived, seen + 1));
        one.socket[leave]();
        await eventually(() => assert.equal(gone, seen + 1));
      }
      upstream.answer = undefined;
    });

    test('a 404 before the request body was read arrives, and the next request is served', async () => {
      const { upstream, caller, send } = ground();
      upstream.answer = undefined;
      const one = await caller();
      one.send('POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n');
      one.send(Buffer.alloc(3_000_000));
      await one.closed;
      assert.deepEqual(statusesIn(one.received()), [404]);
      const { statuses } = await send('GET /h HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      assert.deepEqual(statuses, [200]);
    });

    test('many idle connections do not block other clients', async () => {
      const { caller, send } = ground();
      const idle = await Promise.all(Array.from({ length: 200 }, () => caller()));
      for (const one of idle) one.send('GET /h HTTP/1.1\r\n');
      const { statuses } = await send('GET /h HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      assert.deepEqual(statuses, [200]);
      await Promise.all(idle.map(one => one.closed));
    });
  },
  { 'gateway.headers_timeout_ms': '1000', 'gateway.request_timeout_ms': '1500' },
);
