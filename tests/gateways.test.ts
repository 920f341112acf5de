import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { rememberSecrets } from './support/app.ts';
import { eventually, type TestProcess, testInstallation } from './support/installation.ts';
import { startPostgres } from './support/services/postgres.ts';
import { type Definition, openApi } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Several processes on one database, also during a database outage. */

let upstream: Upstream;
const closing: (() => Promise<unknown>)[] = [];
before(async () => {
  upstream = await startUpstream();
});
after(async () => {
  for (const close of closing.reverse()) await close();
  await upstream.close();
});

async function callApi({ gateway }: TestProcess, { proxy }: Definition, key?: string) {
  const reply = await fetch(`${gateway}${proxy.listen_path}`, key ? { headers: { authorization: key } } : {});
  return { status: reply.status, text: await reply.text() };
}
const status = async (...call: Parameters<typeof callApi>) => (await callApi(...call)).status;
const eventuallyIs = (expected: number, ...call: Parameters<typeof callApi>) =>
  eventually(async () => assert.equal(await status(...call), expected));

const rightsTo = (api: Definition) => ({ [api.api_id]: { versions: ['Default'] } });
async function makeKey(at: TestProcess, body: object): Promise<string> {
  const { key_id } = await at.write('POST', '/api/keys', body);
  rememberSecrets({ key: key_id });
  return key_id;
}

test('a change by one process is served by the other processes on the same database', async () => {
  const { start, close } = await testInstallation('postgres', { threads: '2' });
  closing.push(close);
  const [one, two] = [await start('one'), await start('two')];
  const api = openApi(upstream, { use_keyless: false });
  await one.write('POST', '/api/apis', { api_definition: api });
  await eventuallyIs(401, two, api);

  const policy = {
    name: createPublicId(),
    id: createPublicId(),
    active: true,
    state: 'active',
    access_rights: rightsTo(api),
  };
  await one.write('POST', '/api/portal/policies', policy);
  const key = await makeKey(one, { apply_policies: [policy.id] });
  await eventuallyIs(200, two, api, key);
  await one.write('PUT', `/api/portal/policies/${policy.id}`, { ...policy, is_inactive: true, state: 'deny' });
  await eventuallyIs(403, two, api, key);
  await one.write('PUT', `/api/portal/policies/${policy.id}`, policy);
  await eventuallyIs(200, two, api, key);
  await two.write('DELETE', `/api/keys/${key}`);
  await eventuallyIs(403, one, api, key);

  await two.write('PUT', `/api/apis/${api.api_id}`, { api_definition: { ...api, active: false } });
  await eventuallyIs(404, one, api);
});

test('while the database is down known APIs and keys are served, unknown keys are refused, and writes recover later', async () => {
  const postgres = await startPostgres({ fsync: true });
  closing.push(() => postgres.stop());
  const { url } = await postgres.database();
  const { start, close } = await testInstallation('sqlite', { 'database.url': url });
  closing.push(close);
  const process = await start();
  const open = openApi(upstream);
  const guarded = openApi(upstream, { use_keyless: false });
  for (const api of [open, guarded]) await process.write('POST', '/api/apis', { api_definition: api });
  const [known, unused] = [
    await makeKey(process, { access_rights: rightsTo(guarded) }),
    await makeKey(process, { access_rights: rightsTo(guarded) }),
  ];
  await process.waitUntilApplied();
  assert.equal(await status(process, guarded, known), 200);

  await postgres.kill();
  const cannot = {
    status: 503,
    text: '{\n    "error": "The gateway cannot check this call at the moment, please try again"\n}',
  };
  for (let n = 0; n < 5; n++) {
    assert.equal(await status(process, open), 200);
    assert.equal(await status(process, guarded, known), 200);
    assert.deepEqual(await callApi(process, guarded, unused), cannot);
    assert.deepEqual(await callApi(process, guarded, `guess-${n}`), cannot);
    assert.equal(await status(process, guarded), 401);
  }
  await assert.rejects(process.waitUntilApplied(), { code: 'data_plane.config_not_loaded', status: 503 });
  await eventually(async () => {
    const hello = await (await fetch(`${process.gateway}/hello`)).json();
    assert.equal((hello as { details: { database: { status: string } } }).details.database.status, 'fail');
  });

  await postgres.restartOnSamePort();
  await eventuallyIs(200, process, guarded, unused);
  assert.equal(await status(process, guarded, 'guess-0'), 403);
  const late = openApi(upstream);
  await process.write('POST', '/api/apis', { api_definition: late });
  await eventuallyIs(200, process, late);
  await process.waitUntilApplied();
});
