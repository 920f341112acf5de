import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { createPublicId, createSecretText } from '#base/ids.ts';
import { createDataKey, parseMasterKey, wrapDataKey } from '#base/vault.ts';
import { rememberSecrets } from './support/app.ts';
import { makeCertificate } from './support/certificates.ts';
import { runChild, startChild } from './support/gw-process.ts';
import { eventually, type TestProcess, testInstallation } from './support/installation.ts';
import { testPostgres } from './support/services/engines.ts';
import { type Relay, startRelay } from './support/tcp-relay.ts';
import { mint } from './support/tokens.ts';
import { type Definition, openApi } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** A process that starts while PostgreSQL does not answer. */

let upstream: Upstream;
const closing: (() => unknown)[] = [];
before(async () => {
  upstream = await startUpstream();
});
after(async () => {
  for (const close of closing.reverse()) await close();
  await upstream.close();
});

function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'gw-outage-'));
  closing.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function place(settings: Record<string, string> = {}) {
  const database = await testPostgres();
  closing.push(() => database.drop());
  const relay = await startRelay(database.url);
  closing.push(() => relay.cut().catch(() => undefined));
  const directory = freshDirectory();
  const lines: string[] = [];
  const master = createSecretText();
  const given = { 'database.url': relay.url, data_dir: directory, master_key: master, ...settings };
  const installation = await testInstallation('sqlite', given, line => lines.push(line));
  closing.push(installation.close);
  const file = join(directory, 'config-backup.sealed');
  const findLines = (words: string) => lines.filter(line => line.includes(words));
  return { database, relay, directory, file, logged: findLines, master, start: installation.start };
}

async function callApi({ gateway }: TestProcess, { proxy }: Definition, authorization?: string) {
  const reply = await fetch(gateway + proxy.listen_path, authorization ? { headers: { authorization } } : {});
  return { status: reply.status, text: await reply.text() };
}
const status = async (...call: Parameters<typeof callApi>) => (await callApi(...call)).status;
const cannot = {
  status: 503,
  text: '{\n    "error": "The gateway cannot check this call at the moment, please try again"\n}',
};
const eventuallyIs = (expected: number, ...call: Parameters<typeof status>) =>
  eventually(async () => assert.equal(await status(...call), expected));

async function requestManagement({ application: { urls } }: TestProcess, path: string) {
  const base = path.startsWith('/portal-api') ? urls.portal : urls.dashboard;
  const credentials = { authorization: 'some-key', 'admin-auth': 'some', 'x-gw-authorization': 'some' };
  const reply = await fetch(base + path, { headers: credentials });
  return { status: reply.status, text: await reply.text() };
}

const databasePart = async (base: string | undefined) =>
  ((await (await fetch(`${base}/hello`)).json()) as { details: { database: { status: string } } }).details.database
    .status;
const readiness = async (base: string | undefined) => (await fetch(`${base}/ready`)).status;

const tokenSecret = `canary-${createSecretText()}`;
const token = `Bearer ${mint({ sub: 'ann' }, tokenSecret, { alg: 'HS256' })}`;
const rightsTo = (api: Definition) => ({ [api.api_id]: { versions: ['Default'] } });

const certificate = makeCertificate({ cn: 'gateway.example' });

async function upload({ application: { urls, installation } }: TestProcess): Promise<string> {
  const { admin_access_key } = JSON.parse(installation.directory.read('credentials.json')!);
  const headers = { authorization: admin_access_key };
  const body = certificate.certPem + certificate.keyPem;
  const reply = await fetch(`${urls.dashboard}/api/certs`, { method: 'POST', headers, body });
  return ((await reply.json()) as { id: string }).id;
}

/** An open API, one that shows a certificate to its upstream, one for tokens under a policy, and one for keys. */
async function publishAll(process: TestProcess) {
  const open = openApi(upstream);
  const certified = openApi(upstream, { upstream_certificates: { '*': await upload(process) } });
  const guarded = openApi(upstream, { use_keyless: false });
  const policyId = createPublicId();
  const tokens = openApi(upstream, {
    use_keyless: false,
    enable_jwt: true,
    jwt_signing_method: 'hmac',
    jwt_source: Buffer.from(tokenSecret).toString('base64'),
    jwt_identity_base_field: 'sub',
    jwt_default_policies: [policyId],
  });
  for (const api of [open, certified, guarded, tokens])
    await process.write('POST', '/api/apis', { api_definition: api });
  const policy = { name: policyId, id: policyId, active: true, state: 'active', access_rights: rightsTo(tokens) };
  await process.write('POST', '/api/portal/policies', policy);
  const { key_id: key } = await process.write('POST', '/api/keys', { access_rights: rightsTo(guarded) });
  rememberSecrets({ key, tokenSecret });
  await eventuallyIs(200, process, tokens, token);
  await eventuallyIs(200, process, guarded, key);
  await eventuallyIs(200, process, certified);
  return { open, certified, guarded, tokens, key: key as string };
}

