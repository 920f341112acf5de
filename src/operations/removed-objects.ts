import { z } from 'zod';
import type { ObjectHistory } from '#storage/revision-log.ts';
import type { Actor } from './actor.ts';
import { revisionSummary, toRevisionSummary } from './revision-summary.ts';

const removedObject = revisionSummary.omit({ action: true }).extend({
  id: z.string().describe('Database id; histories accept it'),
  public_id: z.string(),
  name: z.string(),
  revision: z.int().describe('The last state, which a restore takes'),
  at: z.string().describe('When it was deleted'),
});
export const removedList = z.object({ deleted: z.array(removedObject), pages: z.int() });

interface RemovedSource<Doc> {
  readonly history: ObjectHistory<Doc>;
  /** State as the caller may see it; undefined where it may not. */
  view(state: Doc): unknown | undefined;
  readonly actor: Actor;
  toName(state: Doc): string;
}

/** A page of the removed objects that the caller could read, each with its last state. */
export async function listRemovedObjects<Doc>(
  { actor, history, view, toName }: RemovedSource<Doc>,
  page: number,
  pageSize: number,
) {
  const total = await history.countRemoved(actor.orgId);
  const size = page < 1 ? Math.max(1, total) : pageSize;
  const removals = await history.listRemoved(actor.orgId, { limit: size, offset: (Math.max(page, 1) - 1) * size });
  const deleted: z.input<typeof removedObject>[] = [];
  for (const removal of removals) {
    const [last] = await history.list(actor.orgId, removal.objectId, 1, removal.revision);
    if (!last?.state || view(last.state) === undefined) continue;
    const { action: _action, ...shared } = toRevisionSummary(actor, removal);
    const ids = { id: removal.objectId, public_id: removal.publicId, name: toName(last.state) };
    deleted.push({ ...shared, ...ids, revision: last.revision });
  }
  return { deleted, pages: Math.max(1, Math.ceil(total / size)) };
}
