import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { type DispatchResult, dispatchRequest, startRawUpstream } from '../../../../tests/support/raw-upstream.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import { createTestPool } from '../../../../tests/support/upstream-pool.ts';

const head = (...lines: string[]) => `HTTP/1.1 200 OK\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`;

interface ResponseCase {
  readonly title: string;
  readonly bytes: string;
  readonly method?: string;
  /** The upstream closes after the bytes. */
  readonly closesAfter?: boolean;
  /** `body` is the body; an `error` is a code. */
  readonly expect: Partial<DispatchResult>;
  /** The connection serves the next request. */
  readonly isReused?: boolean;
}

const invalid = { error: 'GW_HTTP1_INVALID' };
const truncated = { error: 'UND_ERR_SOCKET', bytesRead: 0 };

const complete: readonly ResponseCase[] = [
  { title: 'a body by length', bytes: `${head('Content-Length: 3')}abc`, expect: { body: 'abc' }, isReused: true },
  { title: 'an empty body', bytes: head('Content-Length: 0'), expect: { body: '' }, isReused: true },
  {
    title: 'a body in chunks',
    bytes: `${head('Transfer-Encoding: chunked')}2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n`,
    expect: { body: 'abc', trailers: [] },
    isReused: true,
  },
  {
    title: 'trailers',
    bytes: `${head('Transfer-Encoding: chunked')}1\r\na\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n`,
    expect: { body: 'a', trailers: ['X-Sum', '1', 'Y', '2'] },
    isReused: true,
  },
  {
    title: 'a body until close',
    bytes: `${head('X: y')}abc`,
    closesAfter: true,
    expect: { body: 'abc', headers: ['X', 'y'] },
  },
  { title: 'an empty body until close', bytes: head(), closesAfter: true, expect: { body: '', status: 200 } },
  {
    title: 'a response to HEAD with a length',
    method: 'HEAD',
    bytes: head('Content-Length: 3'),
    expect: { body: '', headers: ['Content-Length', '3'] },
  },
  {
    title: 'a 204 response',
    bytes: 'HTTP/1.1 204 No Content\r\n\r\n',
    expect: { status: 204, body: '' },
    isReused: true,
  },
  {
    title: 'a 204 response with the length 0',
    bytes: 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
    expect: { status: 204, body: '' },
    isReused: true,
  },
  {
    title: 'a 304 response that announces bytes, which the next request must not get',
    bytes: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n',
    expect: { status: 304, body: '' },
    isReused: false,
  },
  {
    title: 'a 204 response that announces bytes, which the next request must not get',
    bytes: 'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n',
    expect: { status: 204, body: '' },
    isReused: false,
  },
  {
    title: 'a 204 response that announces chunks, which the next request must not get',
    bytes: 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n',
    expect: { status: 204, body: '' },
    isReused: false,
  },
  {
    title: 'interim responses before the final one',
    bytes: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${head('Content-Length: 1')}a`,
    expect: { interim: [100, 103], body: 'a', headers: ['Content-Length', '1'] },
    isReused: true,
  },
  {
    title: 'no reason phrase',
    bytes: 'HTTP/1.1 299 \r\nContent-Length: 1\r\n\r\na',
    expect: { status: 299, body: 'a' },
    isReused: true,
  },
  {
    title: 'header names and values in their original case, repeated',
    bytes: `${head('content-LENGTH: 1', 'Set-Cookie: a', 'set-cookie:  b\t', 'X-Empty:', 'X-Latin: \xe9')}a`,
    expect: {
      headers: ['content-LENGTH', '1', 'Set-Cookie', 'a', 'set-cookie', 'b', 'X-Empty', '', 'X-Latin', '\xe9'],
    },
    isReused: true,
  },
  { title: 'Connection: close', bytes: `${head('Content-Length: 1', 'Connection: Close')}a`, expect: { body: 'a' } },
  { title: 'HTTP/1.0', bytes: 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na', expect: { body: 'a' } },
  {
    title: 'HTTP/1.0 with keep-alive',
    bytes: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na',
    expect: { body: 'a' },
    isReused: true,
  },
  {
    title: 'Keep-Alive with less time than a request needs',
    bytes: `${head('Content-Length: 1', 'Keep-Alive: timeout=1')}a`,
    expect: { body: 'a' },
  },
  {
    title: 'Keep-Alive with a time',
    bytes: `${head('Content-Length: 1', 'Keep-Alive: timeout=5, max=9')}a`,
    expect: { body: 'a' },
    isReused: true,
  },
  { title: 'bytes after a body by length', bytes: `${head('Content-Length: 1')}ab`, expect: { body: 'a' } },
  {
    title: 'bytes after a body in chunks',
    bytes: `${head('Transfer-Encoding: chunked')}1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n`,
    expect: { body: 'a' },
  },
  { title: 'a body after HEAD', method: 'HEAD', bytes: `${head('Content-Length: 1')}a`, expect: { body: '' } },
  { title: 'a body after 204', bytes: 'HTTP/1.1 204 No\r\n\r\nx', expect: { status: 204, body: '' } },
];

const refused: readonly ResponseCase[] = [
  { title: 'two lengths', bytes: `${head('Content-Length: 1', 'Content-Length: 1')}a`, expect: invalid },
  { title: 'a list of lengths', bytes: `${head('Content-Length: 1, 1')}a`, expect: invalid },
  { title: 'a signed length', bytes: `${head('Content-Length: +1')}a`, expect: invalid },
  {
    title: 'a length and chunks',
    bytes: `${head('Content-Length: 1', 'Transfer-Encoding: chunked')}1\r\na\r\n0\r\n\r\n`,
    expect: invalid,
  },
  { title: 'another coding', bytes: head('Transfer-Encoding: gzip, chunked'), expect: invalid },
  { title: 'chunks in HTTP/1.0', bytes: 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', expect: invalid },
  { title: 'a bare line feed', bytes: 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n', expect: invalid },
  { title: 'a folded line', bytes: head('A: b', ' c', 'Content-Length: 0'), expect: invalid },
  { title: 'a space before the colon', bytes: head('A : b', 'Content-Length: 0'), expect: invalid },
  { title: 'a control byte', bytes: head('A: \x01', 'Content-Length: 0'), expect: invalid },
  { title: 'a chunk size that is no number', bytes: `${head('Transfer-Encoding: chunked')}0x1\r\na`, expect: invalid },
  { title: 'a chunk longer than its size', bytes: `${head('Transfer-Encoding: chunked')}1\r\nab\r\n`, expect: invalid },
  {
    title: 'a framing header as a trailer',
    bytes: `${head('Transfer-Encoding: chunked')}0\r\nContent-Length: 1\r\n\r\n`,
    expect: invalid,
  },
  {
    title: 'an interim response that closes the connection',
    bytes: `HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n${head('Content-Length: 0')}`,
    expect: invalid,
  },
  { title: 'an upgrade', bytes: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n', expect: invalid },
  { title: 'another protocol', bytes: 'SSH-2.0-x\r\n', expect: invalid },
  { title: 'another version', bytes: 'HTTP/2.0 200 OK\r\n\r\n', expect: invalid },
  { title: 'a status below 100', bytes: 'HTTP/1.1 099 Odd\r\n\r\n', expect: invalid },
  { title: 'a head beyond the limit', bytes: head(`X: ${'x'.repeat(100_000)}`), expect: invalid },
  { title: 'a head that never ends', bytes: `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`, expect: invalid },
  { title: 'more headers than the limit', bytes: head(...Array.from({ length: 1500 }, () => 'X: y')), expect: invalid },
];

const closed: readonly ResponseCase[] = [
  { title: 'before the first byte', bytes: '', closesAfter: true, expect: truncated },
  { title: 'in the head', bytes: 'HTTP/1.1 200 OK\r\nConte', closesAfter: true, expect: truncated },
  { title: 'after an interim response', bytes: 'HTTP/1.1 100 Continue\r\n\r\n', closesAfter: true, expect: truncated },
  {
    title: 'after the head',
    bytes: head('Content-Length: 2'),
    closesAfter: true,
    expect: { ...truncated, status: 200 },
  },
  {
    title: 'in the body',
    bytes: `${head('Content-Length: 2')}a`,
    closesAfter: true,
    expect: { ...truncated, body: 'a' },
  },
  {
    title: 'in a chunk size',
    bytes: `${head('Transfer-Encoding: chunked')}1\r\na\r\n1`,
    closesAfter: true,
    expect: { ...truncated, body: 'a' },
  },
  {
    title: 'before the last line of the chunks',
    bytes: `${head('Transfer-Encoding: chunked')}1\r\na\r\n0\r\n`,
    closesAfter: true,
    expect: { ...truncated, body: 'a' },
  },
];

/** Writes in segments of a size: each arrives as a read of its own, as far as the network allows. */
function writeSegments(socket: Socket, text: string, size: number, after: () => void): void {
  const bytes = Buffer.from(text, 'latin1');
  let at = 0;
  const next = () => {
    if (socket.destroyed) return;
    if (at >= bytes.length) return after();
    const segment = bytes.subarray(at, at + size);
    at += size;
    socket.write(segment, () => setImmediate(next));
  };
  next();
}

describe('HTTP/1.1 upstream responses', () => {
  for (const [group, cases] of Object.entries({ complete, refused, closed }))
    for (const { title, bytes, method = 'GET', closesAfter, expect, isReused = false } of cases)
      for (const size of bytes.length < 500 ? [100_000, 1, 7] : [100_000])
        test(`${group}: ${title}, in segments of ${size} bytes`, async t => {
          const upstream = await startRawUpstream(t);
          const pool = createTestPool(t, upstream.origin);
          upstream.respond = (socket, { index, connection }) => {
            if (index + connection > 0) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext');
            else
              writeSegments(socket, bytes, size, () => {
                if (closesAfter) socket.end();
              });
          };
          const result = await dispatchRequest(pool, { method });
          for (const [name, value] of Object.entries({ error: '', ...expect }))
            assert.deepEqual(result[name as keyof DispatchResult], value, name);
          if (!isReused) await eventually(() => assert.equal(upstream.sockets.size, 0));
          const next = await dispatchRequest(pool);
          assert.deepEqual([next.error, next.body, next.trailers], ['', 'next', []]);
          assert.equal(upstream.connectionCount(), isReused ? 1 : 2);
        });

  test('a response that ends with its connection while the handler pauses is complete after it resumes', async t => {
    const upstream = await startRawUpstream(t);
    const pool = createTestPool(t, upstream.origin);
    for (const bytes of [`${head()}abc`, `${head('Content-Length: 3')}abc`]) {
      upstream.respond = socket => void socket.end(bytes);
      let resumeLater: () => void = () => assert.fail('no data');
      const paused = Promise.withResolvers<void>();
      const pause = (_chunk: Buffer, resume: () => void) => {
        resumeLater = resume;
        paused.resolve();
        return false;
      };
      const sent = dispatchRequest(pool, {}, { onData: pause });
      await paused.promise;
      // Another exchange with the upstream takes longer than the FIN on loopback.
      upstream.respond = socket => void socket.end(`${head('Content-Length: 2')}ok`);
      assert.equal((await dispatchRequest(pool)).body, 'ok');
      resumeLater();
      const { error, body } = await sent;
      assert.deepEqual([error, body], ['', 'abc'], bytes);
    }
  });

  test('a reset in the head, in the body and until close fails the request', async t => {
    const upstream = await startRawUpstream(t);
    const pool = createTestPool(t, upstream.origin);
    for (const bytes of ['HTTP/1.1 200', `${head('Content-Length: 2')}a`, `${head()}a`]) {
      upstream.respond = socket => {
        socket.write(bytes);
        // Once the bytes arrived: a reset discards what was not read.
        if (bytes.startsWith('HTTP/1.1 200 OK')) return;
        setImmediate(() => socket.resetAndDestroy());
      };
      const result = await dispatchRequest(
        pool,
        {},
        {
          onData: () => {
            for (const socket of upstream.sockets) socket.resetAndDestroy();
            return true;
          },
        },
      );
      assert.equal(result.error, 'ECONNRESET', bytes);
      assert.equal(result.bytesRead, 0, 'a response that has begun is not retried');
    }
  });
});
