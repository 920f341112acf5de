import type { Log } from '#base/log.ts';
import { type DataDirectory, masterKeys } from '#storage/data-directory.ts';
import { databaseProblem, problem as databaseProblems } from '#storage/faults.ts';
import { metaStore, openDataKey } from '#storage/meta.ts';
import { heldRecords, openRecords, type Records, type RecordsOptions } from '#storage/records.ts';
import { problem, type ReadKnown, readKnown } from './file.ts';
import { type Known, knownFile } from './known.ts';

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
    if (!url || !options.mayWait || databaseProblem(error)?.code !== databaseProblems.away.code) throw error;
    const last = lastKnown(options, url);
    if (!last) throw error;
    const facts = { reason: (error as Error).message, written_at: last.writtenAt };
    options.log.warn(facts, 'the database does not answer: traffic is served as it was last known');
    return waiting(options, url, last);
  }
}

async function reached<T>(
  { records: options, directory, masterKey }: OpeningOptions,
  use: (records: Records, dataKey: Buffer) => Promise<T>,
): Promise<T> {
  const records = await openRecords(options);
  try {
    return await use(records, await openDataKey(metaStore(records), masterKeys(directory, masterKey)));
  } catch (error) {
    await records.close();
    throw error;
  }
}

function lastKnown({ directory, masterKey, log }: OpeningOptions, url: string): ReadKnown | undefined {
  try {
    const text = directory.read(knownFile);
    // The keys are only tried: which one is right is for the database to say.
    return text === undefined ? undefined : readKnown(text, url, masterKeys(directory, masterKey).kept());
  } catch (error) {
    log.warn(
      { file: directory.file(knownFile), reason: (error as Error).message },
      'what was last known is left aside',
    );
    return undefined;
  }
}

async function waiting(options: OpeningOptions, url: string, last: ReadKnown): Promise<OpenedDatabase> {
  const { dataKey } = last;
  let known: Known | undefined = last.known;
  const { records, release } = await heldRecords({ ...options.records, url });
  async function arrive(): Promise<void> {
    const once = { ...options, records: { ...options.records, connections: 1 } };
    await reached(once, async (found, foundKey) => {
      if (!foundKey.equals(dataKey)) throw problem.another_database();
      await found.close();
    });
    release();
    known = undefined;
  }
  return { records, dataKey, awaited: { known: () => known, arrive } };
}
