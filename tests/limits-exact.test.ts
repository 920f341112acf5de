import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent } from 'undici';
import { createPublicId } from '#base/ids.ts';
import { engines } from './support/app.ts';
import { eventually, type TestProcess, testInstallation } from './support/installation.ts';
import { testRedis } from './support/services/engines.ts';
import { startRedis } from './support/services/redis.ts';
import { openApi } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Limits are exact: no request beyond one is admitted with several threads, several processes or over a restart. */

let upstream: Upstream;
const closing: (() => Promise<unknown>)[] = [];
before(async () => {
  upstream = await startUpstream();
  upstream.answer = (_request, response) => response.end();
});
after(async () => {
  for (const close of closing.reverse()) await close();
  await upstream.close();
});

async function installation(...asked: Parameters<typeof testInstallation>) {
  const made = await testInstallation(...asked);
  closing.push(made.close);
  return made;
}

/** An API and a key to it. */
async function publishLimited(process: TestProcess, key: object) {
  const api = openApi(upstream, { use_keyless: false });
  await process.write('POST', '/api/apis', { api_definition: api });
  const body = { access_rights: { [api.api_id]: {} }, ...key };
  const { key_id } = await process.write('POST', `/api/keys/${createPublicId()}`, body);
  await process.waitUntilApplied();
  return { id: key_id as string, path: api.proxy.listen_path, body };
}
type Limited = Awaited<ReturnType<typeof publishLimited>>;

const connections = 200;

/** Sends concurrent requests over many connections, spread over the gateways; counts the responses by status. */
async function hammer(gateways: readonly string[], { id, path }: Limited, calls: number) {
  const agent = new Agent({ connections: connections / gateways.length, pipelining: 1 });
  const found: Record<number, number> = {};
  let begun = 0;
  async function caller(): Promise<void> {
    while (begun < calls) {
      const origin = gateways[begun++ % gateways.length]!;
      const reply = await agent.request({ origin, path, method: 'GET', headers: { authorization: id } });
      await reply.body.dump();
      found[reply.statusCode] = (found[reply.statusCode] ?? 0) + 1;
    }
  }
  await Promise.all(Array.from({ length: connections }, caller));
  await agent.close();
  return found;
}

/** Sends one request; returns its status and the remaining quota. */
async function callApi({ gateway }: TestProcess, { id, path }: Limited) {
  const reply = await fetch(gateway + path, { headers: { authorization: id } });
  await reply.text();
  return { status: reply.status, remaining: Number(reply.headers.get('x-ratelimit-remaining')) };
}

const keyPath = ({ id }: Limited) => `/api/keys/${encodeURIComponent(id)}`;

test('four threads and two hundred connections admit exactly the rate in every window', async () => {
  const { start } = await installation('sqlite', { threads: '4' });
  const process = await start();
  const key = await publishLimited(process, { rate: 1000, per: 3600 });
  assert.deepEqual(await hammer([process.gateway], key, 1300), { 200: 1000, 429: 300 });
  await process.write('PUT', keyPath(key), key.body);
  await process.waitUntilApplied();
  assert.deepEqual(await hammer([process.gateway], key, 1100), { 200: 1000, 429: 100 });
});

