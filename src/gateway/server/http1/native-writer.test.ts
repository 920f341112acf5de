import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Handler, startTransport } from '../../../../tests/support/http1-transport.ts';
import { createNativeTransport } from './native-transport.ts';
import { formatStatusLine } from './native-writer.ts';

const clock = { now: () => Date.parse('2031-01-02T03:04:05Z') };
const date = 'Date: Thu, 02 Jan 2031 03:04:05 GMT\r\n';
const keepAlive = 'Connection: keep-alive\r\nKeep-Alive: timeout=60\r\n\r\n';
const close = 'Connection: close\r\n\r\n';
const get = 'GET / HTTP/1.1\r\nHost: x\r\n';

/** Sends a request and returns all that was received until `done`, or until the connection is closed. */
async function request(t: TestContext, text: string, handle: Handler, done?: RegExp): Promise<string> {
  const harness = await startTransport(t, createNativeTransport, handle, { clock });
  const client = await harness.open();
  client.send(text);
  if (done) await client.until(done);
  else await client.closed;
  return client.received();
}

describe('response writer of the HTTP/1.1 engine', () => {
  test('a response with a length has its headers, the date and the time of an idle connection', async t => {
    const received = await request(
      t,
      `${get}\r\n`,
      (_call, writer) => {
        writer.writeHead(201, ['X-A', '1', 'Content-Length', '3', 'Link', '</b>', 'Content-Type', 'a/b']);
        assert.equal(writer.write(Buffer.from('a')), true);
        assert.equal(writer.write(Buffer.alloc(0)), true);
        writer.end(Buffer.from('bc'));
      },
      /abc$/,
    );
    const headers = 'X-A: 1\r\nContent-Length: 3\r\nLink: </b>\r\nContent-Type: a/b\r\n';
    assert.equal(received, `HTTP/1.1 201 Created\r\n${headers}${date}${keepAlive}abc`);
  });

  test('a response without a length is chunked, and empty writes are no chunks', async t => {
    const received = await request(
      t,
      `${get}\r\n`,
      (_call, writer) => {
        writer.writeHead(200, []);
        writer.write(Buffer.alloc(0));
        writer.write(Buffer.from('ab'));
        writer.write(Buffer.alloc(17, 'x'));
        writer.end(Buffer.alloc(0));
      },
      /0\r\n\r\n$/,
    );
    const body = `2\r\nab\r\n11\r\n${'x'.repeat(17)}\r\n0\r\n\r\n`;
    assert.equal(received, `HTTP/1.1 200 OK\r\n${date}Transfer-Encoding: chunked\r\n${keepAlive}${body}`);
  });

  test('a last chunk comes with the end of the chunked body', async t => {
    const received = await request(
      t,
      `${get}\r\n`,
      (_call, writer) => {
        writer.writeHead(200, []);
        writer.end(Buffer.from('all'));
      },
      /0\r\n\r\n$/,
    );
    assert.ok(received.endsWith(`${keepAlive}3\r\nall\r\n0\r\n\r\n`), received);
  });

  test('a response to HTTP/1.0 without a length ends with the connection, also with keep-alive', async t => {
    const received = await request(t, 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', (_call, writer) => {
      writer.writeHead(200, []);
      writer.write(Buffer.from('a'));
      writer.end(Buffer.from('b'));
    });
    assert.equal(received, `HTTP/1.1 200 OK\r\n${date}${close}ab`);
  });

  for (const [name, method, status, line, length] of [
    ['HEAD', 'HEAD', 200, '200 OK', 'Content-Length: 3\r\n'],
    ['status 304', 'GET', 304, '304 Not Modified', 'Content-Length: 3\r\n'],
    ['status 204', 'GET', 204, '204 No Content', ''],
  ] as const)
    for (const isWritten of [true, false])
      test(`a response with ${name} has no body, ${isWritten ? 'written in parts' : 'written at once'}`, async t => {
        const received = await request(
          t,
          `${method} / HTTP/1.1\r\nHost: x\r\n\r\n${get}Connection: close\r\n\r\n`,
          (_call, writer) => {
            writer.writeHead(status, ['Content-Length', '3']);
            if (isWritten) assert.equal(writer.write(Buffer.from('abc')), true);
            writer.end(isWritten ? undefined : Buffer.from('abc'));
          },
        );
        assert.ok(received.startsWith(`HTTP/1.1 ${line}\r\n${length}${date}${keepAlive}HTTP/1.1 ${status} `), received);
      });

  test('a response to HEAD without a length is neither chunked nor the last', async t => {
    const handle: Handler = (_call, writer) => {
      writer.writeHead(200, []);
      writer.end(Buffer.from('abc'));
    };
    const received = await request(t, 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n', handle, /\r\n\r\n$/);
    assert.equal(received, `HTTP/1.1 200 OK\r\n${date}${keepAlive}`);
  });

  for (const [name, headers, lines] of [
    ['Date', ['Date', 'today'], `Date: today\r\n${keepAlive}`],
    ['Keep-Alive', ['Keep-Alive', 'timeout=999'], date + keepAlive],
    ['Transfer-Encoding', ['Transfer-Encoding', 'gzip'], date + keepAlive],
    ['Connection', ['Connection', 'x-closed'], date + keepAlive],
    ['Connection: close', ['Connection', 'x, Close'], date + close],
    ['X-Re', ['X-Re', '4'], `X-Re: 4\r\n${date}${keepAlive}`],
    ['X-Connected', ['X-Connected', '11'], `X-Connected: 11\r\n${date}${keepAlive}`],
  ] as const)
    test(`a response with the header ${name} has the framing of the writer`, async t => {
      const handle: Handler = (_call, writer) => {
        writer.writeHead(200, ['Content-Length', '02', ...headers]);
        writer.end(Buffer.from('ok'));
      };
      const received = await request(t, `${get}\r\n`, handle, /ok$/);
      assert.equal(received, `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${lines}ok`);
    });

  for (const [name, parts, last] of [
    ['writes one byte too much', ['abc', 'd'], undefined],
    ['ends with one byte too much', ['ab'], 'cd'],
    ['ends one byte early', ['ab'], undefined],
  ] as const)
    test(`a response that ${name} is truncated, and nothing follows it`, async t => {
      const received = await request(t, `${get}\r\n${get}\r\n`, (_call, writer) => {
        writer.writeHead(200, ['Content-Length', '3']);
        for (const part of parts) assert.equal(writer.write(Buffer.from(part)), true);
        writer.end(last === undefined ? undefined : Buffer.from(last));
      });
      assert.doesNotMatch(received, /d$|HTTP[\s\S]*HTTP/);
    });

  test('a response of length 0 ends, and a second Content-Length after it replaces it by 500', async t => {
    const lengths = [
      ['Content-Length', '0'],
      ['Content-Length', '0', 'Content-Length', '0'],
    ];
    const received = await request(t, `${get}\r\n${get}Connection: close\r\n\r\n`, (_call, writer) => {
      writer.writeHead(200, lengths.shift()!);
      writer.end();
    });
    const replaced = `HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n${date}${close}`;
    assert.equal(received, `HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${date}${keepAlive}${replaced}`);
  });

  test('calls after the end, and a second head, are ignored', async t => {
    const received = await request(t, `${get}\r\n${get}Connection: close\r\n\r\n`, (_call, writer) => {
      writer.writeHead(200, []);
      writer.writeHead(500, []);
      writer.end();
      assert.equal(writer.write(Buffer.from('late')), true);
      writer.end(Buffer.from('late'));
      writer.abort();
    });
    const head = `HTTP/1.1 200 OK\r\n${date}Transfer-Encoding: chunked\r\n`;
    assert.equal(received, `${head}${keepAlive}0\r\n\r\n${head}${close}0\r\n\r\n`);
  });

  test('a head is sent without a body on the next tick; a held one waits for the body, or for `flush`', async t => {
    for (const [isHeld, isFlushed] of [
      [false, false],
      [true, false],
      [true, true],
    ]) {
      const go = Promise.withResolvers<void>();
      const harness = await startTransport(t, createNativeTransport, async (_call, writer) => {
        writer.writeHead(200, ['Content-Length', '2'], undefined, isHeld);
        if (isFlushed) writer.flush!();
        await go.promise;
        writer.end(Buffer.from('ok'));
      });
      const client = await harness.open();
      const written = () => client.accepted.bytesWritten > 0;
      client.send(`${get}\r\n`);
      if (isHeld && !isFlushed) {
        // The request of another connection takes at least as many ticks.
        const other = await harness.open();
        other.send('no request\r\n\r\n');
        await other.closed;
        assert.equal(written(), false);
      } else await client.until(/\r\n\r\n$/);
      go.resolve();
      await client.until(/\r\n\r\nok$/);
    }
  });

  test('shared bytes are copied, of writes and of the end', async t => {
    for (const length of [100, 50_000]) {
      const chunk = Buffer.alloc(length, 'a');
      const handle: Handler = (_call, writer) => {
        assert.equal(writer.takesShared, true);
        writer.writeHead(200, ['Content-Length', String(2 * length)]);
        writer.write(chunk, true);
        chunk.fill('b');
        writer.end(chunk, undefined, true);
        chunk.fill('c');
      };
      const received = await request(t, `${get}Connection: close\r\n\r\n`, handle);
      assert.equal(received.split('\r\n\r\n')[1], 'a'.repeat(length) + 'b'.repeat(length));
    }
  });

  for (const [te, trailers, last] of [
    ['TE: trailers\r\n', ['X-Sum', '7'], '0\r\nX-Sum: 7\r\n\r\n'],
    ['TE: trailers\r\n', undefined, '0\r\n\r\n'],
    ['TE: gzip\r\n', ['X-Sum', '7'], '0\r\n\r\n'],
    ['', ['X-Sum', '7'], '0\r\n\r\n'],
  ] as const)
    test(`${trailers ? 'trailers' : 'no trailers'} with "${te.trim()}" give the end ${JSON.stringify(last)}`, async t => {
      const received = await request(t, `${get}${te}Connection: close\r\n\r\n`, (_call, writer) => {
        writer.writeHead(200, []);
        writer.end(undefined, trailers);
      });
      assert.ok(received.endsWith(`\r\n\r\n${last}`), received);
    });

  test('a status line has the reason of its status, and there is none for what is no status', () => {
    assert.equal(formatStatusLine(100), 'HTTP/1.1 100 Continue\r\n');
    assert.equal(formatStatusLine(404), 'HTTP/1.1 404 Not Found\r\n');
    assert.equal(formatStatusLine(999), 'HTTP/1.1 999 Unknown\r\n');
    for (const status of [99, 1000, Number.NaN]) assert.throws(() => formatStatusLine(status), /is not a status/);
  });
});
