import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Child, eventually, scratch, startChild } from '../support/gw-process.ts';
import { openApi } from '../support/traffic.ts';
import { startUpstream } from '../support/upstream.ts';

const { fresh, remove } = scratch('analytics');
after(remove);

const upstream = await startUpstream();
after(() => upstream.close());

async function publish(child: Child) {
  const definition = openApi(upstream);
  const { status, text } = await child.ask('POST', '/api/apis', { body: { api_definition: definition } });
  assert.equal(status, 200, text);
  const url = `${child.urls.gateway}${definition.proxy.listen_path}/`;
  await eventually(async () => (await fetch(url)).status === 200, 'the gateway has the API');
  return { apiId: definition.api_id, url };
}

async function hits(child: Child, apiId: string): Promise<number> {
  const { body } = await child.ask('GET', `/api/usage/apis/${apiId}/1/1/2020/31/12/2099`);
  return body.data[0]?.hits ?? 0;
}

const callsServed = () => upstream.requests.length;

test('every request answered before SIGTERM is in analytics after the next start', async () => {
  const directory = fresh();
  const child = await startChild({ directory });
  const before = callsServed();
  const { apiId, url } = await publish(child);
  for (let n = 0; n < 200; n++) await (await fetch(url)).arrayBuffer();
  assert.equal((await child.stop()).code, 0);
  const again = await startChild({ directory });
  assert.equal(await hits(again, apiId), callsServed() - before);
  assert.equal((await again.stop()).code, 0);
});

test('flushed analytics records survive a SIGKILL', async () => {
  const directory = fresh();
  const child = await startChild({ directory });
  const before = callsServed();
  const { apiId, url } = await publish(child);
  for (let n = 0; n < 20; n++) await (await fetch(url)).arrayBuffer();
  const served = callsServed() - before;
  await eventually(async () => (await hits(child, apiId)) === served, 'the calls are counted');
  await child.stop('SIGKILL');
  const again = await startChild({ directory });
  assert.equal(await hits(again, apiId), served);
  assert.equal((await again.stop()).code, 0);
});

test('metrics can be served without authentication, also with the role gateway', async () => {
  const child = await startChild({
    directory: fresh(),
    environment: { GW_METRICS_PUBLIC: 'true', GW_ROLE: 'gateway' },
  });
  const reply = await fetch(`${child.urls.control}/metrics`);
  assert.equal(reply.status, 200);
  assert.match(await reply.text(), /^gw_threads 1$/m);
  assert.equal((await child.stop()).code, 0);
});
