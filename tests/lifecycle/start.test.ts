import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createPublicId, createSecretText } from '#base/ids.ts';
import { rememberSecrets } from '../support/app.ts';
import { type Child, credentialsIn, scratch, startChild } from '../support/gw-process.ts';
import { anyPorts, endLeftOver, plainEnvironment, run, urlIn } from '../support/program-copy.ts';
import { testPostgres } from '../support/services/engines.ts';
import { freePort } from '../support/services/server.ts';

const { fresh, remove } = scratch('start');
after(async () => {
  await endLeftOver();
  await remove();
});

const program = join(import.meta.dirname, '../../src/main.ts');

const secretNames = ['admin_password', 'admin_access_key', 'admin_secret', 'gateway_secret', 'portal_token'] as const;

const refuses = (url: string) =>
  fetch(`${url}/live`).then(
    () => false,
    () => true,
  );

test('without a terminal, start prints three URLs and the path of the credentials, never a secret', async () => {
  const directory = fresh();
  const path = join(directory, 'credentials.json');
  const first = await startChild({ directory });
  assert.deepEqual(Object.keys(first.urls).sort(), ['dashboard', 'gateway', 'portal']);
  for (const name of secretNames) assert.ok(first.credentials[name].length >= 16, name);
  assert.match(first.out(), /^First start\. The credentials are in /m);
  assert.ok(first.out().includes(path));
  for (const file of ['credentials.json', 'master.key', 'listening.json'])
    assert.equal(statSync(join(directory, file)).mode & 0o777, 0o600, file);
  for (const url of Object.values(first.urls)) assert.equal((await fetch(`${url}/live`)).status, 200);
  assert.equal((await first.ask('GET', '/api/users/me')).body.email_address, 'admin@example.org');
  assert.deepEqual([(await first.stop()).code, first.err().includes('Error')], [0, false]);
  assert.equal(existsSync(join(directory, 'listening.json')), false);

  const second = await startChild({ directory });
  assert.deepEqual(Object.keys(second.urls).sort(), ['dashboard', 'gateway', 'portal']);
  assert.ok(second.out().includes(`Credentials: ${path}\n`));
  const output = first.out() + first.err() + second.out() + second.err();
  for (const name of secretNames) assert.ok(!output.includes(second.credentials[name]), name);
  assert.equal((await second.ask('GET', '/api/users/me')).status, 200);
  assert.equal((await second.stop()).code, 0);

  rmSync(path);
  const third = await startChild({ directory });
  assert.match(third.out(), /^Credentials: no credentials\.json here, .*gw credentials --rotate creates new ones$/m);
  await third.stop();
});

/** `script` runs a command on a terminal of its own. */
const onTerminal = (directory: string, environment: Readonly<Record<string, string>> = anyPorts) => {
  const command = ['exec', process.execPath, program, 'start', '--data-dir', directory].join(' ');
  return run(['script', '-qfec', command, '/dev/null'], tmpdir(), { ...plainEnvironment(environment), TERM: 'dumb' });
};

test('credentials are printed once, on a terminal, by the first start that listens', async () => {
  const directory = fresh();
  const taken = createServer();
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
  taken.unref();
  const port = String((taken.address() as AddressInfo).port);
  const failed = onTerminal(directory, { ...anyPorts, GW_DASHBOARD_PORT: port });
  assert.equal(await failed.ended, 1);
  assert.match(failed.output(), /^Port \d+ on 127\.0\.0\.1 is in use/);
  assert.doesNotMatch(failed.output(), /First start/);
  await new Promise(resolve => taken.close(resolve));

  const first = onTerminal(directory);
  await first.until(/portal_token.*\n/);
  const credentials = credentialsIn(directory);
  for (const [name, value] of Object.entries(credentials)) {
    assert.equal(first.output().split(value).length, 2, `${name} is displayed once`);
    assert.match(first.output(), new RegExp(`^  ${name} +\\S+ +\\S.*$`, 'm'), `${name} has a use`);
  }
  const url = urlIn(first.output(), 'dashboard');
  const asked = await fetch(`${url}/gw/apis`, { headers: { 'x-gw-authorization': credentials.gateway_secret } });
  assert.equal(asked.status, 200);
  await first.stop();

  const second = onTerminal(directory);
  await second.until(/Credentials: .*\n/);
  for (const name of secretNames) assert.ok(!second.output().includes(credentials[name]), name);
  await second.stop();
});

