import type { Log } from '#base/log.ts';
import { createMasterKeys, type DataDirectory } from '#storage/data-directory.ts';
import { problem, toDatabaseProblem } from '#storage/database-errors.ts';
import { createMetaStore, openDataKey } from '#storage/meta.ts';
import { openRecords, type Records, type RecordsOptions } from '#storage/records.ts';
import type { Known } from './config-backup.ts';

export interface OpeningOptions {
  readonly records: RecordsOptions;
  readonly directory: DataDirectory;
  /** The setting; empty where the data directory has it. */
  readonly masterKey: string;
  /** Whether what was last known may stand in for a database that does not answer. */
  readonly mayWait: boolean;
  readonly log: Log;
}

export interface OpenedDatabase {
  readonly records: Records;
  /** What the vault is made of. */
  readonly dataKey: Buffer;
  /** There while the database has not answered since the start. */
  readonly awaited?: AwaitedDatabase;
}

export interface AwaitedDatabase {
  /** What was known before the start, until the database is there. */
  known(): Known | undefined;
  /** Brings the database up to date and lets everybody to it; rejects while it cannot be used. */
  arrive(): Promise<void>;
}

/** The records, and what opens their secrets. A PostgreSQL that does not answer may be waited for by those who serve traffic. */
export async function openDatabase(options: OpeningOptions): Promise<OpenedDatabase> {
  try {
    return await reached(options, async (records, dataKey) => ({ records, dataKey }));
  } catch (error) {
    const { url } = options.records;
    if (!url || !options.mayWait || toDatabaseProblem(error)?.code !== problem.unavailable.code) throw error;
    // Loaded by those who have to wait.
    const { waitWithKnown } = await import('./offline-start.ts');
    const waiting = await waitWithKnown(options, url, (error as Error).message);
    if (!waiting) throw error;
    return waiting;
  }
}

/** A database that answers, brought up to date, with the data key it has. What fails leaves it closed. */
export async function reached<T>(
  { records: options, directory, masterKey }: OpeningOptions,
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
