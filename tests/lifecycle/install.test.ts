import assert from 'node:assert/strict';
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type BuiltStage, buildDockerfile } from '../support/dockerfile.ts';
import { credentialsIn, scratch } from '../support/gw-process.ts';
import { anyPorts, endLeftOver, plainEnvironment, run, urlIn } from '../support/program-copy.ts';

const { root: scratchRoot, fresh, remove } = scratch('install');
const repository = join(import.meta.dirname, '../..');
const isRoot = process.getuid?.() === 0;
/** User of the image; without root the tests can only be the one they are. */
const containerUser = isRoot ? { uid: 10_001, gid: 10_001 } : { uid: process.getuid!(), gid: process.getgid!() };

const unwanted = ['typescript', '@biomejs', '@types/pg', 'fast-check'];

/** An installation from the package cache, on a machine that does other things. */
const timeout = 600_000;

describe('an installation by the Dockerfile', { timeout }, () => {
  const target = fresh();
  const environment = plainEnvironment({ ...anyPorts, npm_config_prefer_offline: 'true' });
  let stages: Map<string, BuiltStage>;
  let installed: string;
  let image: BuiltStage;

  before(async () => {
    mkdirSync(target, { recursive: true });
    // Another user has to reach the tree, as in a container.
    for (const path of [scratchRoot, target]) chmodSync(path, 0o755);
    stages = await buildDockerfile({
      context: repository,
      target,
      mapUser: text => text.replaceAll('10001', String(containerUser.uid)),
      async execute(command, directory) {
        if (command.startsWith('npm ci')) await checkNotInstalled(directory);
        const { ended, output } = run(['sh', '-c', command], directory, environment);
        assert.equal(await ended, 0, `${command}: ${output()}`);
        if (command.startsWith('npm ci')) checkInstallation(directory, output());
      },
    });
    installed = join(stages.get('build')!.root, 'opt/gatewright');
    image = [...stages.values()].at(-1)!;
    // Without root the owner runs the program, and is refused by the mode alone.
    if (!isRoot) assert.equal(await run(['chmod', '-R', 'a-w', join(image.root, 'opt')], target, environment).ended, 0);
  });
  after(async () => {
    await endLeftOver();
    if (!isRoot) await run(['chmod', '-R', 'u+w', target], target, environment).ended;
    await remove();
  });

  async function checkNotInstalled(directory: string): Promise<void> {
    const missing = run(['bin/gw', '--version'], directory, environment);
    assert.equal(await missing.ended, 127);
    assert.match(missing.output(), /^gw is not installed yet: run npm ci in .*\n$/);
  }

  function checkInstallation(directory: string, output: string): void {
    const warnings = output.match(/^npm (?:warn|error) (?!Unknown (?:user|project|env) config).*$/gim);
    assert.equal(warnings, null, String(warnings));
    for (const name of unwanted) assert.equal(existsSync(join(directory, 'node_modules', name)), false, name);
    assert.deepEqual(globSync('node_modules/node/node_modules/node-*/include', { cwd: directory }), []);
    assert.ok(existsSync(join(directory, 'node_modules/.cache/gatewright')), 'compiled once, by the installation');
  }

  test('the image has the program, the guides and nothing of the repository beside them', () => {
    const root = join(image.root, 'opt/gatewright');
    assert.deepEqual(readdirSync(root).sort(), [
      ...[
        'LICENSE',
        'bin',
        'docs',
        'node_modules',
        'package-lock.json',
        'package.json',
        'src',
        'tools',
        'tsconfig.json',
      ],
    ]);
    assert.deepEqual(readdirSync(join(root, 'tools')).sort(), ['health-check.ts', 'warm.ts']);
    assert.deepEqual(globSync('src/**/*.test.ts', { cwd: root }), []);
    assert.deepEqual(readdirSync(image.volumes[0]!), []);
    const caches = readdirSync(join(root, 'node_modules/.cache/gatewright'));
    assert.ok(
      caches.some(name => name.endsWith(`-${containerUser.uid}`)),
      `no compile cache of the user: ${caches}`,
    );
    for (const command of [...stages.values()].flatMap(it => it.notRun))
      assert.match(command, /^apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf \S+$/);
  });

  test('a container runs as another user on a read-only tree, with its volume as the only writable place', async () => {
    assert.equal(image.user, `${containerUser.uid}:${containerUser.uid}`);
    const { directory, entrypoint, command, healthCheck } = image;
    const env = {
      ...plainEnvironment(image.environment),
      ...anyPorts,
      GW_DASHBOARD_HOST: '127.0.0.1',
      GW_PORTAL_HOST: '127.0.0.1',
    };
    const runAs = (words: readonly string[]) => run(words as [string, ...string[]], directory, env, containerUser);
    const programFile = join(image.root, 'opt/gatewright/src/main.ts');
    assert.equal(await runAs(['sh', '-c', `! test -w '${programFile}' && test -w .`]).ended, 0);
    const before = listTimes(join(image.root, 'opt'));
    const early = runAs(healthCheck);
    assert.equal(await early.ended, 1, early.output());

    const started = runAs([...entrypoint, ...command]);
    await started.until(/credentials\.json/);
    assert.equal(basename(image.volumes[0]!), 'data');
    assert.equal(statSync(join(directory, 'credentials.json')).mode & 0o777, 0o600);
    assert.doesNotMatch(started.output(), /Warning:|admin_secret/);
    for (const name of ['gateway', 'dashboard', 'portal'])
      for (const path of ['/live', '/ready'])
        assert.equal((await fetch(urlIn(started.output(), name) + path)).status, 200, `${name} ${path}`);
    const page = await fetch(urlIn(started.output(), 'dashboard'), { headers: { accept: 'text/html' } });
    assert.match(await page.text(), /<div id="app">/, 'the image has the web app built');
    const healthy = runAs(healthCheck);
    assert.equal(await healthy.ended, 0, healthy.output());
    assert.match(healthy.output(), /\/ready responded with 200/);
    assert.equal(await started.stop(), 0);
    const stopped = runAs(healthCheck);
    assert.equal(await stopped.ended, 1, stopped.output());
    assert.deepEqual(listTimes(join(image.root, 'opt')), before);
  });

  test('an installation without devDependencies starts by npm start and by bin/gw on its bundled Node', async () => {
    for (const command of [['npm', 'start'] as const, ['bin/gw', 'start'] as const]) {
      const started = run(command, installed, { ...environment, NODE_ENV: 'production' });
      await started.until(/credentials\.json/);
      const { gateway_secret } = credentialsIn(join(installed, 'data'));
      const control = urlIn(started.output(), 'dashboard');
      const listed = await fetch(`${control}/gw/apis`, { headers: { 'x-gw-authorization': gateway_secret } });
      assert.deepEqual([listed.status, await listed.json()], [200, []]);
      assert.equal((await fetch(`${urlIn(started.output(), 'gateway')}/hello`)).status, 200);
      assert.doesNotMatch(started.output(), /Warning:/);
      await started.stop();
    }
  });
});

/** Names and times of all files and directories: what a process may have changed. */
const listTimes = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isSymbolicLink())
    .map(entry => join(entry.parentPath, entry.name))
    .map(path => `${path} ${statSync(path).mtimeMs}`)
    .sort();

test('the program imports no package of devDependencies', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(repository, name), 'utf8'));
  const { dependencies } = read('package.json');
  const { packages } = read('package-lock.json');
  for (const name of Object.keys(dependencies)) assert.notEqual(packages[`node_modules/${name}`].dev, true, name);
  assert.ok('node' in dependencies);
});