test('no request beyond the rate is admitted when one window ends and the next opens', async () => {
  const { start } = await installation('sqlite', { threads: '4', 'limits.response_headers': 'rate' });
  const process = await start();
  const { id, path } = await publishLimited(process, { rate: 1000, per: 10 });
  const agent = new Agent({ connections, pipelining: 1 });
  /** Admitted and refused requests, by the end time of their window. */
  const windows = new Map<string, { passed: number; refused: number }>();
  const fullWindows = () => [...windows.values()].filter(({ refused }) => refused > 0).length;
  async function caller(): Promise<void> {
    while (fullWindows() < 2) {
      const asked = { origin: process.gateway, path, method: 'GET', headers: { authorization: id } } as const;
      const { statusCode, headers, body } = await agent.request(asked);
      await body.dump();
      const ends = String(headers['x-ratelimit-reset']);
      const window = windows.get(ends) ?? { passed: 0, refused: 0 };
      windows.set(ends, window);
      if (statusCode === 200) window.passed++;
      else window.refused++;
      // Refused clients retry continuously, with a pause that leaves the processor free.
      if (statusCode === 429) await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
  await Promise.all(Array.from({ length: connections }, caller));
  await agent.close();
  for (const { passed, refused } of windows.values())
    if (refused > 0) assert.equal(passed, 1000);
    else assert.ok(passed <= 1000);
});

test('four threads admit exactly the quota', async () => {
  const { start } = await installation('sqlite', { threads: '4' });
  const process = await start();
  const key = await publishLimited(process, { quota_max: 700, quota_renewal_rate: 3600 });
  assert.deepEqual(await hammer([process.gateway], key, 1000), { 200: 700, 403: 300 });
});

test('two processes on one Redis together admit exactly the rate and the quota', async () => {
  const shared = {
    'redis.url': await testRedis(),
    'redis.prefix': `${createPublicId()}:`,
    'redis.timeout_ms': '10000',
  };
  const { start } = await installation('postgres', { ...shared, threads: '2' });
  const one = await start('one');
  const two = await start('two');
  const key = await publishLimited(one, { rate: 200, per: 3600 });
  const metered = await publishLimited(one, { quota_max: 100, quota_renewal_rate: 3600 });
  await two.waitUntilApplied();
  const gateways = [one.gateway, two.gateway];
  assert.deepEqual(await hammer(gateways, key, 400), { 200: 200, 429: 200 });
  assert.deepEqual(await hammer(gateways, metered, 300), { 200: 100, 403: 200 });
  const readRemaining = async () => (await two.write('GET', keyPath(metered))).data.quota_remaining;
  assert.equal(await readRemaining(), 0);
  await two.write('PUT', keyPath(metered), metered.body);
  assert.equal(await readRemaining(), 100);
  await one.waitUntilApplied();
  assert.deepEqual(await callApi(one, metered), { status: 200, remaining: 99 });
});

interface Hello {
  readonly status: string;
  readonly details: Readonly<Record<string, { status: string; componentType: string; output?: string }>>;
}
const hello = async ({ gateway }: TestProcess) => (await (await fetch(`${gateway}/hello`)).json()) as Hello;

test('while Redis is down requests are served and counted locally, /hello warns, and the counts reach Redis later', async () => {
  const redis = await startRedis();
  closing.push(redis.stop);
  const shared = { 'redis.url': redis.url, 'redis.timeout_ms': '10000' };
  const { start } = await installation('postgres', shared);
  const one = await start('one');
  const two = await start('two');
  const key = await publishLimited(one, { quota_max: 10, quota_renewal_rate: 3600 });
  await two.waitUntilApplied();
  assert.equal((await callApi(one, key)).remaining, 9);
  assert.equal((await callApi(two, key)).remaining, 8);
  assert.equal((await hello(one)).status, 'pass');

  await redis.kill();
  assert.deepEqual(await callApi(one, key), { status: 200, remaining: 8 }, 'from the last known count');
  await eventually(async () => {
    const { status, details } = await hello(one);
    assert.equal(status, 'warn');
    assert.equal(details.redis?.status, 'fail');
    assert.equal(details.redis?.componentType, 'datastore');
    assert.match(details.redis?.output ?? '', /limits are counted in this process only/);
    assert.equal(details.database?.status, 'pass');
  });
  assert.equal((await callApi(one, key)).remaining, 7);

  await redis.restartOnSamePort();
  for (const process of [one, two])
    await eventually(async () => assert.equal((await hello(process)).details.redis?.status, 'pass'));
  // Redis restarted empty. The first process has written back its own counts and those it had read before.
  assert.deepEqual(await callApi(two, key), { status: 200, remaining: 6 });
  assert.deepEqual(await callApi(one, key), { status: 200, remaining: 5 });
});

for (const engine of engines) {
  test(`quota usage survives a restart (${engine})`, async () => {
    const { start } = await installation(engine);
    const first = await start();
    const renewing = await publishLimited(first, { quota_max: 3, quota_renewal_rate: 86_400 });
    const endless = await publishLimited(first, { quota_max: 1, quota_renewal_rate: -1 });
    const reset = await publishLimited(first, { quota_max: 1, quota_renewal_rate: 86_400 });
    for (const key of [renewing, renewing, endless, reset]) assert.equal((await callApi(first, key)).status, 200);
    const { quota_renews } = (await first.write('GET', keyPath(renewing))).data;
    await first.write('PUT', keyPath(reset), reset.body);
    await first.stop();

    const second = await start();
    assert.equal((await second.write('GET', keyPath(renewing))).data.quota_renews, quota_renews);
    assert.deepEqual(await callApi(second, renewing), { status: 200, remaining: 0 });
    assert.equal((await callApi(second, renewing)).status, 403);
    assert.equal((await callApi(second, endless)).status, 403);
    assert.equal((await callApi(second, reset)).status, 200);
    await second.stop();
  });
}

test('/hello reports the state of each component, and other methods get 405', async () => {
  const { start } = await installation('sqlite');
  const process = await start();
  const { status, details } = await hello(process);
  assert.equal(status, 'pass');
  assert.deepEqual(Object.keys(details), ['database']);
  assert.equal((await fetch(`${process.gateway}/hello`, { method: 'POST' })).status, 405);
});
