import type { Records } from './records.ts';

/** Revisions the log of changes reaches back. A gateway that is further behind reads everything anew. */
export const maxLogRevisions = 10_000;
/** How often that is looked after. */
const pruneIntervalMs = 600_000;
/** One removal must not hold up those who write. */
const maxRevisionsPerDelete = 1000;

/** Removes what no gateway needs any more from the log of changes; gives how many revisions that were. */
export async function pruneChanges(
  records: Records,
  maxRevisions = maxLogRevisions,
  batchSize = maxRevisionsPerDelete,
): Promise<number> {
  const last = await records.revision();
  const { db } = records;
  const oldest = await db.selectFrom('changes').select('revision').orderBy('revision').limit(1).executeTakeFirst();
  const first = Number(oldest?.revision ?? last);
  const until = last - maxRevisions;
  for (let from = first; from <= until; from += batchSize)
    await records.db
      .deleteFrom('changes')
      .where('revision', '<', Math.min(from + batchSize, until + 1))
      .execute();
  return Math.max(0, until + 1 - first);
}

/** Keeps the log short for as long as the process runs. Every process on a database may: what is gone is gone. */
export function startChangeLogPruning(records: Records, onError: (error: Error) => void) {
  let pruning = Promise.resolve();
  const prune = () => {
    pruning = pruneChanges(records).then(() => undefined, onError);
  };
  prune();
  const timer = setInterval(prune, pruneIntervalMs);
  return {
    async close(): Promise<void> {
      clearInterval(timer);
      await pruning;
    },
  };
}
