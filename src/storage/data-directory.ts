import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSecretText } from '#base/ids.ts';
import { Problem, problems } from '#base/problems.ts';
import type { MasterKeys } from './meta.ts';
import { isOpenToOthers, restrictSqliteFiles, writePrivateFile } from './private-files.ts';

export const problem = problems('data_dir', {
  unusable: { status: 500, message: 'The data directory {path} cannot be used: {reason}' },
  in_use: {
    status: 500,
    message: 'Another gw is running on the data directory {path}: stop it, or choose another with GW_DATA_DIR',
  },
});

/** Read-only view of an installation's files, without the lock: another process may hold it. */
export interface ReadableDirectory {
  readonly path: string;
  pathOf(name: string): string;
  /** Undefined where the file does not exist. */
  read(name: string): string | undefined;
}

/** Files of one installation, under an exclusive lock. */
export interface DataDirectory extends ReadableDirectory {
  readonly databasePath: string;
  /** True if other users of the machine may enter it: an existing directory keeps its mode, which may be a mount's. */
  readonly isOpenToOthers: boolean;
  /** Atomic and durable write, mode 0600, with the owner of the file it replaces: written beside, fsynced, renamed. */
  write(name: string, content: string): void;
  remove(name: string): void;
  release(): void;
}

const databaseFile = 'gw.db';

export function readDataDirectory(configuredPath: string): ReadableDirectory {
  const path = resolve(configuredPath);
  const pathOf = (name: string) => join(path, name);
  return { path, pathOf, read: name => wrapErrors(path, () => readIfExists(pathOf(name))) };
}

/** An installation on SQLite exists there. */
export const hasDatabase = (configuredPath: string): boolean => existsSync(join(configuredPath, databaseFile));

export function openDataDirectory(configuredPath: string): DataDirectory {
  const path = resolve(configuredPath);
  const pathOf = (name: string) => join(path, name);
  const lock = wrapErrors(path, () => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    restrictSqliteFiles(pathOf('lock'));
    if (existsSync(pathOf(databaseFile))) restrictSqliteFiles(pathOf(databaseFile));
    return acquireLock(path, pathOf('lock'));
  });
  return {
    path,
    databasePath: pathOf(databaseFile),
    isOpenToOthers: isOpenToOthers(path),
    pathOf,
    read: name => wrapErrors(path, () => readIfExists(pathOf(name))),
    write(name, content) {
      wrapErrors(path, () => {
        const draft = pathOf(`${name}.new`);
        rmSync(draft, { force: true });
        writePrivateFile(draft, pathOf(name), content);
        renameSync(draft, pathOf(name));
        fsyncDirectory(path);
      });
    },
    remove: name => wrapErrors(path, () => rmSync(pathOf(name), { force: true })),
    release: () => lock.close(),
  };
}

/**
 * Lock: an exclusive SQLite transaction on a file of its own, which the operating system releases however the process
 * ends.
 */
function acquireLock(path: string, name: string): DatabaseSync {
  const lock = new DatabaseSync(name, { timeout: 0 });
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
    return lock;
  } catch (cause) {
    lock.close();
    const busy = 5;
    if ((cause as { errcode?: number }).errcode === busy) throw problem.in_use({ detail: { path }, cause });
    throw cause;
  }
}

function wrapErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw problem.unusable({ detail: { path, reason: (cause as Error).message }, cause });
  }
}

function readIfExists(name: string): string | undefined {
  try {
    return readFileSync(name, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
}

function fsyncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

const masterKeyFile = 'master.key';
const nextMasterKeyFile = 'master.key.next';

/** Master key from the setting, or else the file; the second file exists only after an interrupted rotation. */
export function createMasterKeys(directory: DataDirectory, setting: string): MasterKeys {
  if (setting) return { candidates: () => [setting], create: () => setting, confirm: () => undefined };
  return {
    candidates: () => [masterKeyFile, nextMasterKeyFile].flatMap(name => directory.read(name) ?? []),
    create() {
      const key = createSecretText();
      directory.write(masterKeyFile, key);
      return key;
    },
    confirm(key) {
      if (directory.read(masterKeyFile) !== key) directory.write(masterKeyFile, key);
      directory.remove(nextMasterKeyFile);
    },
  };
}

/** Key rotation: the new key is on disk before the database depends on it, and replaces the old file afterwards. */
export async function replaceMasterKey(
  directory: DataDirectory,
  next: string,
  rewrap: () => Promise<void>,
): Promise<void> {
  directory.write(nextMasterKeyFile, next);
  await rewrap();
  directory.write(masterKeyFile, next);
  directory.remove(nextMasterKeyFile);
}
