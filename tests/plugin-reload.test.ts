import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

const script = (value: string) => `const mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessRequest(function (request) { request.SetHeaders['X-Version'] = '${value}'; return mw.ReturnData(request, {}); });`;

interface Kind {
  readonly driver: string;
  readonly path: string;
  /** Writes the plugin with this value. */
  write(directory: string, value: string): void;
  readonly broken: string;
}

const moduleText = `import { value } from './value-of-PATH';
export const mw = request => { request.headers.set('X-Version', value); };`;

/** Module whose value is in a file that it imports. */
const createModuleKind = (path: string): Kind => ({
  driver: 'typescript',
  path,
  write(directory, value) {
    writeFileSync(join(directory, path), moduleText.replace('PATH', path));
    writeFileSync(join(directory, `value-of-${path}`), `export const value: string = '${value}';`);
  },
  broken: 'export const mw = ;',
});

const kinds: Record<string, Kind> = {
  'a script': {
    driver: 'javascript',
    path: 'script.js',
    write: (directory, value) => writeFileSync(join(directory, 'script.js'), script(value)),
    broken: 'const mw = ;',
  },
  'a module and the file that it imports': createModuleKind('module.ts'),
  'a trusted file and the file that it imports': createModuleKind('trusted.ts'),
};

describe('Reload of plugin files', () => {
  let app: TestApp;
  let upstream: Upstream;
  const directory = mkdtempSync(join(tmpdir(), 'gw-plugin-reload-'));
  const lines: string[] = [];
  before(async () => {
    const settings = { 'plugins.directory': directory, 'plugins.trusted': 'trusted.ts', threads: '2' };
    [app, upstream] = await Promise.all([
      startApp('sqlite', { settings, onTrafficLog: text => void lines.push(...text.split('\n')) }),
      startUpstream(),
    ]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const reload = async () => assert.equal((await app.ask('GET', '/gw/reload?block=true')).status, 200);
  /** Version of the plugin on each of several connections: every thread has its own. */
  async function readVersions(url: string): Promise<string[]> {
    const before = upstream.requests.length;
    await Promise.all(Array.from({ length: 8 }, async () => assert.equal((await fetch(`${url}/x`)).status, 200)));
    const versions = upstream.requests.slice(before).map(({ headers }) => String(headers['x-version']));
    return [...new Set(versions)];
  }

  for (const [what, kind] of Object.entries(kinds))
    test(`${what} that changed is in use after a reload, and a broken one leaves the earlier in use`, async () => {
      kind.write(directory, 'one');
      const definition = openApi(upstream, {
        custom_middleware: { driver: kind.driver, pre: [{ name: 'mw', path: kind.path }] },
      });
      const url = await publish(app, definition);
      assert.deepEqual(await readVersions(url), ['one']);
      kind.write(directory, 'two');
      assert.deepEqual(await readVersions(url), ['one']);
      await reload();
      assert.deepEqual(await readVersions(url), ['two']);

      writeFileSync(join(directory, kind.path), kind.broken);
      await reload();
      assert.deepEqual(await readVersions(url), ['two']);
      const reports = () =>
        lines.filter(it => it.includes('changed plugin file not loaded') && it.includes(definition.api_id));
      await eventually(() => assert.ok(reports().length > 0));

      kind.write(directory, 'three');
      await reload();
      assert.deepEqual(await readVersions(url), ['three']);
    });

  test('a changed file is in use after a change of another API', async () => {
    writeFileSync(join(directory, 'other.js'), script('one'));
    const pre = [{ name: 'mw', path: 'other.js' }];
    const url = await publish(app, openApi(upstream, { custom_middleware: { driver: 'javascript', pre } }));
    writeFileSync(join(directory, 'other.js'), script('two'));
    await publish(app, openApi(upstream, {}));
    await waitUntilApplied(app);
    assert.deepEqual(await readVersions(url), ['two']);
  });

  const foldersBefore: Record<string, string | undefined> = {
    'an existing folder': 'pre',
    'a new folder': '',
    'a new folder of an API that has none': undefined,
  };
  for (const [what, existing] of Object.entries(foldersBefore))
    test(`a file that is added to ${what} runs after a reload`, async () => {
      const definition = openApi(upstream, { custom_middleware: { driver: 'javascript' } });
      const folder = join(directory, definition.api_id, 'pre');
      if (existing !== undefined) mkdirSync(join(directory, definition.api_id, existing), { recursive: true });
      const url = await publish(app, definition);
      assert.deepEqual(await readVersions(url), ['undefined']);
      mkdirSync(folder, { recursive: true });
      await reload();
      writeFileSync(join(folder, 'mw.js'), script('added'));
      await reload();
      assert.deepEqual(await readVersions(url), ['added']);
    });

  const reportsOf = (apiId: string, text: string) => lines.filter(it => it.includes(text) && it.includes(apiId));

  const faults: Record<string, [write: (folder: string) => void, reason: RegExp]> = {
    'cannot be read': [folder => symlinkSync(folder, folder), /pre cannot be read: ELOOP/],
    'has too many scripts': [
      folder => {
        mkdirSync(folder);
        for (let n = 0; n < 51; n++) writeFileSync(join(folder, `mw${n}.js`), script('many'));
      },
      /has more than 50 scripts/,
    ],
  };
  for (const [what, [write, reason]] of Object.entries(faults))
    test(`a folder that ${what} leaves its API in use, and other changes take effect`, async () => {
      const definition = openApi(upstream, { custom_middleware: { driver: 'javascript' } });
      const folder = join(directory, definition.api_id, 'pre');
      mkdirSync(join(directory, definition.api_id));
      const url = await publish(app, definition);
      write(folder);
      await reload();
      const other = await publish(app, openApi(upstream, {}));
      assert.deepEqual([await readVersions(url), await readVersions(other)], [['undefined'], ['undefined']]);
      await eventually(() =>
        assert.match(reportsOf(definition.api_id, 'changed plugin file not loaded').join(''), reason),
      );
      assert.deepEqual(
        lines.filter(it => it.includes('config refresh failed')),
        [],
      );
      rmSync(folder, { recursive: true });
      await reload();
    });

  test('a file without which an API is not served is reported again where the next one fails too', async () => {
    writeFileSync(join(directory, 'first.js'), 'x'.repeat(1_048_577));
    const pre = [{ name: 'mw', path: 'first.js' }];
    const definition = openApi(upstream, { custom_middleware: { driver: 'javascript', pre } });
    const url = await publish(app, definition);
    assert.equal((await fetch(`${url}/x`)).status, 503);
    const count = () => reportsOf(definition.api_id, 'API not served').length;
    await eventually(() => assert.equal(count(), 2));
    rmSync(join(directory, 'first.js'));
    await reload();
    await eventually(() => assert.equal(count(), 4));
    assert.match(reportsOf(definition.api_id, 'API not served').at(-1)!, /first\.js cannot be read: ENOENT/);
    assert.deepEqual(reportsOf(definition.api_id, 'plugin files reloaded'), []);
    writeFileSync(join(directory, 'first.js'), script('good'));
    await reload();
    assert.deepEqual(await readVersions(url), ['good']);
  });

  test('a definition that fails to compile leaves its API in use, and the changed files of others take effect', async () => {
    const pre = [{ name: 'mw', path: 'shared.js' }];
    writeFileSync(join(directory, 'shared.js'), script('one'));
    const create = () => openApi(upstream, { custom_middleware: { driver: 'javascript', pre } });
    const [damaged, whole] = [create(), create()];
    const urls = [await publish(app, damaged), await publish(app, whole)] as const;
    const { records } = app.application.installation;
    await records.write(async () => {
      const query = records.db.selectFrom('apis').select(['id', 'body']).where('api_id', '=', damaged.api_id);
      const { id, body } = await query.executeTakeFirstOrThrow();
      const changed = JSON.stringify({ ...JSON.parse(body), wrapper: null });
      await records.db.updateTable('apis').set({ body: changed }).where('id', '=', id).execute();
    });
    writeFileSync(join(directory, 'shared.js'), script('two'));
    await reload();
    assert.deepEqual([await readVersions(urls[0]), await readVersions(urls[1])], [['one'], ['two']]);
    await eventually(() => assert.ok(reportsOf(damaged.api_id, 'changed plugin files not compiled').length > 0));
    assert.equal((await app.ask('DELETE', `/gw/apis/${damaged.api_id}`)).status, 200);
  });

  test('no request fails while files change and are reloaded', async () => {
    writeFileSync(join(directory, 'busy.js'), script('0'));
    const pre = [{ name: 'mw', path: 'busy.js' }];
    const url = await publish(app, openApi(upstream, { custom_middleware: { driver: 'javascript', pre } }));
    let isOver = false;
    const statuses = new Set<number>();
    const traffic = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) statuses.add((await fetch(`${url}/x`)).status);
      }),
    );
    for (let n = 1; n <= 10; n++) {
      writeFileSync(join(directory, 'busy.js'), script(String(n)));
      await reload();
    }
    isOver = true;
    await traffic;
    assert.deepEqual([...statuses], [200]);
    assert.deepEqual(await readVersions(url), ['10']);
  });
});
