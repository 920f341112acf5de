import { type SelectQueryBuilder, sql } from 'kysely';
import { createPublicId } from '#base/ids.ts';
import type { Page, PageRequest } from '#storage/collection.ts';
import { problem as storageProblem } from '#storage/database-errors.ts';
import { selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import type { Delivery, DeliveryBody, DeliveryState } from './schema.ts';

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

export interface NewDelivery extends DeliveryBody {
  readonly orgId: string;
  readonly hook: string;
  readonly apiId: string;
  readonly event: string;
  /** Cooldown key: a delivery with the same key is skipped for `deduplicationMs`; empty for none. */
  readonly deduplicationKey: string;
  readonly deduplicationMs: number;
  /** Set where the body cannot be rendered: stored for inspection only. */
  readonly isDead: boolean;
}

export interface DeliveryFilter {
  readonly orgId: string;
  readonly hook?: string | undefined;
  readonly apiId?: string | undefined;
  /** APIs whose deliveries the caller must not see. */
  readonly hiddenApis?: readonly string[] | undefined;
  readonly event?: string | undefined;
  readonly state?: DeliveryState | undefined;
  /** First and last millisecond of creation. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

/** Result of an attempt. */
export interface AttemptResult {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly status: number;
  readonly log: Delivery['log'];
}

/** Bounds an unpaged list: each entry carries its body. */
const maxListItems = 1000;
/** Bounds one DELETE, so that it does not block writers. */
const maxRowsPerDelete = 1000;

type Row = { [C in keyof Tables['deliveries']]: C extends 'id' ? number : Tables['deliveries'][C] };
type DeliveryQuery<O> = SelectQueryBuilder<Tables, 'deliveries', O>;

/** Literal text: the planner uses the partial index only for exactly this condition. */
const isWaiting = sql<boolean>`state = 'waiting'`;

/** Queue and history of webhook deliveries; `lane-store.ts` leases the queue by hook. */
export const createDeliveryStore = (records: Records) => ({
  ...createDeliveryQueue(records),
  ...createDeliveryHistory(records),
  readQueue: () => readQueue(records),
  /** Deletes the waiting deliveries of a hook that was removed. */
  discardWaiting: (orgId: string, hook: string) => discardWaiting(records, orgId, hook),
});

const selectDeliveries = (records: Records) => records.db.selectFrom('deliveries');

function createDeliveryQueue(records: Records) {
  return {
    /** Claims a deduplication key: true for the first of concurrent callers until it expires. */
    claimKey: (key: string, nowMs: number, until: number) => claimKey(records, key, nowMs, until),
    countWaiting: (orgId: string) => countWaiting(records, orgId),

    /** Adds deliveries of any number of organisations; returns the added ones, and how many a full queue rejected. */
    async add(
      newDeliveries: readonly NewDelivery[],
      nowMs: number,
      maxWaiting: number,
    ): Promise<{ added: NewDelivery[]; dropped: number }> {
      return records.write(async () => {
        const { added, dropped } = await takeDeliveries(records, newDeliveries, nowMs, maxWaiting);
        // The lane is locked while ids are assigned: no other process can get lower ids and commit later.
        await openLanes(
          records,
          added.filter(({ isDead }) => !isDead),
          nowMs,
        );
        for (const it of added) await records.db.insertInto('deliveries').values(toRow(it, nowMs)).execute();
        return { added, dropped };
      });
    },

    /** Next waiting delivery of a hook. */
    next: (orgId: string, hook: string) =>
      findOne(
        selectDeliveries(records).where('org_id', '=', orgId).where('hook', '=', hook).where(isWaiting).orderBy('id'),
      ),

    async recordAttempt(delivery: Delivery, { log, ...result }: AttemptResult, nowMs: number): Promise<void> {
      await records.db
        .updateTable('deliveries')
        .set({ ...result, updated_at: nowMs, body: JSON.stringify({ ...toBody(delivery), log }) })
        .where('id', '=', delivery.id)
        .execute();
    },

    /** Requeues dead deliveries with a fresh attempt count: one, or all of a hook. Returns how many. */
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
  };
}

function createDeliveryHistory(records: Records) {
  const rows = () => selectDeliveries(records);
  const listOrganisationIds = async () =>
    (await rows().select('org_id').distinct().execute()).map(({ org_id }) => org_id);

  return {
    get: (orgId: string, id: string) => findOne(rows().where('org_id', '=', orgId).where('public_id', '=', id)),

    async page(filter: DeliveryFilter, { page, size }: PageRequest): Promise<Page<Delivery>> {
      const counted = applyFilter(records, rows().select(sql<number>`count(*)`.as('total')), filter);
      const total = Number((await counted.executeTakeFirstOrThrow()).total);
      const isUnpaged = page < 1;
      if (isUnpaged && total > maxListItems) throw storageProblem.too_many({ detail: { maxItems: maxListItems } });
      const found = await applyFilter(records, rows().selectAll(), filter)
        .orderBy('id', 'desc')
        .limit(isUnpaged ? maxListItems : size)
        .offset(isUnpaged ? 0 : (page - 1) * size)
        .execute();
      const items = found.map(row => toDelivery(row as Row));
      return { items, total, pages: isUnpaged ? 1 : Math.max(1, Math.ceil(total / size)) };
    },

    /** Deletes a batch of finished deliveries that are too old, or beyond an organisation's bound. Returns how many. */
    async prune(beforeMs: number, keep: number, nowMs: number, orgIds?: Iterable<string>): Promise<number> {
      const ids = () => rows().select('id').where('state', '<>', 'waiting');
      let removed = await deleteRows(records, ids().where('updated_at', '<', beforeMs).limit(maxRowsPerDelete));
      for (const orgId of orgIds ?? (await listOrganisationIds())) {
        const own = ids().where('org_id', '=', orgId).orderBy('id', 'desc');
        removed += await deleteRows(records, own.offset(keep).limit(maxRowsPerDelete));
      }
      await records.db.deleteFrom('delivery_marks').where('until', '<=', nowMs).execute();
      return removed;
    },
  };
}

function applyFilter<O>(records: Records, query: DeliveryQuery<O>, filter: DeliveryFilter): DeliveryQuery<O> {
  const { hiddenApis = [] } = filter;
  let narrowed = query.where('org_id', '=', filter.orgId);
  if (hiddenApis.length > 0) narrowed = narrowed.where('api_id', 'not in', selectListed(records, hiddenApis));
  if (filter.hook !== undefined) narrowed = narrowed.where('hook', '=', filter.hook);
  if (filter.apiId !== undefined) narrowed = narrowed.where('api_id', '=', filter.apiId);
  if (filter.event !== undefined) narrowed = narrowed.where('event', '=', filter.event);
  if (filter.state !== undefined) narrowed = narrowed.where('state', '=', filter.state);
  if (filter.fromMs !== undefined) narrowed = narrowed.where('created_at', '>=', filter.fromMs);
  if (filter.toMs !== undefined) narrowed = narrowed.where('created_at', '<=', filter.toMs);
  return narrowed;
}

async function countWaiting(records: Records, orgId: string): Promise<number> {
  const counted = selectDeliveries(records)
    .select(sql<number>`count(*)`.as('total'))
    .where('org_id', '=', orgId)
    .where(isWaiting);
  return Number((await counted.executeTakeFirstOrThrow()).total);
}

async function discardWaiting(records: Records, orgId: string, hook: string): Promise<void> {
  const waiting = records.db.deleteFrom('deliveries').where(isWaiting);
  await waiting.where('org_id', '=', orgId).where('hook', '=', hook).execute();
}

/** Waiting deliveries of all organisations, with the creation of the oldest. */
async function readQueue(records: Records): Promise<{ waiting: number; oldestAtMs: number | undefined }> {
  const { total, oldest } = await selectDeliveries(records)
    .select([sql<number>`count(*)`.as('total'), sql<number | null>`min(created_at)`.as('oldest')])
    .where(isWaiting)
    .executeTakeFirstOrThrow();
  return { waiting: Number(total), oldestAtMs: oldest === null ? undefined : Number(oldest) };
}

async function findOne(query: DeliveryQuery<unknown>): Promise<Delivery | undefined> {
  const row = await query.selectAll().limit(1).executeTakeFirst();
  return row && toDelivery(row as Row);
}

async function claimKey(records: Records, key: string, nowMs: number, until: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await records.db
    .insertInto('delivery_marks')
    .values({ mark: key, until })
    .onConflict(it => it.column('mark').doUpdateSet({ until }).where('delivery_marks.until', '<=', nowMs))
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Takes deliveries while the queue of their organisation has room, and skips those in cooldown. */
async function takeDeliveries(
  records: Records,
  newDeliveries: readonly NewDelivery[],
  nowMs: number,
  maxWaiting: number,
): Promise<{ added: NewDelivery[]; dropped: number }> {
  const freeSlots = new Map<string, number>();
  const added: NewDelivery[] = [];
  let dropped = 0;
  for (const it of newDeliveries) {
    const free = freeSlots.get(it.orgId) ?? maxWaiting - (await countWaiting(records, it.orgId));
    freeSlots.set(it.orgId, free);
    if (free <= 0) dropped++;
    else if (
      it.deduplicationKey === '' ||
      (await claimKey(records, it.deduplicationKey, nowMs, nowMs + it.deduplicationMs))
    ) {
      freeSlots.set(it.orgId, free - 1);
      added.push(it);
    }
  }
  return { added, dropped };
}

async function deleteRows(records: Records, ids: DeliveryQuery<{ id: number }>): Promise<number> {
  const rowIds = (await ids.execute()).map(({ id }) => id);
  if (rowIds.length === 0) return 0;
  await records.db.deleteFrom('deliveries').where('id', 'in', rowIds).execute();
  return rowIds.length;
}

/** Upserts and locks the lanes until the commit; recreates one that is being deleted. */
async function openLanes(
  records: Records,
  targets: readonly { orgId: string; hook: string }[],
  nowMs: number,
  isUrgent = false,
): Promise<void> {
  const lanes = new Map(targets.map(({ orgId, hook }) => [JSON.stringify([orgId, hook]), { orgId, hook }]));
  // Sorted, so that two transactions cannot deadlock.
  for (const [, { orgId: org_id, hook }] of [...lanes].sort(([a], [b]) => (a < b ? -1 : 1)))
    await records.db
      .insertInto('delivery_lanes')
      .values({ org_id, hook, due_at: nowMs, lease_until: 0, holder: '' })
      .onConflict(it => it.columns(['org_id', 'hook']).doUpdateSet(isUrgent ? { due_at: nowMs } : { hook }))
      .execute();
}

const toBody = ({ inline, name, payload, contentType, log, cause }: DeliveryBody): DeliveryBody => ({
  ...(inline && { inline }),
  ...(cause && { cause }),
  name,
  payload,
  contentType,
  log,
});

const toRow = (it: NewDelivery, nowMs: number) => ({
  public_id: createPublicId(),
  org_id: it.orgId,
  hook: it.hook,
  api_id: it.apiId,
  event: it.event,
  state: it.isDead ? 'dead' : 'waiting',
  attempts: 0,
  status: 0,
  created_at: nowMs,
  updated_at: nowMs,
  body: JSON.stringify(toBody(it)),
});

const toDelivery = (row: Row): Delivery => ({
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
