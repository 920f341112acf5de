import { problem as storageProblem } from '#storage/database-errors.ts';
import type { RunContext, StoredObject } from './kind.ts';

/** Objects read by one query. */
const batchSize = 1000;
/** Objects of one kind that a run holds in memory. */
const maxStoredObjects = 100_000;

/** Reads all objects of a kind, batch by batch. */
export async function listAll(
  listAfter: (context: RunContext, after: string, size: number) => Promise<StoredObject[]>,
  context: RunContext,
): Promise<StoredObject[]> {
  const found: StoredObject[] = [];
  for (let after = ''; ; ) {
    const batch = await listAfter(context, after, batchSize);
    found.push(...batch);
    if (batch.length === 0) return found;
    if (found.length > maxStoredObjects) throw storageProblem.too_many({ detail: { maxItems: maxStoredObjects } });
    after = batch.at(-1)!.id;
  }
}
