import { every, type RepeatedWork } from '#base/repeat.ts';
import type { Records } from './records.ts';

/** Length of the change log in revisions. A gateway that is further behind reloads everything. */
export const maxLogRevisions = 10_000;
const pruneIntervalMs = 600_000;
/** Bounds one DELETE, so that it does not block writers. */
const maxRevisionsPerDelete = 1000;

/** Deletes revisions beyond the bound from the change log; returns how many were deleted. */
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

/** Prunes the change log while the process runs. Every process on a database may: deleting is idempotent. */
export function startChangeLogPruning(records: Records, onError: (error: Error) => void): RepeatedWork {
  return every(pruneIntervalMs, () => pruneChanges(records), { onError, runsAtStart: true });
}
