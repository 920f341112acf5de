import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { createServer, type TLSSocket } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { makeAuthority, makeServerCertificate } from '../../../../tests/support/certificates.ts';
import { dispatchRequest, startRawUpstream } from '../../../../tests/support/raw-upstream.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import { createTestPool } from '../../../../tests/support/upstream-pool.ts';

const certificate = makeServerCertificate(makeAuthority('Upstream authority'));

/** Upstream behind TLS that writes bytes as they are when a head has arrived. */
async function startTlsUpstream(t: TestContext, respond: (socket: TLSSocket) => void) {
  const sockets: TLSSocket[] = [];
  /** For each connection: its session was resumed. */
  const resumed: boolean[] = [];
  const server = createServer({ cert: certificate.chainPem, key: certificate.keyPem }, socket => {
    sockets.push(socket);
    resumed.push(socket.isSessionReused());
    socket.on('error', () => socket.destroy());
    socket.on('data', chunk => void (String(chunk).includes('\r\n\r\n') && respond(socket)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pool = createTestPool(t, origin, { connection: { tls: { rejectUnauthorized: false } } });
  return { pool, sockets, resumed };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

describe('HTTP/1.1 upstream connections', () => {
  test('a request over TLS reuses its connection', async t => {
    const { pool, sockets } = await startTlsUpstream(
      t,
      socket => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    );
    for (let i = 0; i < 3; i++) assert.equal((await dispatchRequest(pool)).body, 'ok');
    assert.equal(sockets.length, 1);
  });

  test('a new connection over TLS resumes the session of an earlier one, also after garbage collection', async t => {
    const { pool, resumed } = await startTlsUpstream(
      t,
      socket => void socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'),
    );
    for (let i = 0; i < 3; i++) {
      assert.equal((await dispatchRequest(pool)).body, 'ok');
      collectGarbage();
    }
    assert.deepEqual(resumed, [false, true, true]);
  });

  test('a connection over TLS closed before the response is not reported as stale', async t => {
    const { pool } = await startTlsUpstream(t, socket => void socket.destroy());
    const { error, bytesRead } = await dispatchRequest(pool);
    assert.match(error, /^(UND_ERR_SOCKET|ECONNRESET)$/);
    assert.equal(bytesRead, 0);
  });

  test('a body over TLS arrives complete at a handler that pauses after each part', async t => {
    const bytes = Buffer.alloc(3_000_000, 'abcdefghij');
    const { pool } = await startTlsUpstream(t, socket => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    });
    for (let i = 0; i < 2; i++) {
      const { body, error } = await dispatchRequest(
        pool,
        {},
        {
          onData(_chunk, resume) {
            setImmediate(resume);
            return false;
          },
        },
      );
      assert.equal(error, '');
      assert.ok(body === bytes.toString('latin1'));
    }
  });

  test('bytes are kept apart when many connections are read in turns', async t => {
    const upstream = await startRawUpstream(t);
    const pool = createTestPool(t, upstream.origin, { pool: { maxConnections: 20 } });
    const size = 400_000;
    upstream.respond = (socket, { connection }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\nX-Connection: ${connection}\r\n\r\n`);
      const write = (left: number) => {
        if (left > 0) socket.write(Buffer.alloc(Math.min(left, 9000), 65 + connection), () => write(left - 9000));
      };
      write(size);
    };
    const results = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { headers, error, body } = await dispatchRequest(pool);
        assert.equal(error, '');
        return { body, connection: Number(headers.at(-1)) };
      }),
    );
    for (const { body, connection } of results)
      assert.ok(body === String.fromCharCode(65 + connection).repeat(size), `connection ${connection}`);
  });

  test('a greeting of another protocol fails the request and closes the connection', async t => {
    const upstream = await startRawUpstream(t);
    const pool = createTestPool(t, upstream.origin);
    const greeted: Socket[] = [];
    upstream.onConnection = socket => {
      if (greeted.push(socket) === 1) socket.write('220 mail.test ready\r\n');
    };
    const first = await dispatchRequest(pool);
    assert.equal(first.error, 'GW_HTTP1_INVALID');
    assert.equal((await dispatchRequest(pool)).body, 'ok');
    await eventually(() => assert.equal(upstream.sockets.size, 1));
  });

  test('the addresses of a name are tried in turn', async t => {
    const upstream = await startRawUpstream(t);
    const pool = createTestPool(t, `http://upstream.test:${upstream.port}`, {
      pool: { resolve: (_host, answer) => answer(null, ['::1', '127.0.0.1']) },
    });
    for (let i = 0; i < 3; i++) assert.equal((await dispatchRequest(pool)).body, 'ok');
    assert.equal(upstream.connectionCount(), 1);
  });
});
