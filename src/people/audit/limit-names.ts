import type { Actor } from '#operations/actor.ts';
import type { AuditRecord } from './schema.ts';

/** Ids, of those given, of objects of a table that the actor may see; undefined for a table without hidden objects. */
export type FindVisibleObjects = (table: string, ids: readonly string[]) => Promise<readonly string[]> | undefined;

/** Undefined for an actor from whom nothing is hidden. Supplied where the product is wired. */
export type LimitVisibleObjects = (actor: Actor) => Promise<FindVisibleObjects | undefined>;

const maxLookupRecords = 1000;

/** Removes the names of objects that the lists of these objects do not show to the actor, or no longer. */
export async function createNameLimit(
  limitVisibleObjects: LimitVisibleObjects,
  actor: Actor,
): Promise<(records: readonly AuditRecord[]) => Promise<AuditRecord[]>> {
  const findVisible = await limitVisibleObjects(actor);
  return async records => {
    if (!findVisible) return [...records];
    const limited: AuditRecord[] = [];
    for (let at = 0; at < records.length; at += maxLookupRecords)
      limited.push(...(await limitBatch(records.slice(at, at + maxLookupRecords), findVisible)));
    return limited;
  };
}

async function limitBatch(records: readonly AuditRecord[], findVisible: FindVisibleObjects): Promise<AuditRecord[]> {
  const byTable = Map.groupBy(
    records.filter(({ objectName }) => objectName !== ''),
    ({ objectTable }) => objectTable,
  );
  const visible = new Map<string, ReadonlySet<string> | undefined>();
  for (const [table, named] of byTable) {
    const ids = await findVisible(table, [...new Set(named.map(({ object }) => object))]);
    visible.set(table, ids && new Set(ids));
  }
  return records.map(record =>
    visible.get(record.objectTable)?.has(record.object) === false ? { ...record, objectName: '' } : record,
  );
}
