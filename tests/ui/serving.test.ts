import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { createLog } from '#base/log.ts';
import { buildIndexFile } from '#operations/web-app/built-app.ts';
import { hashWebAppSources, installedBuilds } from '#operations/web-app/location.ts';
import { createWebApp, type WebApp } from '#operations/web-app/web-app.ts';
import { buildApps } from '#ui/build/build-apps.ts';
import { createSelfBuildingApp } from '#ui/build/self-building-app.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/traffic.ts';

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const maxFirstLoadBytes = 200_000;
/** A build takes seconds, and minutes beside many other processes. */
const building = { timeout: 400_000 } as const;
const program = join(import.meta.dirname, '../../src/ui/build/main.ts');

const build = (...directories: string[]) =>
  new Promise<{ status: number; stdout: string; stderr: string }>(resolve => {
    execFile(process.execPath, ['--no-warnings', program, ...directories], { env: {} }, (error, stdout, stderr) =>
      resolve({ status: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

const withoutBuild: WebApp = { find: async () => undefined, isBuilding: () => false };
const whileBuilding: WebApp = { find: async () => undefined, isBuilding: () => true };
const installed = createWebApp({ directories: [installedBuilds], hashSources: hashWebAppSources });

async function withApp(webApp: WebApp, use: (app: TestApp) => Promise<void>): Promise<void> {
  const app = await startApp('sqlite', { webApp });
  try {
    await use(app);
  } finally {
    await app.close();
  }
}

describe('Serving of the web app', () => {
  test('a browser gets the document at every path outside of the server, with a nonce for each view', async () => {
    await buildApps(join(installedBuilds, hashWebAppSources()));
    await withApp(installed, async ({ url }) => {
      const read = async (path: string) => {
        const response = await fetch(url.dashboard + path, { headers: html });
        return { response, text: await response.text() };
      };
      const nonces = new Set<string>();
      for (const path of ['/', '/apis', '/apis/some/deep/path', '/login?next=%2Fapis']) {
        const { response, text } = await read(path);
        assert.equal(response.status, 200, path);
        assert.equal(response.headers.get('cache-control'), 'no-store');
        const policy = response.headers.get('content-security-policy')!;
        assert.match(policy, /^default-src 'none'; script-src 'self'; /);
        assert.match(policy, /frame-ancestors 'none'/);
        assert.doesNotMatch(policy, /unsafe|\*|https?:/);
        const [, nonce] = /'nonce-([\w-]+)'/.exec(policy)!;
        assert.ok(text.includes(`nonce="${nonce}"`));
        assert.doesNotMatch(text, /<style|<script>| style=| on[a-z]+=/);
        nonces.add(nonce!);
      }
      assert.equal(nonces.size, 4);
      for (const path of ['/docs/unknown', '/ui/unknown.js', '/guides/unknown'])
        assert.equal((await read(path)).response.status, 404, path);
      assert.equal((await read('/api/unknown')).response.status, 401);
      assert.match((await read('/pages/start')).text, /<h1>Dashboard<\/h1>/);
      const plain = await fetch(`${url.dashboard}/`);
      assert.match(await plain.text(), /First steps/, 'a client that does not name HTML gets the landing page');
      const write = await fetch(`${url.dashboard}/apis`, { method: 'POST', headers: html });
      assert.equal(write.status, 404);
    });
  });

  test('assets are immutable and compressed, and no other file is served', async () => {
    await buildApps(join(installedBuilds, hashWebAppSources()));
    await withApp(installed, async ({ url }) => {
      const document = await (await fetch(`${url.dashboard}/`, { headers: html })).text();
      const paths = [...document.matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)].map(([, path]) => path!);
      assert.ok(paths.length >= 3);
      let firstLoadBytes = gzipSync(document).length;
      for (const path of paths) {
        const read = async (coding: string) => {
          const response = await fetch(url.dashboard + path, { headers: { 'accept-encoding': coding } });
          assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
          assert.equal(response.headers.get('vary'), 'Accept-Encoding');
          return { coding: response.headers.get('content-encoding'), text: await response.text() };
        };
        const plain = await read('identity');
        assert.equal(plain.coding, null);
        const isLarge = plain.text.length >= 512;
        for (const coding of ['br', 'gzip']) {
          const compressed = await read(coding);
          assert.equal(compressed.coding, isLarge ? coding : null, path);
          assert.equal(compressed.text, plain.text);
        }
        assert.equal((await read('br;q=0, gzip')).coding, isLarge ? 'gzip' : null);
        firstLoadBytes += gzipSync(plain.text).length;
      }
      assert.ok(firstLoadBytes < maxFirstLoadBytes, `the first load has ${firstLoadBytes} bytes`);
      for (const name of [buildIndexFile, '..%2F..%2Fpackage.json', '%2e%2e/index.json', 'assets', '__proto__'])
        assert.equal((await fetch(`${url.dashboard}/ui/${name}`)).status, 404, name);
    });
  });

  test('without a build browsers get the landing page, and while it runs a page that reloads itself', async () => {
    await withApp(withoutBuild, async ({ url }) => {
      assert.match(await (await fetch(`${url.dashboard}/`, { headers: html })).text(), /First steps/);
      assert.equal((await fetch(`${url.dashboard}/apis`, { headers: html })).status, 404);
    });
    await withApp(whileBuilding, async ({ url }) => {
      const response = await fetch(`${url.dashboard}/apis`, { headers: html });
      assert.equal(response.status, 503);
      assert.equal(response.headers.get('retry-after'), '2');
      assert.match(await response.text(), /http-equiv="refresh".*is being built/s);
      assert.equal((await fetch(`${url.dashboard}/`)).status, 200);
    });
  });
});

describe('Build of the web app', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-build-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test(
    'it goes to the first directory that can be written, complete, readable by others, and once',
    building,
    async () => {
      const blocked = join(folder, 'blocked');
      mkdirSync(blocked, { mode: 0o500 });
      // A file in place of the directory stops the superuser too, who runs tests in containers.
      const first = process.getuid?.() === 0 ? join(import.meta.filename, 'builds') : join(blocked, 'builds');
      const second = join(folder, 'data/web-app');
      const { status, stdout, stderr } = await build(first, second);
      assert.equal(status, 0, stderr);
      const target = join(second, hashWebAppSources());
      assert.equal(stdout.trim(), target);
      assert.deepEqual(readdirSync(second), [hashWebAppSources()], 'no draft is left');
      const { files } = JSON.parse(readFileSync(join(target, buildIndexFile), 'utf8')) as { files: object };
      for (const name of Object.keys(files)) assert.ok(existsSync(join(target, name)), name);
      const script = Object.keys(files).find(name => /dashboard-.*\.js$/.test(name))!;
      const plain = readFileSync(join(target, script));
      assert.deepEqual(brotliDecompressSync(readFileSync(join(target, `${script}.br`))), plain);
      assert.deepEqual(gunzipSync(readFileSync(join(target, `${script}.gz`))), plain);
      const before = readFileSync(join(target, buildIndexFile), 'utf8');
      assert.equal((await build(second)).status, 0);
      assert.equal(readFileSync(join(target, buildIndexFile), 'utf8'), before);
      chmodSync(blocked, 0o700);
    },
  );

  test(
    'it is repeated when files are gone while it is served, and browsers see a page that reloads itself',
    building,
    async () => {
      const directory = join(folder, 'served');
      const hash = hashWebAppSources();
      await buildApps(join(installedBuilds, hash));
      cpSync(join(installedBuilds, hash), join(directory, hash), { recursive: true });
      const lines: string[] = [];
      const log = createLog({ level: 'info', format: 'json', write: line => void lines.push(line) });
      const web = createSelfBuildingApp(folder, log, [directory]);
      await web.ensureBuilt();
      await withApp(web.webApp, async ({ url }) => {
        const read = (path: string) => fetch(url.dashboard + path, { headers: html });
        assert.equal((await read('/apis')).status, 200);
        const chunk = readdirSync(join(directory, hash, 'assets')).find(it => /^key-list-page.*\.js$/.test(it))!;
        rmSync(join(directory, hash, 'assets', chunk));
        assert.equal((await read(`/ui/assets/${chunk}`)).status, 404);
        const notice = await read('/apis');
        assert.equal(notice.status, 503);
        assert.match(await notice.text(), /http-equiv="refresh".*is being built/s);
        await eventually(async () => assert.equal((await read('/apis')).status, 200), building.timeout);
        assert.equal((await read(`/ui/assets/${chunk}`)).status, 200);
      });
      const expected = ['web app build missing', 'web app is being built', 'web app built'];
      const listMessages = () => lines.map(line => JSON.parse(line).msg);
      await eventually(async () => assert.deepEqual(listMessages(), expected));
    },
  );

  test('it fails with the directories it tried where none can be written', async () => {
    const { status, stderr } = await build(join(import.meta.filename, 'builds'));
    assert.equal(status, 1);
    assert.match(stderr, /no directory can be written: .*serving\.test\.ts/);
  });
});
