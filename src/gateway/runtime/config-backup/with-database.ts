import type { Log } from '#base/log.ts';
import { createMasterKeys, type DataDirectory } from '#storage/data-directory.ts';
import { createMetaStore, openDataKey } from '#storage/meta.ts';
import { openRecords, type Records, type RecordsOptions } from '#storage/records.ts';
import type { ConfigBackup } from './config-backup.ts';

export interface OpenDatabaseOptions {
  readonly records: RecordsOptions;
  readonly directory: DataDirectory;
  /** From the settings; empty where the data directory holds it. */
  readonly masterKey: string;
  /** The config backup may replace an unavailable database. */
  readonly allowsOfflineStart: boolean;
  readonly log: Log;
}

export interface OpenedDatabase {
  readonly records: Records;
  /** Key of the vault. */
  readonly dataKey: Buffer;
  /** Set while the database has been unavailable since the start. */
  readonly pendingDatabase?: PendingDatabase;
}

export interface PendingDatabase {
  /** The config backup, until the database is available. */
  backup(): ConfigBackup | undefined;
  /** Migrates the database and releases deferred queries; rejects while it is unavailable. */
  connect(): Promise<void>;
}

/** Opens and migrates the database and passes it with its data key to `use`; closes it on failure. */
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
