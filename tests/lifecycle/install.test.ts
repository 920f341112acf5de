import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { credentialsIn, scratch } from '../support/gw-process.ts';
import { anyPorts, copyProgram, endLeftOver, plainEnvironment, run, urlIn } from '../support/program-copy.ts';

const { fresh, remove } = scratch('install');
after(async () => {
  await endLeftOver();
  await remove();
});

const unwanted = ['typescript', '@biomejs', '@types', 'fast-check'];

test('an installation without devDependencies starts by npm start and by bin/gw on its bundled Node', async () => {
  const directory = fresh();
  copyProgram(directory, { withPackages: false });
  const environment = plainEnvironment(anyPorts);
  const missing = run(['bin/gw', '--version'], directory, environment);
  assert.equal(await missing.ended, 127);
  assert.match(missing.output(), /^gw is not installed yet: run npm ci in .*\n$/);

  const flags = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'] as const;
  const install = run(['npm', 'ci', ...flags], directory, environment);
  assert.equal(await install.ended, 0, install.output());
  const warnings = install.output().match(/^npm (?:warn|error) (?!Unknown (?:user|project|env) config).*$/gim);
  assert.equal(warnings, null, String(warnings));
  for (const name of unwanted) assert.equal(existsSync(join(directory, 'node_modules', name)), false, name);
  assert.deepEqual(globSync('node_modules/node/node_modules/node-*/include', { cwd: directory }), []);
  assert.ok(existsSync(join(directory, 'node_modules/.cache/gatewright')), 'compiled once, by the installation');

  for (const command of [['npm', 'start'] as const, ['bin/gw', 'start'] as const]) {
    const started = run(command, directory, { ...environment, NODE_ENV: 'production' });
    await started.until(/credentials\.json/);
    const { gateway_secret } = credentialsIn(join(directory, 'data'));
    const control = urlIn(started.output(), 'dashboard');
    const listed = await fetch(`${control}/gw/apis`, { headers: { 'x-gw-authorization': gateway_secret } });
    assert.deepEqual([listed.status, await listed.json()], [200, []]);
    assert.equal((await fetch(`${urlIn(started.output(), 'gateway')}/hello`)).status, 200);
    assert.doesNotMatch(started.output(), /Warning:/);
    await started.stop();
  }
});

test('the program imports no package of devDependencies', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, '../..', name), 'utf8'));
  const { dependencies } = read('package.json');
  const { packages } = read('package-lock.json');
  for (const name of Object.keys(dependencies)) assert.notEqual(packages[`node_modules/${name}`].dev, true, name);
  assert.ok('node' in dependencies);
});
