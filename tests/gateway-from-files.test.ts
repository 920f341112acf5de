import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually, runChild, scratch, startChild } from './support/gw-process.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const { fresh, remove } = scratch('from-files');
after(remove);

describe('A gateway that reads its configuration from files', () => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    upstream.answer = (request, response) => response.end(request.url);
  });
  after(() => upstream.close());

  const writeApi = (directory: string, name: string, target: string) => {
    mkdirSync(join(directory, 'apis'), { recursive: true });
    writeFileSync(
      join(directory, `apis/${name}.yaml`),
      `kind: api\nid: ${name}\nspec:\n  format: classic\n  definition:\n    name: ${name}\n    active: true\n    use_keyless: true\n    proxy:\n      listen_path: /${name}/\n      target_url: ${target}\n      strip_listen_path: true\n`,
    );
  };

  test('it serves the files, reloads them, and keeps the last good set when one is bad', {
    timeout: 120_000,
  }, async () => {
    const [directory, files] = [fresh(), fresh()];
    writeApi(files, 'one', '"${env.GW_VAR_TARGET}/first"');
    const gateway = await startChild({
      directory,
      args: ['--role', 'gateway', '--from', files],
      environment: { GW_VAR_TARGET: upstream.url },
    });
    const call = async (path: string) => {
      const reply = await fetch(gateway.urls.gateway + path);
      return `${reply.status} ${await reply.text()}`;
    };
    assert.equal(await call('/one/x'), '200 /first/x');

    writeApi(files, 'one', `${upstream.url}/second`);
    writeApi(files, 'two', `${upstream.url}/other`);
    await eventually(async () => (await call('/one/x')) === '200 /second/x', 'the changed file is served');
    await eventually(async () => (await call('/two/x')) === '200 /other/x', 'the new file is served');

    writeApi(files, 'one', `${upstream.url}/third`);
    writeFileSync(join(files, 'apis/bad.yaml'), 'kind: api\nid: bad\nspec:\n  format: clasic\n');
    await eventually(() => gateway.err().includes('configuration files refused'), 'the bad set is reported');
    assert.match(gateway.err(), /apis\/bad\.yaml:4: spec\.format: /);
    assert.equal(await call('/one/x'), '200 /second/x');

    rmSync(join(files, 'apis/bad.yaml'));
    rmSync(join(files, 'apis/two.yaml'));
    await eventually(async () => (await call('/one/x')) === '200 /third/x', 'the mended set is served');
    assert.match(await call('/two/x'), /^404/);

    const refused = await gateway.ask('DELETE', '/gw/apis/one');
    assert.deepEqual([refused.status, /comes from files/.test(refused.text)], [403, true]);
    assert.equal((await gateway.ask('GET', '/gw/apis/one')).status, 200);
    const rights = { one: { api_id: 'one', versions: ['Default'] } };
    assert.equal((await gateway.ask('POST', '/gw/keys', { body: { access_rights: rights } })).status, 200);
    assert.equal((await gateway.stop()).code, 0);
  });

  test('a bad set at the start, a wrong role and a data directory in use are refused', async () => {
    const files = fresh();
    writeApi(files, 'one', '"${env.GW_VAR_UNSET}"');
    const start = (args: string[], directory = fresh(), environment = {}) =>
      runChild(['start', ...args], { directory, environment });
    const bad = await start(['--role', 'gateway', '--from', files]);
    assert.deepEqual([bad.code, /apis\/one\.yaml:\d+: .*GW_VAR_UNSET is not set/.test(bad.err)], [1, true], bad.err);
    assert.match((await start(['--from', files])).err, /from: needs the role gateway/);
    assert.match((await start(['--role', 'gateway', '--from', join(files, 'none')])).err, /cannot be read \(ENOENT\)/);
    const used = fresh();
    assert.equal((await runChild(['migrate'], { directory: used })).code, 0);
    assert.match(
      (await start(['--role', 'gateway', '--from', files], used)).err,
      /has the database of an installation/,
    );
  });
});
