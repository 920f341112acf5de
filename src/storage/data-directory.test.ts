import assert from 'node:assert/strict';
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { listOpenFiles } from '../../tests/support/open-files.ts';
import { createMasterKeys, openDataDirectory } from './data-directory.ts';
import { openSqlite } from './sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'gw-directory-'));
after(() => rmSync(root, { recursive: true }));

const mode = (path: string) => statSync(path).mode & 0o777;

test('an absent directory is created with mode 0700', () => {
  const path = join(root, 'a', 'b');
  const directory = openDataDirectory(path);
  assert.equal(mode(path), 0o700);
  assert.equal(directory.databasePath, join(path, 'gw.db'));
  directory.release();
});

test('the files of a database are restricted to their owner, also where they existed and were readable', () => {
  const path = join(root, 'existing');
  mkdirSync(path, { mode: 0o755 });
  const files = ['gw.db', 'gw.db-wal', 'gw.db-shm', 'lock'];
  for (const name of files) writeFileSync(join(path, name), '', { mode: 0o644 });
  const directory = openDataDirectory(path);
  assert.deepEqual(
    files.map(name => mode(join(path, name)).toString(8)),
    ['600', '600', '600', '600'],
  );
  assert.deepEqual([directory.isOpenToOthers, mode(path)], [true, 0o755], 'a mount keeps its mode');
  const database = openSqlite(directory.databasePath);
  database.exec('create table t (a)');
  assert.deepEqual(
    files.map(name => mode(join(path, name)).toString(8)),
    ['600', '600', '600', '600'],
  );
  database.close();
  directory.release();
});

test('the files of a new database are created for their owner alone', () => {
  const directory = openDataDirectory(join(root, 'new'));
  const database = openSqlite(directory.databasePath);
  database.exec('create table t (a)');
  for (const name of ['gw.db', 'gw.db-wal', 'gw.db-shm', 'lock'])
    assert.equal(mode(directory.pathOf(name)).toString(8), '600', name);
  assert.equal(directory.isOpenToOthers, false);
  database.close();
  directory.release();
});

test('files are written for their owner alone, replaced whole, and removed', () => {
  const directory = openDataDirectory(join(root, 'files'));
  assert.equal(directory.read('x.json'), undefined);
  writeFileSync(directory.pathOf('x.json'), 'old', { mode: 0o644 });
  writeFileSync(directory.pathOf('x.json.new'), 'of a crash', { mode: 0o644 });
  directory.write('x.json', 'new');
  assert.equal(directory.read('x.json'), 'new');
  assert.equal(mode(directory.pathOf('x.json')), 0o600);
  directory.remove('x.json');
  directory.remove('x.json');
  assert.equal(directory.read('x.json'), undefined);
  directory.release();
});

test('files that root writes have the owner of the file they replace, or of the directory', t => {
  if (process.getuid?.() !== 0) return t.diagnostic('runs as root only: other users cannot change owners');
  const serviceId = 1234;
  const path = join(root, 'owned');
  mkdirSync(path);
  chownSync(path, serviceId, serviceId);
  const directory = openDataDirectory(path);
  writeFileSync(directory.pathOf('x.json'), 'old');
  chownSync(directory.pathOf('x.json'), serviceId + 1, serviceId + 1);
  directory.write('x.json', 'new');
  directory.write('y.json', 'new');
  const database = openSqlite(directory.databasePath);
  database.exec('create table t (a)');
  assert.deepEqual(
    ['x.json', 'y.json', 'gw.db', 'gw.db-wal', 'lock'].map(name => statSync(directory.pathOf(name)).uid - serviceId),
    [1, 0, 0, 0, 0],
  );
  assert.equal(mode(directory.pathOf('x.json')), 0o600);
  database.close();
  directory.release();
});

test('a locked directory is rejected until its lock is released', () => {
  const path = join(root, 'used');
  const directory = openDataDirectory(path);
  assert.throws(() => openDataDirectory(path), {
    code: 'data_dir.in_use',
    status: 500,
    message: `Another gw is running on the data directory ${path}: stop it, or choose another with GW_DATA_DIR`,
  });
  directory.release();
  openDataDirectory(path).release();
});

test('a path that cannot be a directory is rejected', () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below')])
    assert.throws(() => openDataDirectory(path), {
      code: 'data_dir.unusable',
      status: 500,
      message: new RegExp(`^The data directory ${path} cannot be used: `),
    });
});

test('an unreadable or unwritable file is reported as a problem of the directory', () => {
  const directory = openDataDirectory(join(root, 'odd'));
  mkdirSync(directory.pathOf('folder'));
  const unusable = { code: 'data_dir.unusable' };
  assert.throws(() => directory.read('folder'), unusable);
  assert.throws(() => directory.write('folder', 'x'), unusable);
  directory.release();
});

test('a lock file that is no database is a problem of the directory, not a lock', () => {
  const path = join(root, 'no-lock');
  mkdirSync(path);
  writeFileSync(join(path, 'lock'), 'this is no database, but long enough to be read as the header of one'.repeat(20));
  assert.throws(() => openDataDirectory(path), { code: 'data_dir.unusable', message: /not a database/ });
  assert.deepEqual(listOpenFiles(path), []);
});

test('a write leaves no file open', () => {
  const path = join(root, 'open-files');
  const directory = openDataDirectory(path);
  const before = listOpenFiles(path);
  directory.write('x.json', 'new');
  assert.deepEqual(listOpenFiles(path), before);
  directory.release();
});

test('a configured master key is the only candidate and is not written to the directory', () => {
  const directory = openDataDirectory(join(root, 'configured'));
  const keys = createMasterKeys(directory, 'configured key');
  assert.deepEqual([keys.candidates(), keys.create()], [['configured key'], 'configured key']);
  keys.confirm('configured key');
  assert.equal(directory.read('master.key'), undefined);
  directory.release();
});
