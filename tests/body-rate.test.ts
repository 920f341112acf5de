import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Caller, call } from './hostile/raw.ts';
import { eventually, openApi, publish } from './support/traffic.ts';
import { withSettings } from './support/with-settings.ts';

const pathOf = (url: string) => new URL(url).pathname;

async function beginBody(t: TestContext, url: string, first: string | Uint8Array, length = 100_000): Promise<Caller> {
  const made = await call(Number(new URL(url).port));
  t.after(() => made.leave());
  made.send(`POST ${pathOf(url)} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
  made.send(first);
  return made;
}

/** Ends when a client that began after the call was found too slow: by then a window of waiting has passed, twice. */
async function twoWindows(t: TestContext, url: string): Promise<void> {
  for (let n = 0; n < 2; n++) await (await beginBody(t, url, 'x')).until(/^HTTP\/1\.1 408 /);
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

withSettings(
  'minimum rate of request bodies',
  {
    threads: '1',
    'gateway.min_body_bytes_per_second': '10000',
    'gateway.min_body_rate_window_ms': '200',
    'upstream.max_connections': '8',
  },
  (app, upstream) => {
    test('an HTTP/1.1 client that stops sending its body gets 408, and its connection closes', async t => {
      const url = await publish(app(), openApi(upstream()));
      const before = upstream().requests.length;
      const one = await beginBody(t, url, 'x');
      await one.closed;
      assert.match(
        one.received(),
        /^HTTP\/1\.1 408 [\s\S]*\r\nConnection: close\r\n[\s\S]*Request body arrives too slowly/,
      );
      assert.equal(upstream().requests.length, before);
    });

    test('a client that sends its body below the minimum rate gets 408', async t => {
      const url = await publish(app(), openApi(upstream()));
      const one = await beginBody(t, url, 'x');
      const drip = setInterval(() => one.send('x'), 20);
      t.after(() => clearInterval(drip));
      await one.until(/^HTTP\/1\.1 408 /);
    });

    test('an HTTP/2 stream that stops sending gets 408, and other streams of the connection continue', async t => {
      const url = await publish(app(), openApi(upstream()));
      const session = connectHttp2(url);
      t.after(() => session.destroy());
      const slow = session.request({ ':method': 'POST', ':path': pathOf(url) });
      slow.on('error', () => undefined);
      slow.write('x');
      const [head] = await once(slow, 'response');
      assert.equal(head[':status'], 408);
      slow.resume();
      await once(slow, 'close');
      const next = session.request({ ':path': pathOf(url) });
      const [served] = await once(next, 'response');
      assert.equal(served[':status'], 200);
      next.resume();
    });

    test('a body that stalls after it was partly forwarded also aborts the upstream request', async t => {
      const arrived = Promise.withResolvers<IncomingMessage>();
      const server = createServer(request => arrived.resolve(request.on('error', () => undefined).resume()));
      const url = await publish(app(), openApi({ url: `http://127.0.0.1:${await listen(t, server)}` }));
      const one = await beginBody(t, url, Buffer.alloc(70_000));
      const request = await arrived.promise;
      await one.until(/^HTTP\/1\.1 408 /);
      await eventually(() => assert.ok(request.aborted));
    });

    test('a client held back by a slow upstream does not get 408', async t => {
      const arrived = Promise.withResolvers<IncomingMessage>();
      const server = createServer((request, response) => {
        arrived.resolve(request);
        request.once('end', () => response.end('whole'));
      });
      const slowly = await publish(app(), openApi({ url: `http://127.0.0.1:${await listen(t, server)}` }));
      const asked = httpRequest(slowly, { method: 'POST' });
      asked.end(Buffer.alloc(32 * 1024 * 1024));
      const request = await arrived.promise;
      await twoWindows(t, await publish(app(), openApi(upstream())));
      request.resume();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 200);
      response.resume();
    });

    test('a gRPC stream to an HTTP/2 upstream may pause', async t => {
      const streams: ServerHttp2Stream[] = [];
      const server = createHttp2Server();
      server.on('stream', (stream: ServerHttp2Stream) => {
        stream.on('error', () => undefined).respond({ ':status': 200 });
        stream.once('end', () => stream.end('done')).resume();
        streams.push(stream);
      });
      const url = await publish(app(), openApi({ url: `h2c://127.0.0.1:${await listen(t, server)}` }));
      const session = connectHttp2(url);
      t.after(() => session.destroy());
      const stream = session.request({ ':method': 'POST', ':path': pathOf(url), 'content-type': 'application/grpc' });
      stream.write('a');
      await eventually(() => assert.equal(streams.length, 1));
      await twoWindows(t, await publish(app(), openApi(upstream())));
      stream.end('b');
      const [text] = await once(stream, 'data');
      assert.equal(String(text), 'done');
    });
  },
);
