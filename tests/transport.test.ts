import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createClientClaims } from '#gateway/http/client-claims.ts';
import { createClientAddressResolver } from '#gateway/pipeline/client-address.ts';
import type { Exchange } from '#gateway/pipeline/exchange.ts';
import type { ResponseWriter } from '#gateway/pipeline/response-writer.ts';
import { createNativeTransport } from '#gateway/server/http1/native-transport.ts';
import { createHttp1Transport } from '#gateway/server/http1.ts';
import { createListener, type Listener } from '#gateway/server/listener.ts';
import type { Transport, TransportFactory, TransportLimits } from '#gateway/server/transport.ts';
import { type Caller, call as connectTo, statusesIn } from './hostile/raw.ts';
import { eventually } from './support/upstream.ts';

type Doing = (call: Exchange, sink: ResponseWriter) => void | Promise<void>;

const limits: TransportLimits = {
  maxHeaderBytes: 8192,
  maxHeaders: 50,
  headersTimeoutMs: 1000,
  requestTimeoutMs: 20_000,
  bodyRate: { minBytesPerSecond: 0, windowMs: 1000 },
  keepAliveTimeoutMs: 20_000,
  halfCloseTimeoutMs: 1000,
  writeTimeoutMs: 20_000,
};

const text = (status: number, body: string, more: string[] = []): Doing => {
  const bytes = Buffer.from(body);
  return (_call, sink) => {
    sink.writeHead(status, ['Content-Length', String(bytes.length), ...more]);
    sink.end(bytes);
  };
};

async function read(call: Exchange): Promise<string> {
  return (await call.body.read(100_000_000)).toString('latin1');
}

