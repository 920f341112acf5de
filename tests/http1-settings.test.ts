import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { after, before, test } from 'node:test';
import { openApi, publish } from './support/traffic.ts';
import { eventually } from './support/upstream.ts';
import { withSettings } from './support/with-settings.ts';

for (const [timeoutMs, outcome] of [
  ['0', 'gets none'],
  ['60000', 'gets it'],
] as const)
  withSettings(
    `Half-close timeout of ${timeoutMs} ms`,
    { 'gateway.half_close_timeout_ms': timeoutMs },
    (app, upstream) => {
      test(`a client that ends its side before the response ${outcome}`, async () => {
        const url = new URL(await publish(app(), openApi(upstream())));
        const ended = Promise.withResolvers<void>();
        let isAborted = false;
        upstream().answer = (_request, response) => {
          response.once('close', () => {
            isAborted = !response.writableFinished;
          });
          void ended.promise.then(() => response.end('late'));
        };
        const socket = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true });
        const closed = once(socket, 'close');
        let received = '';
        socket.on('data', bytes => {
          received += bytes;
        });
        socket.end(`GET ${url.pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
        await once(socket, 'finish');
        if (timeoutMs === '0') await eventually(() => assert.ok(isAborted));
        else await eventually(() => assert.equal(upstream().requests.length, 1));
        ended.resolve();
        await closed;
        assert.equal(received.endsWith('late'), timeoutMs !== '0', received);
      });
    },
  );

const limits = { 'upstream.max_response_header_bytes': '2048', 'upstream.max_response_headers': '20' };
for (const [name, settings, isH2c] of [
  ['native', { ...limits, 'gateway.http1_engine': 'native' }, false],
  ['node', { ...limits, 'gateway.http1_engine': 'node' }, false],
  ['HTTP/2', limits, true],
] as const)
  withSettings(`Limits of upstream response heads, ${name}`, settings, app => {
    let server: HttpServer | Http2Server;
    let headers: Record<string, string> = {};
    before(async () => {
      const respond = (response: {
        writeHead(status: number, more: Record<string, string>): unknown;
        end(): unknown;
      }) => {
        response.writeHead(200, headers);
        response.end();
      };
      server = isH2c
        ? createHttp2Server((_request, response) => respond(response))
        : createServer((_request, response) => respond(response));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    after(() => void server.close());

    async function readStatus(more: Record<string, string>): Promise<number> {
      headers = more;
      const { port } = server.address() as AddressInfo;
      const url = await publish(app(), openApi({ url: `${isH2c ? 'h2c' : 'http'}://127.0.0.1:${port}` }));
      return (await fetch(url)).status;
    }
    const createHeaders = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_none, at) => [`x-${at}`, '1']));

    test('upstream.max_response_header_bytes: a larger head becomes a 502', async () => {
      assert.equal(await readStatus({ 'x-a': 'a'.repeat(1500) }), 200);
      assert.equal(await readStatus({ 'x-a': 'a'.repeat(2100) }), 502);
    });

    test('upstream.max_response_headers: a head with more becomes a 502', async () => {
      assert.equal(await readStatus(createHeaders(12)), 200);
      assert.equal(await readStatus(createHeaders(21)), 502);
    });
  });
