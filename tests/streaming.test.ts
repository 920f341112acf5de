import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { finished, Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { eventually, openApi, publish } from './support/traffic.ts';

const chunk = Buffer.alloc(65_536, 'x');
const whole = 96 * 1024 * 1024;
/** What sockets on the way may hold, and far less than the whole. */
const bearable = 48 * 1024 * 1024;

/** Waits until a number no longer changes. */
async function still(measure: () => number): Promise<number> {
  let last = -1;
  let same = 0;
  await eventually(() => {
    const now = measure();
    same = now === last ? same + 1 : 0;
    last = now;
    assert.ok(now > 0 && same > 300);
  });
  return last;
}

/** Counts what was taken of it. */
function source(): { stream: Readable; taken: () => number } {
  let taken = 0;
  const stream = new Readable({
    highWaterMark: chunk.length,
    read() {
      taken += chunk.length;
      this.push(taken > whole ? null : chunk);
    },
  });
  return { stream, taken: () => Math.min(taken, whole) };
}

describe('Body streaming and backpressure', () => {
  let app: TestApp;
  const servers: (Server | Http2Server)[] = [];
  const sockets = new Set<Socket>();
  before(async () => {
    app = await startApp('sqlite');
  });
  after(async () => {
    await app?.close();
    for (const socket of sockets) socket.destroy();
    for (const server of servers) await new Promise(resolve => server.close(resolve));
  });

  type Serving = (request: Readable, response: NodeJS.WritableStream) => void;
  async function target(scheme: 'http' | 'h2c', serve: Serving): Promise<string> {
    const server = scheme === 'http' ? createServer(serve) : createHttp2Server(serve as never);
    (server as Server).on('connection', socket => sockets.add(socket));
    servers.push(server);
    await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', () => resolve()));
    return publish(app, openApi({ url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}` }));
  }

  for (const scheme of ['http', 'h2c'] as const) {
    test(`a response over ${scheme} is paused by a client that does not read, and aborted by a disconnect`, async () => {
      const { stream, taken } = source();
      const ended = Promise.withResolvers<void>();
      const url = new URL(
        await target(scheme, (_request, response) => {
          stream.pipe(response);
          finished(response, () => ended.resolve());
        }),
      );
      const caller = connect(Number(url.port), '127.0.0.1');
      sockets.add(caller);
      caller.pause();
      caller.write(`GET ${url.pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const held = await still(taken);
      assert.ok(held < bearable, `${held} bytes were taken for a caller that reads nothing`);
      caller.destroy();
      await ended.promise;
      assert.ok(taken() < whole);
    });

    test(`a response head over ${scheme} is forwarded before its body, and each part of the body as it arrives`, async () => {
      const parts: NodeJS.WritableStream[] = [];
      const url = await target(scheme, (_request, response) => {
        (response as unknown as { flushHeaders(): void }).flushHeaders();
        parts.push(response);
      });
      const response = await fetch(url);
      assert.equal(response.status, 200);
      const reader = response.body!.getReader();
      for (const part of ['one', 'two']) {
        parts[0]!.write(part);
        assert.equal(Buffer.from((await reader.read()).value!).toString(), part);
      }
      parts[0]!.end();
      assert.equal((await reader.read()).done, true);
    });

    test(`concurrent responses over ${scheme} to clients that pause have their own bytes`, async () => {
      const partBytes = 40_000;
      const parts = 60;
      const url = await target(scheme, (request, response) => {
        const fill = (request as IncomingMessage).url!.at(-1)!;
        Readable.from(Array.from({ length: parts }, () => Buffer.alloc(partBytes, fill))).pipe(response);
      });
      const receive = async (fill: string) => {
        let bytes = 0;
        for await (const part of (await fetch(`${url}/${fill}`)).body!) {
          assert.deepEqual(Buffer.from(part), Buffer.alloc(part.length, fill));
          bytes += part.length;
          // Other responses are read and written meanwhile.
          await new Promise(resolve => setImmediate(resolve));
        }
        return bytes;
      };
      const sizes = await Promise.all([...'abcdefgh'].map(receive));
      assert.deepEqual(
        sizes,
        sizes.map(() => parts * partBytes),
      );
    });

    test(`a request over ${scheme} is paused by an upstream that does not read, and arrives complete when it does`, async () => {
      const { stream, taken } = source();
      const reading = Promise.withResolvers<Readable>();
      let arrived = 0;
      const url = await target(scheme, (asked, response) => {
        reading.resolve(asked);
        asked.once('end', () => response.end(String(arrived)));
      });
      const asked = request(url, { method: 'POST' });
      stream.pipe(asked);
      const slow = await reading.promise;
      const held = await still(taken);
      assert.ok(held < bearable, `${held} bytes were taken for an upstream that reads nothing`);
      slow.on('data', part => {
        arrived += part.length;
      });
      const answered = Promise.withResolvers<string>();
      asked.on('response', response => response.on('data', part => answered.resolve(String(part))));
      assert.equal(await answered.promise, String(whole));
    });

    test(`a client disconnect during the request body aborts the request over ${scheme}`, async () => {
      const reading = Promise.withResolvers<Readable>();
      const url = await target(scheme, asked => void reading.resolve(asked.on('error', () => undefined).resume()));
      const asked = request(url, { method: 'POST' }).on('error', () => undefined);
      asked.write(chunk);
      const received = await reading.promise;
      asked.destroy();
      await new Promise<void>(resolve => received.once('close', () => resolve()));
      assert.ok((received as IncomingMessage).aborted, 'what is not whole does not pass for it');
    });
  }
});
