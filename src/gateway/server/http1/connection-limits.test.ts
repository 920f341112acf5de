import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { respondWith, startTransport } from '../../../../tests/support/http1-transport.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import { createNativeTransport } from './native-transport.ts';

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

const respondWithBody = async (call: Exchange, writer: ResponseWriter) =>
  respondWith(writer, `<${await call.body.read(1000)}>`);

/** Resolves after the time, in the order of the other timeouts of this process. */
const expire = (timeoutMs: number) =>
  new Promise<void>(resolve => new TimeoutQueue(timeoutMs).start({ expiresAtMs: 0, onTimeout: resolve }));

describe('connections of the HTTP/1.1 engine', () => {
  test('an idle connection outlives the announced keep-alive time: a request may be on its way', async t => {
    const { open } = await startTransport(t, createNativeTransport, (_call, writer) => respondWith(writer, 'ok'), {
      limits: { keepAliveTimeoutMs: 100 },
    });
    const client = await open();
    client.send(get);
    await client.until(/ok$/);
    await expire(400);
    assert.deepEqual([client.accepted.writableEnded, client.accepted.destroyed], [false, false]);
    await client.closed;
  });

  test('the rest of a refused request may arrive late', async t => {
    const { open } = await startTransport(t, createNativeTransport, (_call, writer) => respondWith(writer, 'no'));
    const client = await open();
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab');
    await client.closed;
    await expire(400);
    assert.equal(client.accepted.destroyed, false);
    client.send('cd');
    await once(client.accepted, 'close');
    assert.match(client.received(), /Connection: close\r\n\r\nno$/);
  });

  test('without a request timeout a body may take longer than a head', async t => {
    const { open } = await startTransport(t, createNativeTransport, respondWithBody, {
      limits: { headersTimeoutMs: 1000, requestTimeoutMs: 0 },
    });
    const client = await open();
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab');
    await expire(2000);
    client.send('cd');
    await client.until(/<abcd>$/);
  });

  test('a request timeout below that of the head is the one of the head', async t => {
    const { open } = await startTransport(t, createNativeTransport, respondWithBody, {
      limits: { requestTimeoutMs: 50 },
    });
    const client = await open();
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab');
    await expire(300);
    client.send('cd');
    await client.until(/<abcd>$/);
  });

  test('without a half-close timeout a client that ends its side is disconnected at once', async t => {
    const { open } = await startTransport(t, createNativeTransport, () => undefined, {
      limits: { halfCloseTimeoutMs: 0 },
    });
    const client = await open();
    const ended = Promise.withResolvers<boolean>();
    client.accepted.once('end', () => ended.resolve(client.accepted.destroyed));
    client.socket.end(get);
    assert.equal(await ended.promise, true);
  });

  test('a connection that arrives after the shutdown is closed without a response', async t => {
    const harness = await startTransport(t, createNativeTransport, (_call, writer) => respondWith(writer, 'ok'));
    harness.transport.close();
    const client = await harness.open();
    assert.equal(client.accepted.destroyed, true);
    await client.closed;
    assert.equal(client.received(), '');
  });

  test('the shutdown of a port closes its idle connections, and no others', async t => {
    const harness = await startTransport(t, createNativeTransport, (_call, writer) => respondWith(writer, 'ok'));
    const [closing, remaining] = [await harness.open(8081), await harness.open(8082)];
    for (const client of [closing, remaining]) {
      client.send(get);
      await client.until(/ok$/);
    }
    harness.transport.closePort(8081);
    await closing.closed;
    remaining.send(get);
    await remaining.until(/ok[\s\S]*ok$/);
  });

  test('an error of the socket disconnects the client and raises no unhandled error', async t => {
    const disconnected = Promise.withResolvers<void>();
    const { open } = await startTransport(t, createNativeTransport, call => {
      call.onDisconnect = () => disconnected.resolve();
      client.accepted.destroy(new Error('reset'));
    });
    const client = await open();
    client.send(get);
    await disconnected.promise;
  });

  test('the first second of the epoch has a date too', async t => {
    for (const now of [0, 1000]) {
      const { open } = await startTransport(t, createNativeTransport, (_call, writer) => respondWith(writer, 'ok'), {
        clock: { now: () => now },
      });
      const client = await open();
      client.send(get);
      await client.until(new RegExp(`Date: Thu, 01 Jan 1970 00:00:0${now / 1000} GMT\\r\\n`));
    }
  });
});
