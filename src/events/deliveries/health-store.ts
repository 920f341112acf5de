import { sql } from 'kysely';
import { splitIntoBatches } from '#storage/insert-batches.ts';
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
/** A queue without deliveries. */
export const unusedQueue: QueueHealth = {
  waiting: none,
  delivered: none,
  dead: none,
  lastFailure: undefined,
  nextAttemptAtMs: undefined,
};

/** Webhooks of one statement: bounds its parameters. */
const maxHooksPerRead = 200;

/** State of the queues and the logs of webhooks. */
export function createHealthStore(records: Records) {
  /** Queues by webhook; those without deliveries are absent. */
  async function readMany(
    orgId: string,
    hooks: readonly string[],
    sinceMs: number,
  ): Promise<ReadonlyMap<string, QueueHealth>> {
    const found = new Map<string, QueueHealth>();
    for (const batch of splitIntoBatches(hooks, maxHooksPerRead)) {
      const [counts, failures, dueTimes] = [
        await countStates(records, orgId, batch, sinceMs),
        await readFailures(records, orgId, batch),
        await readDueTimes(records, orgId, batch),
      ];
      for (const [hook, states] of counts) {
        const waiting = states.get('waiting') ?? none;
        found.set(hook, {
          waiting,
          delivered: states.get('delivered') ?? none,
          dead: states.get('dead') ?? none,
          lastFailure: failures.get(hook),
          nextAttemptAtMs: waiting.count > 0 ? dueTimes.get(hook) : undefined,
        });
      }
    }
    return found;
  }
  return {
    readMany,
    read: async (orgId: string, hook: string, sinceMs: number): Promise<QueueHealth> =>
      (await readMany(orgId, [hook], sinceMs)).get(hook) ?? unusedQueue,
  };
}

const selectDeliveries = (records: Records, orgId: string, hooks: readonly string[]) =>
  records.db.selectFrom('deliveries').where('org_id', '=', orgId).where('hook', 'in', hooks);

async function countStates(records: Records, orgId: string, hooks: readonly string[], sinceMs: number) {
  const rows = await selectDeliveries(records, orgId, hooks)
    .select([
      'hook',
      'state',
      sql<number>`count(*)`.as('count'),
      sql<number>`sum(case when updated_at >= ${sinceMs} then 1 else 0 end)`.as('recent'),
      sql<number>`max(updated_at)`.as('changed'),
    ])
    .groupBy(['hook', 'state'])
    .execute();
  const counts = new Map<string, Map<string, StateCounts>>();
  for (const { hook, state, count, recent, changed } of rows) {
    const states = counts.get(hook) ?? new Map<string, StateCounts>();
    states.set(state, { count: Number(count), recent: Number(recent), lastChangedAtMs: Number(changed) });
    counts.set(hook, states);
  }
  return counts;
}

/** Last failed attempt of each webhook. */
async function readFailures(records: Records, orgId: string, hooks: readonly string[]) {
  const failed = selectDeliveries(records, orgId, hooks)
    .select([
      'hook',
      'body',
      sql<number>`row_number() over (partition by hook order by updated_at desc, id desc)`.as('place'),
    ])
    .where(it => it.or([it('state', '=', 'dead'), it.and([it('state', '=', 'waiting'), it('attempts', '>', 0)])]));
  const rows = await records.db
    .selectFrom(failed.as('failed'))
    .select(['hook', 'body'])
    .where('place', '=', 1)
    .execute();
  return new Map(rows.map(({ hook, body }) => [hook, (JSON.parse(body) as DeliveryBody).log.at(-1)]));
}

async function readDueTimes(records: Records, orgId: string, hooks: readonly string[]) {
  const lanes = await records.db
    .selectFrom('delivery_lanes')
    .select(['hook', 'due_at'])
    .where('org_id', '=', orgId)
    .where('hook', 'in', hooks)
    .execute();
  return new Map(lanes.map(({ hook, due_at }) => [hook, Number(due_at)]));
}
