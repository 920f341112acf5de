import assert from 'node:assert/strict';
import { getPriority } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { BroadcastChannel } from 'node:worker_threads';
import { Agent, request } from 'undici';
import { lowerThreadPriority, setThreadNiceness } from '#base/process.ts';
import { startApp, type TestApp } from './support/app.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Steady traffic, for a minute with `GW_TEST_LONG=1`, while the definition it goes through changes all the time. */
const lastsMs = process.env.GW_TEST_LONG === '1' ? 60_000 : 5000;
const changes = 200;
const callers = 12;

describe('Reload under load', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite', { settings: { threads: '2' } }), startUpstream()]);
    upstream.answer = (asked, response) => response.end(asked.url);
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });

  test('no request fails or mixes revisions, and the newest revision is served', {
    timeout: 180_000,
  }, async () => {
    const revision = (n: number) => `${upstream.url}/r${n}/x?rev=r${n}`;
    const definition = openApi({ url: revision(0) });
    const url = await publish(app, definition);
    const agent = new Agent({ connections: callers });
    const seen = new Set<string>();
    let calls = 0;
    let over = false;

    async function keepCalling(): Promise<void> {
      while (!over) {
        const { statusCode, body } = await request(`${url}/call`, { dispatcher: agent });
        const text = await body.text();
        assert.equal(statusCode, 200, text);
        const [, path, query] = /^\/(r\d+)\/x\/call\?rev=(r\d+)$/.exec(text) ?? [];
        assert.ok(path !== undefined && path === query, `mixed: ${text}`);
        seen.add(path);
        calls++;
      }
    }

    const started = performance.now();
    const traffic = Promise.all(Array.from({ length: callers }, keepCalling));
    for (let n = 1; n <= changes; n++) {
      const next = { ...definition, proxy: { ...definition.proxy, target_url: revision(n) } };
      const { status, text } = await app.ask('PUT', `/api/apis/${definition.api_id}`, {
        body: { api_definition: next },
      });
      assert.equal(status, 200, text);
      // Spread by waiting for traffic, not for a clock: each revision sees calls.
      const until = calls + callers;
      await eventually(() => assert.ok(calls > until || over));
    }
    await waitUntilApplied(app);
    const last = `r${changes}`;
    await eventually(() => assert.ok(seen.has(last)));
    await eventually(() => assert.ok(performance.now() - started > lastsMs), 2 * lastsMs);
    over = true;
    await traffic;
    await agent.close();
    assert.ok(seen.size > changes / 2, `${seen.size} of ${changes} revisions were seen in ${calls} calls`);
  });

  test('a crashed traffic thread is logged and replaced with its priority, and the other keeps serving', async () => {
    const program = new URL('support/crashing-thread.ts', import.meta.url);
    const lines: string[] = [];
    const onLog = (line: string) => void lines.push(line);
    const mortal = await startApp('sqlite', { settings: { threads: '2' }, threadProgram: program, onLog });
    const url = await publish(mortal, openApi(upstream));
    const niceness = getPriority();
    const alive = new Map<number, number>();
    const births = new BroadcastChannel('gw-test-born');
    births.onmessage = ({ data }) => alive.set(data.threadId, data.niceness);
    const deaths = new BroadcastChannel('gw-test-die');
    const rollCall = new BroadcastChannel('gw-test-roll-call');
    rollCall.postMessage('who?');
    await eventually(() => assert.equal(alive.size, 2));
    const [first] = alive.keys();
    // As the program does once it is ready; a process without the right to raise a priority cannot undo it.
    lowerThreadPriority();
    const mayRaise = setThreadNiceness(niceness);
    lowerThreadPriority();
    const lowered = getPriority();
    assert.notEqual(lowered, niceness);
    deaths.postMessage(first);
    // One by one on new connections: whoever is alive answers, and nobody waits for the dead.
    for (let n = 0; n < 20; n++) {
      const { statusCode, body } = await eventually(() => request(`${url}/x`, { headers: { connection: 'close' } }));
      await body.dump();
      assert.equal(statusCode, 200);
    }
    await eventually(() => assert.equal(alive.size, 3));
    assert.equal([...alive.values()].at(-1), mayRaise ? niceness : lowered);
    setThreadNiceness(niceness);
    assert.ok(lines.some(line => JSON.parse(line).msg === 'traffic thread crashed'));
    for (const channel of [births, deaths, rollCall]) channel.close();
    await mortal.close();
  });
});
