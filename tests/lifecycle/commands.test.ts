import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSecretText } from '#base/ids.ts';
import { settingNames } from '#base/settings.ts';
import { version } from '../../src/version.ts';
import { rememberSecrets } from '../support/app.ts';
import { credentialsIn, runChild, scratch, startChild } from '../support/gw-process.ts';
import { openApi } from '../support/traffic.ts';

const { fresh, remove } = scratch('commands');
after(remove);

test('gw help lists every command and writes nothing to disk', async () => {
  for (const command of [[], ['help'], ['-h'], ['--help'], ['start', '--help']]) {
    const directory = fresh();
    const { code, out, err } = await runChild(command, { directory });
    assert.deepEqual([code, err], [0, '']);
    for (const name of ['start', 'config', 'migrate', 'credentials']) assert.match(out, new RegExp(`gw ${name}`));
    assert.equal(existsSync(directory), false);
  }
  assert.equal((await runChild(['--version'], { directory: fresh() })).out, `${version}\n`);
});

test('an unknown command, flag or setting is refused with a one-line error and a suggestion', async () => {
  const directory = fresh();
  const runRefused = async (...command: string[]) => {
    const { code, err } = await runChild(command, { directory });
    assert.notEqual(code, 0);
    assert.equal(err.trimEnd().split('\n').length, 1, err);
    return err.trimEnd();
  };
  assert.equal(await runRefused('strat'), 'There is no command strat; did you mean start? (gw --help lists them all)');
  assert.equal(await runRefused('constructor'), 'There is no command constructor (gw --help lists them all)');
  assert.match(await runRefused('start', 'now'), /^There is no command start now/);
  assert.match(await runRefused('aply', 'config'), /^There is no command aply config; did you mean apply\?/);
  const guess = 'gateway-prot (flag --gateway-prot): no such setting; did you mean gateway.port?';
  assert.equal(await runRefused('start', '--gateway-prot', '1'), guess);
  assert.equal(
    await runRefused('start', '--rotate'),
    'rotate (flag --rotate): no such setting (gw config lists them all)',
  );
  const known = 'it has --rotate, --rotate-master, --config and every setting (gw config lists them all)';
  assert.equal(await runRefused('credentials', '--show'), `gw credentials has no option --show: ${known}`);
  assert.equal(
    await runRefused('credentials', '--rotat'),
    `gw credentials has no option --rotat: ${known}; did you mean --rotate?`,
  );
  assert.equal(await runRefused('credentials', '--rotate=false'), '--rotate takes no value');
  assert.equal(await runRefused('start', '--data-dir'), '--data-dir needs a value');
  assert.match(
    await runRefused('config', '--config', '/nonexistent.yaml'),
    /^\/nonexistent\.yaml: cannot be read \(ENOENT\)$/,
  );
  assert.equal(existsSync(directory), false);
});

test('all invalid settings are reported together, one line each', async () => {
  const environment = { GW_GATEWAY_PORT: 'x', GW_LOG_LEVEL: 'loud' };
  const { code, err } = await runChild(['start', '--portl-port', '1'], { directory: fresh(), environment });
  assert.equal(code, 1);
  assert.equal(err.trimEnd().split('\n').length, 3, err);
});

test('gw config prints the effective settings as YAML with secrets masked', async () => {
  const directory = fresh();
  const secrets = { GW_ADMIN_SECRET: createSecretText(), GW_DATABASE_URL: 'postgres://u:canary-password@127.0.0.1/x' };
  rememberSecrets(secrets);
  const { code, out, err } = await runChild(['config', '--gateway-port', '4711', '--production'], {
    directory,
    environment: secrets,
  });
  assert.deepEqual([code, err], [0, '']);
  for (const name of settingNames) assert.match(out, new RegExp(`^${name}: `, 'm'));
  assert.match(out, /^gateway\.port: 4711$/m);
  assert.match(out, /^production: true$/m);
  assert.match(out, /^admin\.secret: "\*{8}"$/m);
  assert.match(out, /^portal\.token: ""$/m);
  for (const secret of [secrets.GW_ADMIN_SECRET, 'canary-password']) assert.ok(!out.includes(secret));

  const file = `${fresh()}.yaml`;
  writeFileSync(file, out.replaceAll('"********"', '""'));
  const again = await runChild(['config', '--config', file], {
    directory: '',
    environment: { GW_DATA_DIR: directory },
  });
  assert.match(again.out, /^gateway\.host: "127\.0\.0\.1"$/m);
});

test('gw migrate creates the database and exits, and can be repeated', async () => {
  const directory = fresh();
  for (const printed of [
    /^The database was created with schema version \d+\.\n$/,
    / has schema version \d+ already\.\n$/,
  ]) {
    const { code, out, err } = await runChild(['migrate'], { directory });
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, printed);
  }
  const child = await startChild({ directory });
  assert.match(child.out(), /First start/);
  await child.stop();
});

