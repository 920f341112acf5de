import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '#base/clock.ts';
import { createClientClaims } from '../../http/client-claims.ts';
import { createClientAddressResolver } from '../../pipeline/client-address.ts';
import { createListener } from '../listener.ts';
import { createNativeTransport } from './native-transport.ts';

const connections = 2000;

/** Of both ends, which are in this process: twice what the gateway needs, and more. */
const maxBytesPerConnection = 16_384;

const body = Buffer.from('ok');

function createTransport() {
  const timeoutMs = 600_000;
  return createNativeTransport({
    handler: {
      handle(_call, writer) {
        writer.writeHead(200, ['Content-Length', '2']);
        writer.end(body);
      },
    },
    clock: systemClock,
    paths: { keepEncodedSlashes: false, keepDoubleEncoding: false },
    clientAddress: createClientAddressResolver([]),
    isClientClaim: createClientClaims([]),
    limits: {
      maxHeaderBytes: 65_536,
      maxHeaders: 200,
      headersTimeoutMs: timeoutMs,
      requestTimeoutMs: timeoutMs,
      bodyRate: { minBytesPerSecond: 0, windowMs: 1000 },
      keepAliveTimeoutMs: timeoutMs,
      halfCloseTimeoutMs: timeoutMs,
      writeTimeoutMs: timeoutMs,
    },
    webSockets: true,
    onWriteError: assert.fail,
  });
}

function measureBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('thousands of idle connections take a few kilobytes each', async t => {
  const transport = createTransport();
  const listener = createListener({ http1: transport, apiPort: 0, firstByteTimeoutMs: 5000, maxConnections: 10_000 });
  const port = await listener.listen({ host: '127.0.0.1', port: 0, reusePort: false });
  const sockets: Socket[] = [];
  async function openIdle(): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.push(socket);
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Padding: ${'x'.repeat(2000)}\r\n\r\n`);
    await once(socket, 'data');
  }
  for (let i = 0; i < 50; i++) await openIdle();
  const before = measureBytes();
  for (let i = 0; i < connections; i++) await openIdle();
  const bytesPerConnection = Math.round((measureBytes() - before) / connections);
  t.diagnostic(`${bytesPerConnection} bytes for both ends of a connection`);
  for (const socket of sockets) socket.destroy();
  transport.close();
  await listener.close();
  assert.ok(bytesPerConnection < maxBytesPerConnection, `${bytesPerConnection} bytes each`);
});
