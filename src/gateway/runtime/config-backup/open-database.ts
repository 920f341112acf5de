import type { Log } from '#base/log.ts';
import { createMasterKeys, type DataDirectory } from '#storage/data-directory.ts';
import { problem, toDatabaseProblem } from '#storage/database-errors.ts';
import { createMetaStore, openDataKey } from '#storage/meta.ts';
import { openRecords, type Records, type RecordsOptions } from '#storage/records.ts';
import type { ConfigBackup } from './config-backup.ts';

export interface OpenDatabaseOptions {
  readonly records: RecordsOptions;
  readonly directory: DataDirectory;
  /** The setting; empty where the data directory has it. */
  readonly masterKey: string;
  /** Whether what was last known may stand in for a database that does not answer. */
  readonly allowsOfflineStart: boolean;
  readonly log: Log;
}

export interface OpenedDatabase {
  readonly records: Records;
  /** What the vault is made of. */
  readonly dataKey: Buffer;
  /** There while the database has not answered since the start. */
  readonly pendingDatabase?: PendingDatabase;
}

export interface PendingDatabase {
  /** What was known before the start, until the database is there. */
  backup(): ConfigBackup | undefined;
  /** Brings the database up to date and lets everybody to it; rejects while it cannot be used. */
  connect(): Promise<void>;
}

/** The records, and what opens their secrets. A PostgreSQL that does not answer may be waited for by those who serve traffic. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  try {
    return await withDatabase(options, async (records, dataKey) => ({ records, dataKey }));
  } catch (error) {
    const { url } = options.records;
    if (!url || !options.allowsOfflineStart || toDatabaseProblem(error)?.code !== problem.unavailable.code) throw error;
    // Loaded by those who have to wait.
    const { startFromBackup: waitWithKnown } = await import('./offline-start.ts');
    const waiting = await waitWithKnown(options, url, (error as Error).message);
    if (!waiting) throw error;
    return waiting;
  }
}

/** A database that answers, brought up to date, with the data key it has. What fails leaves it closed. */
export async function withDatabase<T>(
  { records: options, directory, masterKey }: OpenDatabaseOptions,
  use: (records: Records, dataKey: Buffer) => Promise<T>,
): Promise<T> {
  const records = await openRecords(options);
  try {
    return await use(records, await openDataKey(createMetaStore(records), createMasterKeys(directory, masterKey)));
  } catch (error) {
    await records.close();
    throw error;
  }
}
