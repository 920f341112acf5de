import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSecretText } from '#base/ids.ts';
import { Problem, problems } from '#base/problems.ts';
import type { MasterKeys } from './meta.ts';
import { isOpenToOthers, restrictSqliteFiles } from './private-files.ts';

export const problem = problems('data_dir', {
  unusable: { status: 500, message: 'The data directory {path} cannot be used: {reason}' },
  in_use: {
    status: 500,
    message: 'Another gw is running on the data directory {path}: stop it, or choose another with GW_DATA_DIR',
  },
});

/** The files of one installation, to be read while another process may hold them. */
export interface ReadableDirectory {
  pathOf(name: string): string;
  /** Undefined where there is no such file. */
  read(name: string): string | undefined;
}

/** The files of one installation: who holds it has it alone. */
export interface DataDirectory extends ReadableDirectory {
  readonly path: string;
  readonly databasePath: string;
  /** An existing directory keeps its mode, which may be a mount's: whether other users of the machine may enter it. */
  readonly isOpenToOthers: boolean;
  /** Readable by the owner only, never half written, and there after a crash of the machine. */
  write(name: string, content: string): void;
  remove(name: string): void;
  release(): void;
}

const databaseFile = 'gw.db';

export function readDataDirectory(configuredPath: string): ReadableDirectory {
  const path = resolve(configuredPath);
  const file = (name: string) => join(path, name);
  return { pathOf: file, read: name => wrapErrors(path, () => readIfExists(file(name))) };
}

export function openDataDirectory(configuredPath: string): DataDirectory {
  const path = resolve(configuredPath);
  const file = (name: string) => join(path, name);
  const lock = wrapErrors(path, () => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    restrictSqliteFiles(file('lock'));
    if (existsSync(file(databaseFile))) restrictSqliteFiles(file(databaseFile));
    return acquireLock(path, file('lock'));
  });
  return {
    path,
    databasePath: file(databaseFile),
    isOpenToOthers: isOpenToOthers(path),
    pathOf: file,
    read: name => wrapErrors(path, () => readIfExists(file(name))),
    write(name, content) {
      wrapErrors(path, () => {
        const draft = file(`${name}.new`);
        rmSync(draft, { force: true });
        writeFileSync(draft, content, { mode: 0o600, flush: true });
        renameSync(draft, file(name));
        fsyncDirectory(path);
      });
    },
    remove: name => wrapErrors(path, () => rmSync(file(name), { force: true })),
    release: () => lock.close(),
  };
}

/** The lock is one SQLite takes on a file of its own: the system lets go of it however the process ends. */
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

/** The setting, or else the file; a second file is there only when a rotation was interrupted. */
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

/** The new key is on disk before the database depends on it, and in its place after. */
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
