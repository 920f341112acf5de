import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import type { Attempt, DeliveryBody } from './schema.ts';

export type HealthStore = ReturnType<typeof createHealthStore>;

/** Deliveries of a webhook in one state. */
export interface StateCounts {
  readonly count: number;
  /** Of those, with a change since a given time. */
  readonly recent: number;
  readonly lastChangedAtMs: number;
}

export interface QueueHealth {
  readonly waiting: StateCounts;
  readonly delivered: StateCounts;
  readonly dead: StateCounts;
  /** Last failed attempt of a delivery that is not delivered. */
  readonly lastFailure: Attempt | undefined;
  /** Time of the next attempt; undefined where nothing waits. */
  readonly nextAttemptAtMs: number | undefined;
}

const none: StateCounts = { count: 0, recent: 0, lastChangedAtMs: 0 };

/** State of the queue and the log of one webhook. */
export const createHealthStore = (records: Records) => ({
  async read(orgId: string, hook: string, sinceMs: number): Promise<QueueHealth> {
    const ownRows = () => records.db.selectFrom('deliveries').where('org_id', '=', orgId).where('hook', '=', hook);
    const rows = await ownRows()
      .select([
        'state',
        sql<number>`count(*)`.as('count'),
        sql<number>`sum(case when updated_at >= ${sinceMs} then 1 else 0 end)`.as('recent'),
        sql<number>`max(updated_at)`.as('changed'),
      ])
      .groupBy('state')
      .execute();
    const counts = new Map(
      rows.map(({ state, count, recent, changed }) => [
        state,
        { count: Number(count), recent: Number(recent), lastChangedAtMs: Number(changed) },
      ]),
    );
    const failed = await ownRows()
      .select('body')
      .where(it => it.or([it('state', '=', 'dead'), it.and([it('state', '=', 'waiting'), it('attempts', '>', 0)])]))
      .orderBy('updated_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    const lane = await records.db
      .selectFrom('delivery_lanes')
      .select('due_at')
      .where('org_id', '=', orgId)
      .where('hook', '=', hook)
      .executeTakeFirst();
    const waiting = counts.get('waiting') ?? none;
    return {
      waiting,
      delivered: counts.get('delivered') ?? none,
      dead: counts.get('dead') ?? none,
      lastFailure: failed && (JSON.parse(failed.body) as DeliveryBody).log.at(-1),
      nextAttemptAtMs: lane && waiting.count > 0 ? Number(lane.due_at) : undefined,
    };
  },
});
