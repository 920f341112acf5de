import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';

export type LaneStore = ReturnType<typeof createLaneStore>;

/** Lane: the queue of one hook. */
export interface Lane {
  readonly orgId: string;
  readonly hook: string;
}

/**
 * Leases of lanes. Several processes may send from one database: each claims whole lanes, so that the deliveries of a
 * hook stay in order, for the length of a lease, so that another process takes over after a crash.
 */
export function createLaneStore(records: Records, holder: string) {
  const updateOwnLane = ({ orgId, hook }: Lane) =>
    records.db
      .updateTable('delivery_lanes')
      .where('org_id', '=', orgId)
      .where('hook', '=', hook)
      .where('holder', '=', holder);

  return {
    /** Releases leases of the previous run: only this process has its node name. */
    async releaseOwn(): Promise<void> {
      await records.db.updateTable('delivery_lanes').set({ lease_until: 0 }).where('holder', '=', holder).execute();
    },

    /** Claims due lanes without a lease, the longest due first. */
    async claim(nowMs: number, leaseMs: number, maxLanes: number): Promise<Lane[]> {
      const claimed: Lane[] = [];
      for (const { org_id, hook } of await findDue(records, nowMs, maxLanes)) {
        const lane = { orgId: org_id, hook };
        if (await claimLane(records, holder, lane, nowMs, leaseMs)) claimed.push(lane);
      }
      return claimed;
    },

    /** False when another process has claimed the lane. */
    async renew(lane: Lane, nowMs: number, leaseMs: number): Promise<boolean> {
      const lease = { lease_until: nowMs + leaseMs };
      const { numUpdatedRows } = await updateOwnLane(lane)
        .set(lease)
        .where('lease_until', '>', nowMs)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** Ends the lease; the lane is due again at `dueAtMs`. */
    async release(lane: Lane, dueAtMs: number): Promise<void> {
      await updateOwnLane(lane).set({ lease_until: 0, due_at: dueAtMs }).execute();
    },

    /** Deletes the lane, unless a delivery was added meanwhile. */
    async closeIfEmpty(lane: Lane): Promise<void> {
      await records.write(async () => {
        // The locked row makes a concurrent `add` wait and reopen the lane.
        await updateOwnLane(lane).set({ lease_until: 0 }).execute();
        if (await hasWaiting(records, lane)) return;
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

/** Due lanes without a lease, the longest due first. */
const findDue = (records: Records, nowMs: number, maxLanes: number) =>
  records.db
    .selectFrom('delivery_lanes')
    .select(['org_id', 'hook'])
    .where('due_at', '<=', nowMs)
    .where('lease_until', '<=', nowMs)
    .orderBy('due_at')
    .limit(maxLanes)
    .execute();

/** Compare-and-set: false when another process was first. */
async function claimLane(
  records: Records,
  holder: string,
  { orgId, hook }: Lane,
  nowMs: number,
  leaseMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await records.db
    .updateTable('delivery_lanes')
    .set({ lease_until: nowMs + leaseMs, holder })
    .where('org_id', '=', orgId)
    .where('hook', '=', hook)
    .where('due_at', '<=', nowMs)
    .where('lease_until', '<=', nowMs)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function hasWaiting(records: Records, { orgId, hook }: Lane): Promise<boolean> {
  const delivery = await records.db
    .selectFrom('deliveries')
    .select('id')
    .where('org_id', '=', orgId)
    .where('hook', '=', hook)
    .where(sql<boolean>`state = 'waiting'`)
    .limit(1)
    .executeTakeFirst();
  return delivery !== undefined;
}
