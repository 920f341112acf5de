import { createMasterKeys } from '#storage/data-directory.ts';
import { openDeferredRecords } from '#storage/records.ts';
import { type OpenedBackup, problem, readBackup } from './backup-file.ts';
import { backupFileName, type ConfigBackup } from './config-backup.ts';
import type { OpenDatabaseOptions, OpenedDatabase } from './with-database.ts';
import { withDatabase } from './with-database.ts';

/** Offline start from the config backup; undefined without a usable one. */
export async function startFromBackup(
  options: OpenDatabaseOptions,
  url: string,
  reason: string,
): Promise<OpenedDatabase | undefined> {
  const last = loadBackup(options, url);
  if (!last) return undefined;
  const facts = { reason, written_at: last.writtenAt };
  options.log.warn(facts, 'database unavailable, serving the config backup');
  return openWithBackup(options, url, last);
}

function loadBackup({ directory, masterKey, log }: OpenDatabaseOptions, url: string): OpenedBackup | undefined {
  try {
    const text = directory.read(backupFileName);
    // Only candidate keys: the database later confirms which one is current.
    return text === undefined ? undefined : readBackup(text, url, createMasterKeys(directory, masterKey).candidates());
  } catch (error) {
    log.warn({ file: directory.pathOf(backupFileName), reason: (error as Error).message }, 'config backup ignored');
    return undefined;
  }
}

async function openWithBackup(
  options: OpenDatabaseOptions,
  url: string,
  opened: OpenedBackup,
): Promise<OpenedDatabase> {
  const { dataKey } = opened;
  let backup: ConfigBackup | undefined = opened.backup;
  const { records, release } = await openDeferredRecords({ ...options.records, url });
  async function connect(): Promise<void> {
    const once = { ...options, records: { ...options.records, connections: 1 } };
    await withDatabase(once, async (found, foundKey) => {
      if (!foundKey.equals(dataKey)) throw problem.another_database();
      await found.close();
    });
    release();
    backup = undefined;
  }
  return { records, dataKey, pendingDatabase: { backup: () => backup, connect } };
}
