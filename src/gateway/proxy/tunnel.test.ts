import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createLog } from '#base/log.ts';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { type Chain, Exchange } from '../pipeline/exchange.ts';
import { refusals } from '../pipeline/refusals.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import type { ResponseContext } from './response-context.ts';
import { Tunnel } from './tunnel.ts';

const server = createServer((_request, response) => response.end('no'));
server.on('upgrade', (request, socket) => {
  if (request.url === '/agrees')
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
});

const asking = () =>
  new Exchange({
    ...{
      method: 'GET',
      target: '/',
      path: '/',
      query: '',
      host: 'x',
      upgrade: 'websocket',
      clientAddress: '127.0.0.1',
    },
    ...{ headers: new HeaderList(), body: noBody(), receivedAtMs: 0, startedAt: 0 },
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined },
  });

/** Must not be called: the response to the client is a refusal. */
const never = () => assert.fail('the upstream response was written');

describe('upgrade tunnel: a response step throws', () => {
  let port = 0;
  before(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const fault = new Error('a step failed');
  const moments: readonly [when: string, path: string, more: Partial<Chain>][] = [
    ['the head of an agreement', '/agrees', {}],
    ['the head of an answer', '/declines', {}],
    ['an answer that was held', '/declines', { buffersResponse: [() => true] }],
  ];
  for (const [when, path, more] of moments)
    test(`${when}: the error fails that request once, and no other`, async () => {
      const failures: unknown[] = [];
      const statuses: number[] = [];
      const settled = Promise.withResolvers<void>();
      const writer: ResponseWriter = {
        onDrain: undefined,
        writeHead: status => void statuses.push(status),
        write: never,
        end: () => undefined,
        abort: never,
        switchProtocol: never,
      };
      const context: ResponseContext = {
        maxResponseBytes: 1000,
        maxBufferedBytes: 1000,
        bufferingTimeouts: new TimeoutQueue(10_000),
        responder: {
          log: createLog({ level: 'silent', format: 'json' }),
          overrideRefusal: () => undefined,
          onUpstreamFailure: (_call, code, reason) => void failures.push([code, reason]),
          record: () => settled.resolve(),
        },
      };
      const call = asking();
      call.chain = {
        ...{ request: [], transformBody: [], captureBody: [], onUpstreamResult: [], buffersResponse: [] },
        ...{ finalizeResponse: [], replaceRefusal: [], onRefusal: [] },
        response: [
          () => {
            throw fault;
          },
        ],
        names: { request: [], response: ['faulty'] },
        onFinish: [],
        ...more,
      };
      const open = async () => connect(port, '127.0.0.1');
      new Tunnel(call, writer, context, {
        open,
        path,
        headers: ['host', 'x'],
        closeTimeoutMs: 1000,
        timeoutMs: 10_000,
      }).send();
      await settled.promise;
      assert.deepEqual(failures, [['upstream_failed', `unknown: ${fault.message}`]]);
      assert.deepEqual(statuses, [refusals.upstream_failed.status]);
    });
});