test('a start without the database serves the last snapshot, refuses management, and recovers with the database', async () => {
  const { relay, database, start, logged } = await place({ 'limits.organisations': 'true', threads: '2' });
  const first = await start();
  const { open, certified, guarded, tokens, key } = await publishAll(first);
  await first.stop();
  await relay.cut();

  const process = await start();
  const { urls } = process.application;
  assert.equal(logged('database unavailable, serving the config backup').length, 1);
  for (let n = 0; n < 4; n++) {
    assert.equal(await status(process, open), 200);
    assert.equal(await status(process, certified), 200);
    assert.deepEqual(await callApi(process, guarded, key), cannot);
    assert.equal(await status(process, guarded), 401);
    // What a key of the same name says of this caller is not known; whose token is wrong is known.
    assert.deepEqual(await callApi(process, tokens, token), cannot);
    assert.equal(await status(process, tokens, `${token}x`), 403);
  }
  for (const path of ['/api/apis', '/admin/organisations', '/gw/apis', '/portal-api/products']) {
    const answer = await requestManagement(process, path);
    assert.equal(answer.status, 503, `${path}: ${answer.text}`);
    assert.match(answer.text, /The database is unavailable: no connection since the start/);
  }
  for (const base of [urls.gateway, urls.dashboard, urls.portal]) assert.equal(await databasePart(base), 'fail');
  assert.deepEqual([await readiness(urls.gateway), await readiness(urls.dashboard)], [200, 503]);
  await assert.rejects(process.waitUntilApplied(), { code: 'data_plane.config_not_loaded', status: 503 });

  const elsewhere = await start('two', { 'database.url': database.url, data_dir: freshDirectory() });
  const late = openApi(upstream);
  await elsewhere.write('DELETE', `/api/apis/${open.api_id}`);
  await elsewhere.write('POST', '/api/apis', { api_definition: late });
  assert.equal(await status(process, open), 200);

  await relay.mend();
  await eventuallyIs(200, process, late);
  await eventuallyIs(404, process, open);
  await eventuallyIs(200, process, guarded, key);
  await eventuallyIs(200, process, tokens, token);
  assert.equal(await status(process, certified), 200);
  await eventually(async () => assert.equal(await readiness(urls.dashboard), 200));
  await process.write('POST', '/api/apis', { api_definition: open });
  await process.waitUntilApplied();
  assert.equal(await status(process, open), 200);
  assert.equal(await databasePart(urls.gateway), 'pass');
  assert.equal(logged('database available, offline mode ended').length, 1);
  await process.stop();
  await elsewhere.stop();
});

