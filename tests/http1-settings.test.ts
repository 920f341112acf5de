import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
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