test('gw credentials prints the path of the credentials before the first start, while gw runs and after it', async () => {
  const directory = fresh();
  const path = join(directory, 'credentials.json');
  const before = await runChild(['credentials'], { directory });
  assert.equal(existsSync(directory), false);
  assert.deepEqual([before.code, before.out], [0, `There are no credentials yet: gw start creates them in ${path}\n`]);
  const rotated = await runChild(['credentials', '--rotate'], { directory });
  assert.deepEqual([rotated.code, rotated.out, existsSync(directory)], [1, '', false]);
  assert.match(rotated.err, /^There are no credentials to rotate: .* has no installation\. Start gw once/);
  const child = await startChild({ directory });
  const running = await runChild(['credentials'], { directory });
  assert.deepEqual([running.code, running.out, running.err], [0, `${path}\n`, '']);
  const busy = await runChild(['credentials', '--rotate'], { directory });
  assert.deepEqual([busy.code, busy.err.startsWith('Another gw is running')], [1, true]);
  await child.stop();
  const after = await runChild(['credentials'], { directory });
  assert.deepEqual([after.code, after.out], [0, `${path}\n`]);
});

test('credentials --rotate replaces all credentials except those fixed by a setting, and the old ones are refused', async () => {
  const directory = fresh();
  const fixed = createSecretText();
  const environment = { GW_PORTAL_TOKEN: fixed };
  const first = await startChild({ directory, environment });
  const old = first.credentials;
  await first.stop();
  const { code, out } = await runChild(['credentials', '--rotate'], { directory, environment });
  assert.equal(code, 0);
  const next = credentialsIn(directory);
  for (const secret of [next.admin_secret, next.admin_access_key, next.admin_password])
    assert.ok(!out.includes(secret));
  assert.deepEqual([next.portal_token, next.organisation_id], [fixed, old.organisation_id]);

  const child = await startChild({ directory, environment });
  const statuses = async ({ admin_secret, admin_access_key, gateway_secret }: typeof old) => [
    (await child.ask('GET', '/admin/organisations', { credential: admin_secret })).status,
    (await child.ask('GET', '/api/users/me', { credential: admin_access_key })).status,
    (await child.ask('GET', '/gw/nothing', { credential: gateway_secret })).status,
  ];
  assert.deepEqual(await statuses(next), [200, 200, 404]);
  assert.deepEqual(await statuses(old), [401, 401, 403]);
  const { body: me } = await child.ask('GET', '/api/users/me');
  const reset = (current_password: string) =>
    child.ask('POST', `/api/users/${me.id}/actions/reset`, {
      body: { current_password, new_password: next.admin_password },
    });
  assert.notEqual((await reset(old.admin_password)).status, 200);
  assert.equal((await reset(next.admin_password)).status, 200);
  assert.equal((await child.ask('GET', '/portal-api/nothing', { credential: fixed })).status, 404);
  await child.stop();
});

test('credentials --rotate-master keeps stored secrets readable, and the old master key is refused', async () => {
  const directory = fresh();
  const first = await startChild({ directory });
  const password = `planted-${createSecretText()}`;
  rememberSecrets({ password });
  const basic_auth = { enabled: true, username: 'ann', password };
  const api_definition = openApi({ url: 'http://127.0.0.1:1' }, { upstream_auth: { enabled: true, basic_auth } });
  assert.equal((await first.ask('POST', '/api/apis', { body: { api_definition } })).status, 200);
  await first.stop();
  const path = join(directory, 'master.key');
  const old = readFileSync(path, 'utf8');
  const { code, out } = await runChild(['credentials', '--rotate-master'], { directory });
  assert.equal(code, 0);
  assert.match(out, /master\.key is new/);
  const next = readFileSync(path, 'utf8');
  assert.notEqual(next, old);
  assert.ok(!out.includes(next));
  const child = await startChild({ directory });
  assert.equal((await child.ask('GET', '/api/users/me')).status, 200);
  assert.equal((await child.ask('GET', '/admin/organisations')).status, 200);
  const { body } = await child.ask('GET', `/api/apis/${api_definition.api_id}`);
  assert.equal(body.api_definition.upstream_auth.basic_auth.password, password);
  await child.stop();
  const refused = await runChild(['start'], { directory, environment: { GW_MASTER_KEY: old } });
  assert.equal(refused.code, 1);
  assert.match(refused.err, /^The master key cannot decrypt the data key: [^\n]*\n$/);
});

test('--rotate-master writes the new key to a file when the old one is a setting and stdout is no terminal', async () => {
  const directory = fresh();
  const old = { GW_MASTER_KEY: createSecretText() };
  await (await startChild({ directory, environment: old })).stop();
  const { code, out } = await runChild(['credentials', '--rotate-master'], { directory, environment: old });
  assert.equal(code, 0);
  const file = join(directory, 'master.key.rotated');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const next = { GW_MASTER_KEY: readFileSync(file, 'utf8').trim() };
  assert.ok(out.includes(file) && !out.includes(next.GW_MASTER_KEY));
  rememberSecrets({ old: old.GW_MASTER_KEY, next: next.GW_MASTER_KEY });
  const refused = await runChild(['start'], { directory, environment: old });
  assert.deepEqual([refused.code, refused.err.startsWith('The master key cannot decrypt')], [1, true]);
  const child = await startChild({ directory, environment: next });
  assert.equal((await child.ask('GET', '/api/users/me')).status, 200);
  await child.stop();
  const missing = await runChild(['start'], { directory });
  assert.equal(missing.code, 1);
  assert.match(missing.err, /^The master key of this database is missing: [^\n]*\n$/);
});
