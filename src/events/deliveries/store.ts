import { type SelectQueryBuilder, sql } from 'kysely';
import { createPublicId } from '#base/ids.ts';
import type { Page, PageRequest } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import type { Delivery, DeliveryBody, DeliveryState } from './schema.ts';

export type DeliveryStore = ReturnType<typeof deliveryStore>;

export interface NewDelivery extends DeliveryBody {
  readonly orgId: string;
  readonly hook: string;
  readonly apiId: string;
  readonly event: string;
  /** Not told again until the time is over; empty for what is always told. */
  readonly mark: string;
  readonly markedForMs: number;
  /** Set where it cannot be made at all, and is only kept to be looked at. */
  readonly dead: boolean;
}

export interface DeliveriesAsked {
  readonly orgId: string;
  readonly hook?: string | undefined;
  readonly apiId?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: DeliveryState | undefined;
}

/** What a process may do with one delivery after an attempt. */
export interface Settled {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly status: number;
  readonly log: Delivery['log'];
}

/** A list may be asked for whole, but each entry carries what was sent. */
const listedAtMost = 1000;
/** Rows one removal takes, so that it does not hold up those who write. */
const removedAtOnce = 1000;

type Row = { [C in keyof Tables['deliveries']]: C extends 'id' ? number : Tables['deliveries'][C] };
type Narrowed<O> = SelectQueryBuilder<Tables, 'deliveries', O>;

/** An index over the few that wait is used only where the query says so in these words. */
const waits = sql<boolean>`state = 'waiting'`;

/** Webhook calls that wait, and what became of the others. Their queue is laned in `lane-store.ts`. */
export function deliveryStore(records: Records) {
  const rows = () => records.db.selectFrom('deliveries');

  function matching<O>(query: Narrowed<O>, asked: DeliveriesAsked): Narrowed<O> {
    let narrowed = query.where('org_id', '=', asked.orgId);
    if (asked.hook !== undefined) narrowed = narrowed.where('hook', '=', asked.hook);
    if (asked.apiId !== undefined) narrowed = narrowed.where('api_id', '=', asked.apiId);
    if (asked.event !== undefined) narrowed = narrowed.where('event', '=', asked.event);
    if (asked.state !== undefined) narrowed = narrowed.where('state', '=', asked.state);
    return narrowed;
  }

  async function countWaiting(orgId: string): Promise<number> {
    const counted = rows().select(sql<number>`count(*)`.as('total')).where('org_id', '=', orgId).where(waits);
    return Number((await counted.executeTakeFirstOrThrow()).total);
  }

  async function one(query: Narrowed<unknown>): Promise<Delivery | undefined> {
    const row = await query.selectAll().limit(1).executeTakeFirst();
    return row && deliveryOf(row as Row);
  }

  /** Whoever comes first tells it; the others are told that it was. */
  async function isFirst(mark: string, nowMs: number, until: number): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await records.db
      .insertInto('delivery_marks')
      .values({ mark, until })
      .onConflict(it => it.column('mark').doUpdateSet({ until }).where('delivery_marks.until', '<=', nowMs))
      .executeTakeFirst();
    return (numInsertedOrUpdatedRows ?? 0n) > 0n;
  }

  const organisations = async () => (await rows().select('org_id').distinct().execute()).map(({ org_id }) => org_id);

  return {
    isFirst,
    waiting: countWaiting,

    /** Writes deliveries of any number of organisations; gives how many found no room in the queue of theirs. */
    async add(
      made: readonly NewDelivery[],
      nowMs: number,
      most: number,
    ): Promise<{ kept: NewDelivery[]; full: number }> {
      return records.write(async () => {
        const room = new Map<string, number>();
        const kept: NewDelivery[] = [];
        let full = 0;
        for (const it of made) {
          const left = room.get(it.orgId) ?? most - (await countWaiting(it.orgId));
          room.set(it.orgId, left);
          if (left <= 0) full++;
          else if (it.mark === '' || (await isFirst(it.mark, nowMs, nowMs + it.markedForMs))) {
            room.set(it.orgId, left - 1);
            kept.push(it);
          }
        }
        // The lane is held while calls get their numbers: of several processes none numbers first and commits last.
        await openLanes(
          records,
          kept.filter(({ dead }) => !dead),
          nowMs,
        );
        for (const it of kept) await records.db.insertInto('deliveries').values(rowOf(it, nowMs)).execute();
        return { kept, full };
      });
    },

    /** The one whose turn it is. */
    next: (orgId: string, hook: string) =>
      one(rows().where('org_id', '=', orgId).where('hook', '=', hook).where(waits).orderBy('id')),

    async settle(delivery: Delivery, { log, ...settled }: Settled, nowMs: number): Promise<void> {
      await records.db
        .updateTable('deliveries')
        .set({ ...settled, updated_at: nowMs, body: JSON.stringify({ ...bodyOf(delivery), log }) })
        .where('id', '=', delivery.id)
        .execute();
    },

    get: (orgId: string, id: string) => one(rows().where('org_id', '=', orgId).where('public_id', '=', id)),

    async page(asked: DeliveriesAsked, { page, size }: PageRequest): Promise<Page<Delivery>> {
      const counted = matching(rows().select(sql<number>`count(*)`.as('total')), asked);
      const total = Number((await counted.executeTakeFirstOrThrow()).total);
      const whole = page < 1;
      const found = await matching(rows().selectAll(), asked)
        .orderBy('id', 'desc')
        .limit(whole ? listedAtMost : size)
        .offset(whole ? 0 : (page - 1) * size)
        .execute();
      const items = found.map(row => deliveryOf(row as Row));
      return { items, total, pages: whole ? 1 : Math.max(1, Math.ceil(total / size)) };
    },

    /** Has what was given up tried again, as if it were new. One, or all of a hook; how many that were. */
    async retry(orgId: string, which: { id: string } | { hook: string }, nowMs: number): Promise<number> {
      return records.write(async () => {
        const dead = records.db
          .updateTable('deliveries')
          .set({ state: 'waiting', attempts: 0, updated_at: nowMs })
          .where('org_id', '=', orgId)
          .where('state', '=', 'dead');
        const narrowed = 'id' in which ? dead.where('public_id', '=', which.id) : dead.where('hook', '=', which.hook);
        const lanes = await narrowed.returning('hook').execute();
        await openLanes(
          records,
          lanes.map(({ hook }) => ({ orgId, hook })),
          nowMs,
          true,
        );
        return lanes.length;
      });
    },

    /**
     * Removes some of what is finished and too old, or more than an organisation keeps: one of these, or any. Gives how many
     * that were.
     */
    async prune(beforeMs: number, keep: number, nowMs: number, orgIds?: Iterable<string>): Promise<number> {
      const ids = () => rows().select('id').where('state', '<>', 'waiting');
      let removed = await remove(records, ids().where('updated_at', '<', beforeMs).limit(removedAtOnce));
      for (const orgId of orgIds ?? (await organisations())) {
        const own = ids().where('org_id', '=', orgId).orderBy('id', 'desc');
        removed += await remove(records, own.offset(keep).limit(removedAtOnce));
      }
      await records.db.deleteFrom('delivery_marks').where('until', '<=', nowMs).execute();
      return removed;
    },
  };
}