/** Contract of an HTTP/1.1 server transport. */
function transportSuite(name: string, factory: TransportFactory): void {
  describe(name, () => {
    const faults: Error[] = [];
    const opened: { transport: Transport; listener: Listener }[] = [];
    let port = 0;
    let doing: Doing = text(200, 'ok');
    const callers: Caller[] = [];

    async function open(more: Partial<TransportLimits> = {}): Promise<number> {
      const transport = factory({
        handler: { handle: (call, sink) => void doing(call, sink) },
        clock: systemClock,
        paths: { keepEncodedSlashes: false, keepDoubleEncoding: false },
        clientAddress: createClientAddressResolver([]),
        isClientClaim: createClientClaims([]),
        limits: { ...limits, ...more },
        webSockets: true,
        onWriteError: error => void faults.push(error),
      });
      const listener = createListener({ http1: transport, apiPort: 0, firstByteTimeoutMs: 5000, maxConnections: 1000 });
      opened.push({ transport, listener });
      return listener.listen({ host: '127.0.0.1', port: 0, reusePort: false });
    }

    const caller = async (at = port) => {
      const made = await connectTo(at);
      callers.push(made);
      return made;
    };

    before(async () => {
      port = await open();
    });
    after(async () => {
      for (const it of callers) it.leave();
      for (const { transport } of opened) transport.close();
      await Promise.all(opened.map(({ listener }) => listener.close()));
    });

    test('a keep-alive connection serves successive requests', async () => {
      doing = (call, sink) => text(200, call.path)(call, sink);
      const one = await caller();
      one.send('GET /a HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/\r\n\r\n\/a$/);
      one.send('GET /b HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/\r\n\r\n\/b$/);
      one.send('GET /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      await one.closed;
      assert.match(one.received(), /Connection: close[\s\S]*\r\n\r\n\/c$/);
    });

    test('a response to HTTP/1.0 ends with the connection', async () => {
      doing = (_call, sink) => {
        sink.writeHead(200, []);
        sink.write(Buffer.from('part'));
        sink.end();
      };
      const one = await caller();
      one.send('GET / HTTP/1.0\r\n\r\n');
      await one.closed;
      assert.match(one.received(), /^HTTP\/1\.1 200 OK\r\n/);
      assert.doesNotMatch(one.received(), /chunked/i);
      assert.match(one.received(), /\r\n\r\npart$/);
    });

    test('pipelined requests are handled one at a time and answered in order', async () => {
      const waiting: { path: string; answer: () => void }[] = [];
      doing = (call, sink) =>
        void waiting.push({ path: call.path, answer: () => void text(200, call.path)(call, sink) });
      const one = await caller();
      one.send('POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
      one.send('GET /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 HTTP/1.1\r\nHost: x\r\n\r\n');
      for (const path of ['/1', '/2', '/3']) {
        await eventually(() => assert.equal(waiting.length, 1));
        const next = waiting.pop()!;
        assert.equal(next.path, path);
        next.answer();
      }
      await one.until(/\/1HTTP[\s\S]*\/2HTTP[\s\S]*\/3$/);
    });

    test('pipelined requests beyond the read-ahead wait in the network, and all are answered in order', async () => {
      const total = 4000;
      const padding = 'x'.repeat(2500);
      const first = Promise.withResolvers<void>();
      let calls = 0;
      doing = async (call, sink) => {
        if (calls++ === 0) await first.promise;
        text(200, `<${call.path}>`)(call, sink);
      };
      // The head that waits in the network is late for a slow sender.
      const one = await caller(await open({ headersTimeoutMs: 20_000 }));
      for (let i = 1; i <= total; i++)
        one.send(`GET /${i} HTTP/1.1\r\nHost: x\r\nX: ${padding}\r\n${i < total ? '' : 'Connection: close\r\n'}\r\n`);
      await eventually(() => assert.equal(calls, 1));
      await waitUntilStable(() => one.socket.writableLength);
      assert.equal(calls, 1);
      assert.ok(one.socket.writableLength > 0, 'the connection is paused');
      first.resolve();
      await one.closed;
      const paths = [...one.received().matchAll(/<\/(\d+)>/g)].map(([, path]) => Number(path));
      assert.equal(paths.length, total);
      assert.ok(paths.every((path, at) => path === at + 1));
    });

    for (const [segments, split] of [
      ['one write', (all: string) => [all]],
      ['one-byte writes', (all: string) => [...all]],
    ] as const)
      test(`a thousand pipelined requests in ${segments} are answered in order`, async () => {
        doing = (call, sink) => void setImmediate(() => text(200, `<${call.path}>`)(call, sink));
        const one = await caller();
        one.socket.setNoDelay(true);
        const requests = Array.from({ length: 1000 }, (_none, n) => `GET /${n} HTTP/1.1\r\nHost: x\r\n\r\n`);
        for (const segment of split(requests.join('')))
          await new Promise<void>(resolve => void one.socket.write(segment, 'latin1', () => resolve()));
        await one.until(/<\/999>$/);
        const paths = [...one.received().matchAll(/<\/(\d+)>/g)].map(([, path]) => Number(path));
        assert.deepEqual(
          paths,
          Array.from({ length: 1000 }, (_none, n) => n),
        );
      });

    test('a response to HEAD has the content-length and no body', async () => {
      doing = text(200, 'twelve bytes');
      const one = await caller();
      one.send('HEAD / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/Content-Length: 12\r\n/);
      doing = text(200, 'next');
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/next$/);
      assert.doesNotMatch(one.received(), /twelve/);
    });

    test('204 and 304 have no body, and 204 no content-length', async () => {
      const one = await caller();
      for (const status of [204, 304]) {
        doing = text(status, 'must not be seen');
        one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        await one.until(new RegExp(`HTTP/1.1 ${status} [^\\r]*\\r\\n([\\s\\S]*)\\r\\n\\r\\n$`));
      }
      doing = text(200, 'end');
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/end$/);
      assert.doesNotMatch(one.received(), /must not be seen/);
      assert.doesNotMatch(one.received().split('HTTP/1.1 304')[0]!, /content-length|transfer-encoding/i);
    });

    test('a chunked request body is decoded, and a response without content-length is chunked', async () => {
      doing = async (call, sink) => {
        assert.equal(call.body.length, undefined);
        const body = await read(call);
        sink.writeHead(200, []);
        sink.write(Buffer.from(body));
        sink.end(Buffer.from('!'));
      };
      const one = await caller();
      one.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
      one.send('A;ext=1\r\n0123456789\r\n0\r\n\r\n');
      await one.until(/Transfer-Encoding: chunked\r\n[\s\S]*\r\n0\r\n\r\n$/);
      const chunks = one.received().split('\r\n\r\n').slice(1).join('').split('\r\n');
      assert.equal(chunks.filter((_text, at) => at % 2 === 1).join(''), 'abc0123456789!');
    });

    test('a request body with a content-length has its length and arrives complete', async () => {
      doing = async (call, sink) => {
        assert.equal(call.body.length, 5);
        text(200, await read(call))(call, sink);
      };
      const one = await caller();
      one.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe');
      one.send('llo');
      await one.until(/hello$/);
      doing = (call, sink) => text(200, String(call.body.isEmpty))(call, sink);
      one.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
      await one.until(/true$/);
    });

    test('request trailers are not merged into the headers', async () => {
      doing = async (call, sink) => {
        await read(call);
        text(200, String(call.headers.get('x-late')))(call, sink);
      };
      const one = await caller();
      one.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Late: 1\r\n\r\n');
      await one.until(/undefined$/);
    });

    test('response trailers are sent only to clients with TE: trailers', async () => {
      doing = (_call, sink) => {
        sink.writeHead(200, []);
        sink.write(Buffer.from('body'));
        sink.end(undefined, ['X-Sum', '7']);
      };
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n');
      await one.until(/\r\n0\r\nX-Sum: 7\r\n\r\n$/);
      const other = await caller();
      other.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await other.until(/\r\n0\r\n\r\n$/);
    });

    test('Expect: 100-continue gets 100 when the body is first read', async () => {
      const go = Promise.withResolvers<void>();
      let arrived = false;
      doing = async (call, sink) => {
        arrived = true;
        await go.promise;
        text(200, await read(call))(call, sink);
      };
      const one = await caller();
      one.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n');
      await eventually(() => assert.ok(arrived));
      assert.equal(one.received(), '');
      go.resolve();
      await one.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
      one.send('body');
      await one.until(/body$/);
    });

    test('a request refused before 100 Continue gets the final status, and the connection closes', async () => {
      doing = text(403, 'no');
      const one = await caller();
      one.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n');
      await one.closed;
      assert.deepEqual(statusesIn(one.received()), [403]);
      assert.match(one.received(), /Connection: close/);
    });

    test('an unknown expectation gets 417', async () => {
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n');
      await one.closed;
      assert.deepEqual(statusesIn(one.received()), [417]);
    });

    for (const [to, head] of [
      ['', 'Connection: close'],
      [' to a refused upgrade', 'Connection: Upgrade\r\nUpgrade: websocket'],
    ] as const)
      test(`a response${to} applies backpressure to a slow client, in bounded memory`, async () => {
        const chunk = Buffer.alloc(65_536, 'x');
        const most = 64_000_000;
        let written = 0;
        let stopped = 0;
        doing = (_call, sink) => {
          sink.writeHead(200, []);
          const go = () => {
            while (written < most) {
              written += chunk.length;
              if (sink.write(chunk)) continue;
              stopped ||= written;
              sink.onDrain = go;
              return;
            }
            sink.onDrain = undefined;
            sink.end();
          };
          go();
        };
        const one = await caller();
        one.socket.pause();
        one.send(`GET / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`);
        await eventually(() => assert.ok(stopped > 0));
        assert.ok(stopped <= 1_048_576, `${stopped} bytes before the first pause`);
        const pausedAt = written;
        assert.ok(pausedAt < 16_000_000, `${pausedAt} bytes for a caller that reads nothing`);
        one.socket.resume();
        await one.closed;
        assert.ok(one.received().length > most);
      });

    test('a slow reader of a request body applies backpressure to the client, in bounded memory', async () => {
      const total = 64_000_000;
      const go = Promise.withResolvers<void>();
      let begun = false;
      doing = async (call, sink) => {
        const body = (call.body.stream as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
        let size = (await body.next()).value?.length ?? 0;
        begun = true;
        await go.promise;
        for (let step = await body.next(); !step.done; step = await body.next()) size += step.value.length;
        text(200, String(size))(call, sink);
      };
      const one = await caller();
      one.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${total}\r\n\r\n`);
      let sent = 0;
      const part = Buffer.alloc(1_000_000);
      let isStopped = false;
      const push = () => {
        while (sent < total) {
          sent += part.length;
          if (one.socket.write(part)) continue;
          isStopped = true;
          one.socket.once('drain', push);
          return;
        }
      };
      push();
      await eventually(() => assert.ok(begun && isStopped));
      // Only the socket buffers of both sides are filled: far less than the whole body.
      await waitUntilStable(() => one.socket.bytesWritten - one.socket.writableLength);
      assert.ok(sent < 40_000_000, `${sent} bytes were taken for a reader that takes nothing`);
      go.resolve();
      await one.until(new RegExp(`${total}$`));
    });

    test('a client disconnect during the request body aborts the request', async () => {
      const ended = Promise.withResolvers<unknown>();
      const gone = Promise.withResolvers<void>();
      doing = (call, _sink) => {
        call.onDisconnect = () => gone.resolve();
        read(call).then(() => ended.resolve('read'), ended.resolve);
      };
      const one = await caller();
      one.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
      await eventually(() => assert.equal(one.socket.writableLength, 0));
      one.leave();
      await gone.promise;
      assert.ok((await ended.promise) instanceof Error);
    });

    test('a client disconnect during the response aborts the request, and further writes are ignored', async () => {
      const gone = Promise.withResolvers<void>();
      doing = (call, sink) => {
        call.onDisconnect = () => {
          sink.write(Buffer.from('late'));
          sink.end();
          gone.resolve();
        };
        sink.writeHead(200, ['Content-Length', '1000']);
        sink.write(Buffer.from('begun'));
      };
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/begun/);
      one.leave();
      await gone.promise;
    });

    test('a client that ends its side after its requests gets every response, then the end', async () => {
      const waiting: (() => void)[] = [];
      let hasDisconnected = false;
      doing = (call, sink) => {
        call.onDisconnect = () => {
          hasDisconnected = true;
        };
        waiting.push(() => void text(200, `<${call.path}>`)(call, sink));
      };
      const one = await caller(await open({ halfCloseTimeoutMs: 20_000 }));
      one.socket.end('GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi');
      await once(one.socket, 'finish');
      for (let i = 0; i < 2; i++) {
        await eventually(() => assert.equal(waiting.length, 1));
        waiting.pop()!();
      }
      await one.closed;
      assert.equal(hasDisconnected, false);
      assert.deepEqual(statusesIn(one.received()), [200, 200]);
      assert.match(one.received(), /<\/1>[\s\S]*<\/2>$/);
    });

    test('a client that ends its side after a part of a request gets the responses to those before', async () => {
      doing = text(200, 'whole');
      const one = await caller();
      one.socket.end('GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHo');
      await one.closed;
      assert.equal(statusesIn(one.received())[0], 200);
      assert.ok(statusesIn(one.received()).every((status, at) => status === (at === 0 ? 200 : 400)));
    });

    test('a response to a half-closed client is streamed to its end, also past the half-close timeout', async () => {
      const at = await open({ halfCloseTimeoutMs: 50 });
      doing = (_call, sink) => {
        sink.writeHead(200, []);
        let count = 0;
        const timer = setInterval(() => {
          sink.write(Buffer.from('part'));
          if (++count < 20) return;
          clearInterval(timer);
          sink.end(Buffer.from('last'));
        }, 10);
      };
      const one = await caller(at);
      one.socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.closed;
      assert.match(one.received(), /last\r\n0\r\n\r\n$/);
    });

    for (const halfCloseTimeoutMs of [0, 50]) {
      test(`a half-closed connection counts as a client disconnect after ${halfCloseTimeoutMs} ms without a write`, async () => {
        const at = await open({ halfCloseTimeoutMs });
        const gone = Promise.withResolvers<void>();
        doing = call => {
          call.onDisconnect = () => gone.resolve();
        };
        const one = await caller(at);
        one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        one.socket.end();
        await gone.promise;
        await one.closed;
      });
    }

    test('a connection that ends inside a request head or body is closed', async () => {
      doing = call => void read(call).catch(() => undefined);
      for (const begun of [
        'GET / HT',
        'GET / HTTP/1.1\r\nHost: x\r\n',
        'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx',
      ]) {
        const one = await caller();
        one.send(begun);
        one.socket.end();
        await one.closed;
        assert.ok(statusesIn(one.received()).every(status => status === 400));
      }
    });

    test('a refusal arrives although the request body was not read, and later bytes are not parsed as a request', async () => {
      let calls = 0;
      doing = (call, sink) => {
        calls++;
        text(403, 'refused')(call, sink);
      };
      const one = await caller();
      one.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n');
      one.send(Buffer.alloc(500_000));
      one.send('GET /next HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.closed;
      assert.deepEqual(statusesIn(one.received()), [403]);
      assert.match(one.received(), /Connection: close[\s\S]*refused$/);
      assert.equal(calls, 1);
    });

    test('a response that starts before the request body was read arrives complete', async () => {
      doing = async (call, sink) => {
        const body = (call.body.stream as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
        await body.next();
        await body.return?.();
        sink.writeHead(200, []);
        sink.end(Buffer.from('enough'));
      };
      const one = await caller();
      one.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 600000\r\n\r\n');
      one.send(Buffer.alloc(600_000));
      await one.closed;
      assert.match(one.received(), /6\r\nenough\r\n0\r\n\r\n$/);
    });

    test('headers keep their case, order and repetitions in both directions', async () => {
      let came: string[] = [];
      doing = (call, sink) => {
        came = [...call.headers.flat];
        text(200, '', ['X-B', '1', 'x-a', '2', 'X-B', '3', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'])(call, sink);
      };
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nhOST: x\r\nX-One: 1\r\nx-two: 2\r\nX-One:   3  \r\nX-Odd: \xe9\r\n\r\n');
      await one.until(/\r\n\r\n$/);
      assert.deepEqual(came, ['hOST', 'x', 'X-One', '1', 'x-two', '2', 'X-One', '3', 'X-Odd', '\xe9']);
      assert.match(one.received(), /X-B: 1\r\nx-a: 2\r\nX-B: 3\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n/);
    });

    test('large responses arrive byte for byte', async () => {
      const bytes = Buffer.alloc(20_000_000);
      for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(at, at);
      doing = (_call, sink) => {
        sink.writeHead(200, ['Content-Length', String(bytes.length)]);
        sink.end(bytes);
      };
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      await one.closed;
      const body = Buffer.from(one.received().split('\r\n\r\n').slice(1).join('\r\n\r\n'), 'latin1');
      assert.ok(body.equals(bytes));
    });

    test('the response head is sent before the first body byte', async () => {
      let going: ResponseWriter | undefined;
      doing = (_call, sink) => {
        going = sink;
        sink.writeHead(200, ['Content-Type', 'text/event-stream']);
      };
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/event-stream\r\n[\s\S]*\r\n\r\n$/);
      going!.write(Buffer.from('data: 1\n\n'));
      await one.until(/data: 1\n\n/);
      going!.end();
      await one.until(/\r\n0\r\n\r\n$/);
    });

    test('a small response is one packet', async () => {
      doing = text(200, 'small');
      const one = await caller();
      let packets = 0;
      one.socket.on('data', () => packets++);
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/small$/);
      assert.equal(packets, 1);
    });

    test('a response header with a control character is not sent', async () => {
      faults.length = 0;
      for (const bad of ['a\r\nX-Evil: 1', 'a\nb', 'a\0b']) {
        doing = text(200, 'x', ['X-Bad', bad]);
        const one = await caller();
        one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        await one.until(/\r\n\r\n/);
        assert.deepEqual(statusesIn(one.received()), [500]);
        assert.doesNotMatch(one.received(), /Evil|X-Bad/);
      }
      assert.equal(faults.length, 3);
    });

    test('a response that cannot be completed resets the connection', async () => {
      doing = (_call, sink) => {
        sink.writeHead(200, ['Content-Length', '100']);
        sink.write(Buffer.from('half'));
        setImmediate(() => sink.abort());
      };
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.closed;
      assert.match(one.received(), /half$/);
    });

    test('invalid bytes after a request do not replace its response', async () => {
      const answer = Promise.withResolvers<void>();
      let calls = 0;
      doing = async (call, sink) => {
        calls++;
        await answer.promise;
        text(200, 'mine')(call, sink);
      };
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => assert.equal(calls, 1));
      one.send('this is not HTTP\r\n\r\nGET /more HTTP/1.1\r\nHost: x\r\n\r\n');
      answer.resolve();
      await one.closed;
      // The error for the rest comes only after the request's own response.
      assert.equal(statusesIn(one.received())[0], 200);
      assert.match(one.received(), /mine/);
      assert.equal(calls, 1);
    });

    test('an invalid chunked body aborts the request with 400', async () => {
      const gone = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<unknown>();
      doing = call => {
        call.onDisconnect = () => gone.resolve();
        read(call).then(() => ended.resolve('read'), ended.resolve);
      };
      const one = await caller();
      one.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nZZ\r\n');
      await Promise.all([one.closed, gone.promise]);
      assert.deepEqual(statusesIn(one.received()), [400]);
      one.leave();
      assert.ok((await ended.promise) instanceof Error);
    });

    const refusals: readonly [head: string, response: string][] = [
      ['BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 'Bad Request: the method is not supported'],
      [
        'GET / HTTP/3.0\r\nHost: x\r\n\r\n',
        'HTTP Version Not Supported: only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported',
      ],
      [
        'POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        'Bad Request: HTTP/1.0 has no Transfer-Encoding',
      ],
      [
        `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(9000)}\r\n\r\n`,
        'Request Header Fields Too Large: the request head is too large',
      ],
      ['GET / HTTP/1.1\r\nHost: x\r\nExpect: coffee\r\n\r\n', 'Expectation Failed: the Expect header is not supported'],
      ['GET / HTTP/1.1\r\nHost:', 'Request Timeout: the request did not arrive in time'],
    ];
    for (const [head, response] of refusals) {
      test(`${JSON.stringify(head.slice(0, 40))} gets "${response}"`, async () => {
        const one = await caller();
        one.send(head);
        await one.closed;
        assert.ok(one.received().endsWith(`\r\n\r\n${response}`), one.received());
      });
    }

    test('a request head that exceeds its timeout gets 408', async () => {
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\nX-Slow:');
      await one.closed;
      assert.deepEqual(statusesIn(one.received()), [408]);
    });

    test('a client that reads no response is disconnected after the write timeout', async () => {
      const at = await open({ writeTimeoutMs: 300 });
      const gone = Promise.withResolvers<void>();
      doing = (call, sink) => {
        call.onDisconnect = () => gone.resolve();
        sink.writeHead(200, []);
        const go = () => {
          while (sink.write(Buffer.alloc(1_000_000)));
        };
        sink.onDrain = go;
        go();
      };
      const one = await caller(at);
      one.socket.pause();
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await gone.promise;
    });

    test('on shutdown idle connections close immediately, others after the response in flight', async () => {
      const at = await open();
      const { transport, listener } = opened.at(-1)!;
      const answer = Promise.withResolvers<void>();
      doing = text(200, 'first');
      const idle = await caller(at);
      idle.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await idle.until(/first$/);
      const silent = await caller(at);
      let arrived = false;
      doing = async (call, sink) => {
        arrived = true;
        await answer.promise;
        text(200, 'last')(call, sink);
      };
      const busy = await caller(at);
      busy.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => assert.ok(arrived));
      const closed = listener.close();
      transport.close();
      await idle.closed;
      await silent.closed;
      answer.resolve();
      await busy.closed;
      assert.match(busy.received(), /Connection: close\r\n[\s\S]*last$/);
      for (const it of [idle, silent, busy]) it.leave();
      await closed;
    });

    test('a request has its method, target, host and client address', async () => {
      let seen: Exchange | undefined;
      doing = (call, sink) => {
        seen = call;
        text(200, 'ok')(call, sink);
      };
      const one = await caller();
      one.send('DELETE /a/%7eb?x=1&y HTTP/1.1\r\nHost: Api.Example.ORG.:8080\r\n\r\n');
      await one.until(/ok$/);
      assert.deepEqual(
        [seen!.method, seen!.target, seen!.path, seen!.query, seen!.host, seen!.clientAddress, seen!.peer.isTls],
        ['DELETE', '/a/%7eb?x=1&y', '/a/~b', 'x=1&y', 'api.example.org', '127.0.0.1', false],
      );
    });

    test('an accepted upgrade hands over the raw connection', async () => {
      doing = (call, sink) => {
        assert.equal(call.upgrade, 'websocket');
        const duplex = sink.switchProtocol!(['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-X', 'y']);
        duplex.on('data', (chunk: Buffer) => duplex.write(`<${chunk}>`));
        duplex.on('end', () => duplex.end('bye'));
      };
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n\r\nearly');
      await one.until(
        /^HTTP\/1\.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-X: y\r\n[\s\S]*<early>$/,
      );
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/<GET \/ HTTP\/1\.1\r\nHost: x\r\n\r\n>$/);
      one.socket.end();
      await one.closed;
      assert.match(one.received(), /bye$/);
    });

    test('a refused upgrade gets an ordinary response, and the connection closes', async () => {
      doing = text(401, 'who are you');
      const one = await caller();
      one.send(
        'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n',
      );
      await one.closed;
      assert.deepEqual(statusesIn(one.received()), [401]);
      assert.match(one.received(), /who are you$/);
    });

    const ordinary: readonly [why: string, head: string][] = [
      ['another protocol', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'],
      ['no Upgrade token in Connection', 'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n'],
      [
        'another method',
        'POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\nx',
      ],
      [
        'a body',
        'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\nx',
      ],
    ];
    for (const [why, head] of ordinary) {
      test(`an invalid upgrade (${why}) is an ordinary request`, async () => {
        doing = async (call, sink) => {
          await read(call);
          text(200, `upgrade:${call.upgrade}.`)(call, sink);
        };
        const one = await caller();
        one.send(head);
        await one.until(/upgrade:\.$/);
        one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        await one.until(/upgrade:\.HTTP[\s\S]*upgrade:\.$/);
      });
    }

    test('a connection reset during a response raises no unhandled error', async () => {
      doing = (_call, sink) => {
        sink.writeHead(200, []);
        sink.write(Buffer.from('x'));
      };
      const one = await caller();
      one.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await one.until(/x\r\n$/);
      one.socket.resetAndDestroy();
      await once(one.socket, 'close');
    });
  });
}

/** Waits until a number no longer changes. */
async function waitUntilStable(measure: () => number): Promise<void> {
  let last = -1;
  let same = 0;
  await eventually(() => {
    const now = measure();
    same = now === last ? same + 1 : 0;
    last = now;
    assert.ok(same > 200);
  });
}

transportSuite('HTTP/1.1 transport', createNativeTransport);
transportSuite('HTTP/1.1 transport on node:http', createHttp1Transport);
