import {
  chmodSync,
  closeSync,
  existsSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

const privateMode = 0o600;
const groupAndOthers = 0o077;

/** Files SQLite creates beside a database. New ones get the mode of the database; existing ones keep theirs. */
const sqliteSuffixes = ['', '-wal', '-shm', '-journal'];

/**
 * Restricts a SQLite file and its companions to mode 0600, and creates it with that mode. An existing file is never
 * opened: closing it would drop the POSIX locks that SQLite holds on it in this process.
 */
export function restrictSqliteFiles(path: string): void {
  if (!existsSync(path)) createPrivateFile(path);
  for (const suffix of sqliteSuffixes) if (isOpenToOthers(path + suffix)) chmodSync(path + suffix, privateMode);
}

function createPrivateFile(path: string): void {
  const descriptor = openSync(path, 'ax', privateMode);
  try {
    inheritOwner(descriptor, path);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes a file that must not exist, mode 0600, with the owner of the one that it will replace. */
export function writePrivateFile(path: string, replaced: string, content: string): void {
  // Exclusive: fails for a link that the owner of the directory put there.
  const descriptor = openSync(path, 'wx', privateMode);
  try {
    inheritOwner(descriptor, replaced);
    writeFileSync(descriptor, content, { flush: true });
  } finally {
    closeSync(descriptor);
  }
}

/** Group or other permission bits are set. */
export const isOpenToOthers = (path: string): boolean =>
  existsSync(path) && (statSync(path).mode & groupAndOthers) !== 0;

const rootId = 0;

/**
 * Owner of a file that root has created and still has open: that of the file it replaces, or else of the directory. A
 * command run by root must leave files that the user of the service can read. By descriptor: the owner of the directory
 * could put a link in the place of the file. Other users than root cannot change owners.
 */
export function inheritOwner(descriptor: number, path: string): void {
  if (fstatSync(descriptor).uid !== rootId) return;
  const { uid, gid } = lstatSync(path, { throwIfNoEntry: false }) ?? statSync(dirname(path));
  const owner = uid === rootId ? statSync(dirname(path)) : { uid, gid };
  if (owner.uid === rootId) return;
  try {
    fchownSync(descriptor, owner.uid, owner.gid);
  } catch (error) {
    // Root without the capability, or a file system without owners: the file stays root's.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}