describe('Traffic snapshot file', () => {
  let relay: Relay;
  let at: Awaited<ReturnType<typeof place>>;
  let made: Awaited<ReturnType<typeof publishAll>>;
  let whole: string;
  before(async () => {
    at = await place();
    relay = at.relay;
    const process = await at.start();
    made = await publishAll(process);
    await process.stop();
    whole = readFileSync(at.file, 'utf8');
    await relay.cut();
  });

  test('it is encrypted and readable by its owner only', () => {
    assert.equal(statSync(at.file).mode & 0o777, 0o600);
    const url = new URL(relay.url);
    const words = [tokenSecret, made.key, made.open.api_id, made.open.proxy.listen_path, upstream.url, url.pathname];
    const keyLines = certificate.keyPem.split('\n').filter(line => line.length > 20);
    for (const word of [...words, ...keyLines, Buffer.from(tokenSecret).toString('base64'), at.master])
      assert.ok(!whole.includes(word), word);
    assert.ok(!existsSync(`${at.file}.new`));
  });

  test('a modified, truncated, combined or invalid file is ignored, and the start fails', async () => {
    const lines = whole.split('\n');
    const middle = Math.floor(whole.length / 2);
    const other = whole[middle] === 'A' ? 'B' : 'A';
    const wrong = {
      changed: whole.slice(0, middle) + other + whole.slice(middle + 1),
      cut: lines.slice(0, -2).join('\n'),
      shorter: `${[...lines.slice(0, -3), lines.at(-2)].join('\n')}\n`,
      swapped: [lines[0], lines[2], lines[1], ...lines.slice(3)].join('\n'),
      longer: `${whole}${lines[1]}\n`,
      newer: whole.replace('"format":1', '"format":2'),
      none: 'nothing of ours',
      empty: '',
    };
    for (const [name, text] of Object.entries(wrong)) {
      writeFileSync(at.file, text);
      const before = at.logged('config backup ignored').length;
      await assert.rejects(at.start(), { code: 'database.unavailable' }, name);
      assert.equal(at.logged('config backup ignored').length, before + 1, name);
    }
    writeFileSync(at.file, whole);
  });

  test('it is not used for another database, with another master key, or when disabled', async () => {
    const url = new URL(relay.url);
    url.pathname = '/another';
    const databaseUnavailable = { code: 'database.unavailable' };
    await assert.rejects(at.start('one', { 'database.url': url.href }), databaseUnavailable);
    assert.equal(at.logged('it belongs to another database').length, 1);
    await assert.rejects(at.start('one', { master_key: createSecretText() }), databaseUnavailable);
    assert.equal(at.logged('the master key cannot decrypt it').length, 1);
    await assert.rejects(at.start('one', { 'database.config_backup': 'false' }), databaseUnavailable);
    await assert.rejects(at.start('one', { role: 'dashboard' }), databaseUnavailable);
    const process = await at.start();
    assert.equal(await status(process, made.open), 200);
    await process.stop();
  });

  test('it follows changes while the process runs, and is deleted when disabled', async () => {
    await relay.mend();
    const process = await at.start();
    const text = () => readFileSync(at.file, 'utf8');
    await eventually(() => assert.notEqual(text(), whole));
    const written = text();
    await process.write('POST', '/api/apis', { api_definition: openApi(upstream) });
    await eventually(() => assert.notEqual(text(), written));
    await process.stop();
    const last = text();
    const again = await at.start('one', { 'database.config_backup': 'false' });
    assert.ok(last.length > 0 && !existsSync(at.file));
    await again.stop();
  });
});

test('a database that was replaced is not written to, and the snapshot is still served', async () => {
  const { database, relay, start, logged, master } = await place();
  const first = await start();
  const { open } = await publishAll(first);
  await first.stop();
  await relay.cut();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const key = wrapDataKey(createDataKey(), parseMasterKey(master));
  await client.query("update meta set value = $1 where name = 'data_key'", [key]);
  await client.end();

  const process = await start();
  await relay.mend();
  await eventually(() => assert.equal(logged('not the one that the config backup was made of').length, 1));
  assert.equal(await status(process, open), 200);
  assert.equal((await requestManagement(process, '/api/apis')).status, 503);
  await process.stop();
});

test('the database decides which master key is valid, and a rotation deletes the snapshot file', async () => {
  const { relay, start, directory, file } = await place({ master_key: '' });
  const first = await start();
  const { open } = await publishAll(first);
  await first.stop();
  await relay.cut();
  const next = join(directory, 'master.key.next');
  writeFileSync(next, createSecretText());
  const environment = { GW_DATABASE_URL: relay.url };
  const child = await startChild({ directory, environment });
  assert.match(child.out(), /ready, without its database: traffic is served from the config backup/);
  assert.equal((await fetch(child.urls.gateway + open.proxy.listen_path)).status, 200);
  assert.deepEqual((await child.stop()).code, 0);
  assert.ok(existsSync(next) && existsSync(file));

  await relay.mend();
  const { code, err } = await runChild(['credentials', '--rotate-master'], { directory, environment });
  assert.equal(code, 0, err);
  assert.ok(!existsSync(next) && !existsSync(file));
});

test('with SQLite no snapshot file is written', async () => {
  const directory = freshDirectory();
  const { start, close } = await testInstallation('sqlite', { data_dir: directory });
  closing.push(close);
  const process = await start();
  await process.write('POST', '/api/apis', { api_definition: openApi(upstream) });
  await process.stop();
  assert.ok(!existsSync(join(directory, 'config-backup.sealed')));
});