async function remove(records: Records, ids: Narrowed<{ id: number }>): Promise<number> {
  const doomed = (await ids.execute()).map(({ id }) => id);
  if (doomed.length === 0) return 0;
  await records.db.deleteFrom('deliveries').where('id', 'in', doomed).execute();
  return doomed.length;
}

/** Holds the lanes until the end of the write. One that somebody is just leaving is made anew. */
async function openLanes(
  records: Records,
  wanted: readonly { orgId: string; hook: string }[],
  nowMs: number,
  isUrgent = false,
): Promise<void> {
  const lanes = new Map(wanted.map(({ orgId, hook }) => [JSON.stringify([orgId, hook]), { orgId, hook }]));
  // In one order, so that two who open the same ones do not wait for each other.
  for (const [, { orgId: org_id, hook }] of [...lanes].sort(([a], [b]) => (a < b ? -1 : 1)))
    await records.db
      .insertInto('delivery_lanes')
      .values({ org_id, hook, due_at: nowMs, lease_until: 0, holder: '' })
      .onConflict(it => it.columns(['org_id', 'hook']).doUpdateSet(isUrgent ? { due_at: nowMs } : { hook }))
      .execute();
}

const bodyOf = ({ inline, name, payload, contentType, log }: DeliveryBody): DeliveryBody => ({
  ...(inline && { inline }),
  name,
  payload,
  contentType,
  log,
});

const rowOf = (it: NewDelivery, nowMs: number) => ({
  public_id: createPublicId(),
  org_id: it.orgId,
  hook: it.hook,
  api_id: it.apiId,
  event: it.event,
  state: it.dead ? 'dead' : 'waiting',
  attempts: 0,
  status: 0,
  created_at: nowMs,
  updated_at: nowMs,
  body: JSON.stringify(bodyOf(it)),
});

const deliveryOf = (row: Row): Delivery => ({
  ...(JSON.parse(row.body) as DeliveryBody),
  id: Number(row.id),
  publicId: row.public_id,
  orgId: row.org_id,
  hook: row.hook,
  apiId: row.api_id,
  event: row.event,
  state: row.state as DeliveryState,
  attempts: Number(row.attempts),
  status: Number(row.status),
  createdAtMs: Number(row.created_at),
  updatedAtMs: Number(row.updated_at),
});
