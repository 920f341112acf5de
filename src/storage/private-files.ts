import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';

const privateMode = 0o600;
const groupAndOthers = 0o077;

/** Files SQLite creates beside a database. New ones get the mode of the database; existing ones keep theirs. */
const sqliteSuffixes = ['', '-wal', '-shm', '-journal'];

/**
 * Restricts a SQLite file and its companions to mode 0600, and creates it with that mode. An existing file is never
 * opened: closing it would drop the POSIX locks that SQLite holds on it in this process.
 */
export function restrictSqliteFiles(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'ax', privateMode));
  for (const suffix of sqliteSuffixes) if (isOpenToOthers(path + suffix)) chmodSync(path + suffix, privateMode);
}

/** Group or other permission bits are set. */
export const isOpenToOthers = (path: string): boolean =>
  existsSync(path) && (statSync(path).mode & groupAndOthers) !== 0;
