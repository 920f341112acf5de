import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type BuildIndex, buildIndexFile } from './built-app.ts';
import { createWebApp } from './web-app.ts';

const index: BuildIndex = {
  documents: { dashboard: '<script src="/ui/assets/app.js"></script>' },
  files: {
    'assets/app.js': { type: 'text/javascript', encodings: ['gzip'] },
    'assets/later.js': { type: 'text/javascript', encodings: [] },
  },
};

function writeBuild(directory: string): void {
  mkdirSync(join(directory, 'assets'), { recursive: true });
  for (const name of ['assets/app.js', 'assets/app.js.gz', 'assets/later.js']) writeFileSync(join(directory, name), '');
  writeFileSync(join(directory, buildIndexFile), JSON.stringify(index));
}

describe('Web app build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-web-app-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let number = 0;
  const openApp = () => {
    const directories = [`${folder}/${number++}`, `${folder}/${number++}`];
    const lost: string[] = [];
    const app = createWebApp({ directories, hashSources: () => 'hash', onLost: () => void lost.push('lost') });
    return { app, lost, first: join(directories[0]!, 'hash'), second: join(directories[1]!, 'hash') };
  };

  test('a directory that is emptied while it is served is reported once, and a new build is served', async () => {
    const { app, lost, first } = openApp();
    assert.equal(await app.find(), undefined);
    writeBuild(first);
    assert.ok(await app.find());
    rmSync(first, { recursive: true });
    assert.deepEqual(
      await Promise.all([app.find(), app.find('assets/later.js'), app.find()]),
      Array(3).fill(undefined),
    );
    assert.equal(await app.find(), undefined);
    assert.deepEqual(lost, ['lost']);
    writeBuild(first);
    assert.ok(await app.find());
  });

  for (const name of ['assets/later.js', 'assets/app.js', 'assets/app.js.gz'])
    test(`a build without ${name} is not served after a request for it`, async () => {
      const { app, lost, first } = openApp();
      writeBuild(first);
      assert.ok(await app.find());
      rmSync(join(first, name));
      assert.equal(await app.find(name.replace('.gz', '')), undefined);
      assert.deepEqual(lost, ['lost']);
    });

  test('a build in the next directory replaces a lost one', async () => {
    const { app, lost, first, second } = openApp();
    for (const directory of [first, second]) writeBuild(directory);
    assert.ok(await app.find());
    rmSync(first, { recursive: true });
    assert.ok(await app.find());
    assert.deepEqual(lost, []);
  });

  test('a name that the build does not have is no loss', async () => {
    const { app, lost, first } = openApp();
    writeBuild(first);
    for (const name of ['assets/unknown.js', '__proto__', '../index.json']) assert.ok(await app.find(name));
    assert.deepEqual(lost, []);
  });
});
