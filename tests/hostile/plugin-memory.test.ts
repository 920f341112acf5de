import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startApp } from '../support/app.ts';
import { openApi, publish } from '../support/traffic.ts';
import { startUpstream } from '../support/upstream.ts';

/** A script that keeps 64 KiB and its request in a global list with every call. */
const keptBytes = 65_536;
const code = `const mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessRequest(function (request) {
  globalThis.kept = globalThis.kept || [];
  kept.push(new Uint8Array(${keptBytes}).fill(1), request);
  request.SetHeaders['X-Kept'] = String(kept.length);
  return mw.ReturnData(request, {});
});`;

const warmUpCalls = 2000;
const rounds = 3;
const callsPerRound = 3400;
const parallelCalls = 20;

/**
 * Resident memory without the free part of the main thread's heap: that heap also has the client and the upstream of
 * this test, and V8 gives its free pages back when it likes.
 */
function measureBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  return rss - heapTotal + heapUsed;
}

test('ten thousand calls of a script that keeps memory: a later round adds none to the first', async t => {
  const [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  t.after(() => Promise.all([app.close(), upstream.close()]));
  const pre = [{ name: 'mw', path: '', code: Buffer.from(code).toString('base64') }];
  const url = await publish(app, openApi(upstream, { custom_middleware: { driver: 'javascript', pre } }));
  async function callOnce(): Promise<void> {
    const reply = await fetch(url);
    await reply.arrayBuffer();
    assert.equal(reply.status, 200);
    // The request of an earlier call is in no list of a later one.
    assert.equal(upstream.requests.at(-1)!.headers['x-kept'], '2');
  }
  async function run(calls: number): Promise<number> {
    for (let done = 0; done < calls; done += parallelCalls)
      await Promise.all(Array.from({ length: parallelCalls }, callOnce));
    upstream.requests.splice(0, upstream.requests.length - 1);
    return measureBytes();
  }
  await run(warmUpCalls);
  const measured: number[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await run(callsPerRound));
  const inMib = measured.map(bytes => Math.round(bytes / 1_048_576)).join(', ');
  t.diagnostic(`${inMib} MiB after each round`);
  // A fifth of what the later rounds would have left behind.
  const maxGrownBytes = (keptBytes * callsPerRound * (rounds - 1)) / 5;
  assert.ok(measured.at(-1)! - measured[0]! < maxGrownBytes, `${inMib} MiB after each round`);
});