test('every setting can be set by its environment variable', async () => {
  const database = await testPostgres();
  const ports = { gateway: await freePort(), dashboard: await freePort(), portal: await freePort() };
  const made = {
    GW_DATABASE_URL: database.url,
    GW_ADMIN_SECRET: createSecretText(),
    GW_GATEWAY_SECRET: createSecretText(),
    GW_PORTAL_TOKEN: createSecretText(),
    GW_BOOTSTRAP_PASSWORD: createSecretText(),
    GW_BOOTSTRAP_ACCESS_KEY: createPublicId(),
    GW_MASTER_KEY: createSecretText(),
  };
  rememberSecrets({ ...made, GW_DATABASE_URL: '' });
  const directory = fresh();
  const environment = {
    ...made,
    GW_DATA_DIR: directory,
    GW_GATEWAY_PORT: String(ports.gateway),
    GW_DASHBOARD_PORT: String(ports.dashboard),
    GW_PORTAL_PORT: String(ports.portal),
    GW_BOOTSTRAP_EMAIL: 'First.Operator@Example.org',
  };
  const child = await startChild({ directory: '/nonexistent/unused', environment });
  for (const [name, port] of Object.entries(ports)) assert.equal(child.urls[name], `http://127.0.0.1:${port}`);

  assert.equal(child.credentials.admin_secret, made.GW_ADMIN_SECRET);
  const me = await child.ask('GET', '/api/users/me', { credential: made.GW_BOOTSTRAP_ACCESS_KEY });
  assert.equal(me.body.email_address, 'first.operator@example.org');
  const reset = await child.ask('POST', `/api/users/${me.body.id}/actions/reset`, {
    body: { current_password: made.GW_BOOTSTRAP_PASSWORD, new_password: `${createSecretText()}aA1!` },
  });
  assert.equal(reset.status, 200, reset.text);
  assert.equal((await child.ask('GET', '/admin/organisations', { credential: made.GW_ADMIN_SECRET })).status, 200);
  assert.equal((await child.ask('GET', '/gw/nothing', { credential: made.GW_GATEWAY_SECRET })).status, 404);
  assert.equal((await child.ask('GET', '/gw/nothing', { credential: createSecretText() })).status, 403);
  assert.equal((await child.ask('GET', '/portal-api/nothing', { credential: made.GW_PORTAL_TOKEN })).status, 404);
  assert.equal((await child.ask('GET', '/portal-api/nothing', { credential: createSecretText() })).status, 401);
  assert.throws(() => readFileSync(join(directory, 'master.key')), { code: 'ENOENT' });
  assert.throws(() => readFileSync(join(directory, 'gw.db')), { code: 'ENOENT' });
  assert.equal((await child.stop()).code, 0);
  await database.drop();
});

test('gw.yaml in the working directory and the file of --config are read, and flags take precedence', async () => {
  const cwd = fresh();
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'gw.yaml'), 'bootstrap:\n  email: yaml@example.org\n  organisation: Yaml\n');
  writeFileSync(join(cwd, 'other.json'), JSON.stringify({ bootstrap: { email: 'json@example.org' } }));
  const email = async (child: Child) => {
    const { body } = await child.ask('GET', '/api/users/me');
    await child.stop();
    return body.email_address;
  };
  assert.equal(await email(await startChild({ directory: fresh(), cwd })), 'yaml@example.org');
  const named = ['--config', 'other.json'];
  assert.equal(await email(await startChild({ directory: fresh(), cwd, args: named })), 'json@example.org');
  const flagged = [...named, '--bootstrap-email=flag@example.org', '--data-dir', fresh()];
  const child = await startChild({ directory: flagged.at(-1)!, cwd, args: flagged });
  assert.equal(await email(child), 'flag@example.org');
});

