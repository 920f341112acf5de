import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';

export type LaneStore = ReturnType<typeof createLaneStore>;

/** The queue of one hook. */
export interface Lane {
  readonly orgId: string;
  readonly hook: string;
}

/**
 * Several processes may send from one database. Each takes whole lanes, so that the calls of a hook keep their order, and
 * holds them for as long as its lease says: what a process that died had taken is taken by another.
 */
export function createLaneStore(records: Records, holder: string) {
  const updateOwnLane = ({ orgId, hook }: Lane) =>
    records.db
      .updateTable('delivery_lanes')
      .where('org_id', '=', orgId)
      .where('hook', '=', hook)
      .where('holder', '=', holder);

  return {
    /** What this process held before it was stopped is free: nobody else has its name. */
    async releaseOwn(): Promise<void> {
      await records.db.updateTable('delivery_lanes').set({ lease_until: 0 }).where('holder', '=', holder).execute();
    },

    /** Takes lanes that are due and free, the longest due first. */
    async claim(nowMs: number, leaseMs: number, maxLanes: number): Promise<Lane[]> {
      const due = await records.db
        .selectFrom('delivery_lanes')
        .select(['org_id', 'hook'])
        .where('due_at', '<=', nowMs)
        .where('lease_until', '<=', nowMs)
        .orderBy('due_at')
        .limit(maxLanes)
        .execute();
      const claimed: Lane[] = [];
      for (const { org_id, hook } of due) {
        const { numUpdatedRows } = await records.db
          .updateTable('delivery_lanes')
          .set({ lease_until: nowMs + leaseMs, holder })
          .where('org_id', '=', org_id)
          .where('hook', '=', hook)
          .where('due_at', '<=', nowMs)
          .where('lease_until', '<=', nowMs)
          .executeTakeFirst();
        if (numUpdatedRows > 0n) claimed.push({ orgId: org_id, hook });
      }
      return claimed;
    },

    /** False when the lane is somebody else's by now. */
    async renew(lane: Lane, nowMs: number, leaseMs: number): Promise<boolean> {
      const renewed = updateOwnLane(lane)
        .set({ lease_until: nowMs + leaseMs })
        .where('lease_until', '>', nowMs);
      return (await renewed.executeTakeFirst()).numUpdatedRows > 0n;
    },

    /** Gives it back until it is due again. */
    async release(lane: Lane, dueAtMs: number): Promise<void> {
      await updateOwnLane(lane).set({ lease_until: 0, due_at: dueAtMs }).execute();
    },

    /** Gives it back for good, if nothing has come in meanwhile. */
    async closeIfEmpty(lane: Lane): Promise<void> {
      await records.write(async () => {
        // Holding the row makes whoever adds to the lane wait, and open it anew.
        await updateOwnLane(lane).set({ lease_until: 0 }).execute();
        const more = await records.db
          .selectFrom('deliveries')
          .select('id')
          .where('org_id', '=', lane.orgId)
          .where('hook', '=', lane.hook)
          .where(sql<boolean>`state = 'waiting'`)
          .limit(1)
          .executeTakeFirst();
        if (more) return;
        await records.db
          .deleteFrom('delivery_lanes')
          .where('org_id', '=', lane.orgId)
          .where('hook', '=', lane.hook)
          .where('holder', '=', holder)
          .execute();
      });
    },
  };
}
