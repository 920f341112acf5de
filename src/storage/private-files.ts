import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';

/** Read and written by the owner alone. */
const privateMode = 0o600;
const groupAndOthers = 0o077;

/** What SQLite puts beside a database. It gives new ones the mode of the database; older ones keep the one they have. */
const sqliteSuffixes = ['', '-wal', '-shm', '-journal'];

/**
 * Restricts a SQLite file and those beside it to their owner, and creates it so that there is no moment in which others may
 * open it. A file that is there is never opened: closing it would drop the POSIX locks SQLite holds on it in this process.
 */
export function restrictSqliteFiles(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'ax', privateMode));
  for (const suffix of sqliteSuffixes) if (isOpenToOthers(path + suffix)) chmodSync(path + suffix, privateMode);
}

/** Whether users other than its owner may read, write or enter it. */
export const isOpenToOthers = (path: string): boolean =>
  existsSync(path) && (statSync(path).mode & groupAndOthers) !== 0;
