import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Pool } from 'undici';
import { startApp, type TestApp } from './support/app.ts';
import { eventually, openApi, publish } from './support/traffic.ts';

/** Analytics records while the main thread does not consume them. */

let app: TestApp;
before(async () => {
  app = await startApp('sqlite', { threadProgram: new URL('support/stalled-thread.ts', import.meta.url) });
});
after(() => app?.close());

const atOnce = 50;
const callsOfARound = 2000;

async function metric(line: RegExp): Promise<number> {
  const headers = { 'admin-auth': app.credentials.admin_secret };
  const { text } = await app.ask('GET', '/metrics', { headers });
  return Number(line.exec(text)?.[1] ?? 0);
}

test('records beyond the queue are counted as dropped, delay no request, and stay in the metrics', async () => {
  const api = openApi({ url: 'http://127.0.0.1:1' }, { use_keyless: false });
  const path = new URL(await publish(app, api)).pathname;
  const pool = new Pool(app.url.gateway, { connections: atOnce });
  let calls = 0;
  async function round(): Promise<void> {
    const until = calls + callsOfARound;
    const caller = async () => {
      while (calls < until) {
        calls++;
        const { statusCode, body } = await pool.request({ path, method: 'GET' });
        await body.dump();
        assert.equal(statusCode, 401);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, caller));
  }
  const countDropped = () => metric(/^gw_records_dropped_total\{where="thread"\} (\d+)$/m);
  while ((await countDropped()) === 0) await round();
  await pool.close();
  const counted = new RegExp(`^gw_requests_total\\{api="${api.api_id}",status="4xx"\\} (\\d+)$`, 'm');
  await eventually(async () => assert.equal(await metric(counted), calls));
  const lost = await countDropped();
  await eventually(async () => {
    const { body } = await app.ask('GET', `/api/usage/apis/${api.api_id}/1/1/2020/31/12/2099`);
    assert.equal(body.dropped, lost);
    assert.ok(body.data[0].hits > 0 && body.data[0].hits + lost < calls, 'the rest waits in the thread');
  });
});
