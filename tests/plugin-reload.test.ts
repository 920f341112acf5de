import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

  test('a file that is added to the folder of an API runs after a reload', async () => {
    const definition = openApi(upstream, { custom_middleware: { driver: 'javascript' } });
    const folder = join(directory, definition.api_id, 'pre');
    mkdirSync(folder, { recursive: true });
    const url = await publish(app, definition);
    assert.deepEqual(await readVersions(url), ['undefined']);
    writeFileSync(join(folder, 'mw.js'), script('added'));
    await reload();
    assert.deepEqual(await readVersions(url), ['added']);
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