test('a role opens its own listeners and no others', async () => {
  const directory = fresh();
  const ports = {
    gateway: await freePort(),
    dashboard: await freePort(),
    portal: await freePort(),
    control: await freePort(),
  };
  const environment = {
    GW_GATEWAY_PORT: String(ports.gateway),
    GW_DASHBOARD_PORT: String(ports.dashboard),
    GW_PORTAL_PORT: String(ports.portal),
    GW_GATEWAY_CONTROL_PORT: String(ports.control),
  };
  const served: Record<string, string[]> = {
    all: ['dashboard', 'gateway', 'portal'],
    dashboard: ['dashboard'],
    portal: ['portal'],
    gateway: ['control', 'gateway'],
  };
  const statuses: Record<string, Record<string, number>> = {
    all: { '/api/users/me': 200, '/admin/organisations': 200, '/gw/nothing': 404, '/portal-api/nothing': 404 },
    dashboard: { '/api/users/me': 200, '/admin/organisations': 200, '/gw/nothing': 404 },
    portal: { '/portal-api/nothing': 404 },
    gateway: { '/gw/nothing': 404 },
  };
  for (const [role, names] of Object.entries(served)) {
    const child = await startChild({ directory, environment, args: ['--role', role] });
    assert.deepEqual(Object.keys(child.urls).sort(), names, role);
    for (const [name, port] of Object.entries(ports))
      assert.equal(await refuses(`http://127.0.0.1:${port}`), !names.includes(name), `${role}: ${name}`);
    for (const [path, status] of Object.entries(statuses[role]!)) {
      const answer = await child.ask('GET', path);
      assert.equal(answer.status, status, `${role}: ${path}`);
      assert.ok(answer.body, 'the surface itself answers, in JSON');
    }
    assert.equal((await child.stop()).code, 0);
  }
});

/** Niceness of the threads of a process with this name. */
function readNiceness(pid: number, threadName: string): number[] {
  const stats = readdirSync(`/proc/${pid}/task`).map(id => readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'));
  return stats
    .filter(stat => stat.includes(`(${threadName})`))
    .map(stat => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
}

test('the main thread has a lower priority than traffic threads, and its own in a process without them', async () => {
  const directory = fresh();
  const own = getPriority();
  for (const [role, addedNiceness] of [
    ['all', 5],
    ['dashboard', 0],
  ] as const) {
    const child = await startChild({ directory, environment: { GW_THREADS: '2' }, args: ['--role', role] });
    const { pid } = (await child.ask('GET', '/api/system/nodes')).body.data.nodes[0];
    assert.deepEqual(readNiceness(pid, 'node-MainThread'), [Math.min(own + addedNiceness, 19)], role);
    assert.deepEqual(readNiceness(pid, 'gw-traffic'), role === 'all' ? [own, own] : [], role);
    await child.stop();
  }
});

test('with the role gateway the control port serves only the control interface', async () => {
  const child = await startChild({ directory: fresh(), args: ['--role', 'gateway'] });
  const { control, gateway } = child.urls;
  const refused = await child.ask('GET', '/gw/nothing', { credential: createSecretText() });
  assert.deepEqual(
    [refused.status, refused.body.message],
    [403, 'Attempted administrative access with invalid or missing key!'],
  );
  for (const path of ['/api/users/me', '/admin/organisations', '/portal-api/apps'])
    assert.equal((await fetch(control + path)).status, 404, path);
  assert.equal((await fetch(`${gateway}/gw/nothing`)).status, 404, 'traffic and control stay apart');
  for (const url of [control, gateway])
    for (const path of ['/hello', '/live', '/ready']) assert.equal((await fetch(url + path)).status, 200, path);
  await child.stop();
});
