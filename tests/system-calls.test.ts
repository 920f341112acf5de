import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { openApi, publish } from './support/traffic.ts';

/** Reads and writes of each thread of this process so far, as the kernel counts them. */
function countCalls(): Map<string, { reads: number; writes: number }> {
  const read = (task: string) => {
    const text = readFileSync(`/proc/self/task/${task}/io`, 'utf8');
    const find = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)![1]);
    return { reads: find('syscr'), writes: find('syscw') };
  };
  return new Map(readdirSync('/proc/self/task').map(task => [task, read(task)]));
}

const mainThread = String(process.pid);

/** Reads and writes of the traffic thread while `work` runs: the busiest thread but the one that runs the test. */
async function countDuring(work: () => Promise<void>): Promise<{ reads: number; writes: number }> {
  const earlier = countCalls();
  await work();
  const found = [...countCalls()].flatMap(([task, { reads, writes }]) => {
    const known = earlier.get(task);
    return known && task !== mainThread ? [{ reads: reads - known.reads, writes: writes - known.writes }] : [];
  });
  return found.toSorted((a, b) => b.reads + b.writes - a.reads - a.writes)[0]!;
}

/** Sends a request, and waits for as many bytes as the response has. */
function exchange(socket: Socket, request: string, responseBytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = responseBytes;
    const onData = (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0) return;
      socket.off('data', onData);
      if (left === 0) resolve();
      else reject(new Error('the response is longer than the first one'));
    };
    socket.on('data', onData);
    socket.write(request);
  });
}

const requests = 2000;
/** Beside those of the requests: wake-ups of the thread by others, and its reports. */
const maxOther = requests / 10;

describe('System calls of the traffic path', () => {
  let app: TestApp;
  const body = 'x'.repeat(130);
  const upstream = createServer(socket => {
    socket.on('error', () => undefined);
    socket.on('data', chunk => {
      const count = chunk.toString('latin1').split('\r\n\r\n').length - 1;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`.repeat(count));
    });
  });
  before(async () => {
    app = await startApp('sqlite');
    await new Promise<void>(resolve => void upstream.listen(0, '127.0.0.1', () => resolve()));
  });
  after(async () => {
    await app.close();
    upstream.close();
  });

  test('a request on open connections costs two reads and two writes', async () => {
    const { port } = upstream.address() as AddressInfo;
    const url = new URL(await publish(app, openApi({ url: `http://127.0.0.1:${port}` })));
    const request = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`;
    const socket = connect(Number(url.port), '127.0.0.1').setNoDelay(true);
    try {
      const responseBytes = await new Promise<number>(resolve => {
        socket.once('data', chunk => resolve(chunk.length));
        socket.write(request);
      });
      const { reads, writes } = await countDuring(async () => {
        for (let sent = 0; sent < requests; sent++) await exchange(socket, request, responseBytes);
      });
      assert.ok(reads >= 2 * requests && reads <= 2 * requests + maxOther, `${reads} reads of ${requests} requests`);
      assert.ok(
        writes >= 2 * requests && writes <= 2 * requests + maxOther,
        `${writes} writes of ${requests} requests`,
      );
    } finally {
      socket.destroy();
    }
  });
});
