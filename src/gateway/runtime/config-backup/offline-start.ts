import { createMasterKeys } from '#storage/data-directory.ts';
import { openDeferredRecords } from '#storage/records.ts';
import { problem, type ReadKnown, readKnown } from './backup-file.ts';
import { type Known, knownFile } from './config-backup.ts';
import { type OpenedDatabase, type OpeningOptions, reached } from './open-database.ts';

/** Stands in for a database that does not answer; nothing where nothing is known that can be used. */
export async function waitWithKnown(
  options: OpeningOptions,
  url: string,
  reason: string,
): Promise<OpenedDatabase | undefined> {
  const last = lastKnown(options, url);
  if (!last) return undefined;
  const facts = { reason, written_at: last.writtenAt };
  options.log.warn(facts, 'the database does not answer: traffic is served as it was last known');
  return waiting(options, url, last);
}

function lastKnown({ directory, masterKey, log }: OpeningOptions, url: string): ReadKnown | undefined {
  try {
    const text = directory.read(knownFile);
    // The keys are only tried: which one is right is for the database to say.
    return text === undefined ? undefined : readKnown(text, url, createMasterKeys(directory, masterKey).candidates());
  } catch (error) {
    log.warn(
      { file: directory.pathOf(knownFile), reason: (error as Error).message },
      'what was last known is left aside',
    );
    return undefined;
  }
}

async function waiting(options: OpeningOptions, url: string, last: ReadKnown): Promise<OpenedDatabase> {
  const { dataKey } = last;
  let known: Known | undefined = last.known;
  const { records, release } = await openDeferredRecords({ ...options.records, url });
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
