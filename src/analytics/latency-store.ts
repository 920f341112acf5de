import { type Expression, type SqlBool, sql } from 'kysely';
import type { LatencyRow } from '#storage/analytics-tables.ts';
import { padToPowerOfTwo, splitIntoBatches } from '#storage/insert-batches.ts';
import type { Records } from '#storage/records.ts';
import { problem } from './problems.ts';
import type { ReadGate } from './read-gate.ts';
import { minuteMs } from './usage-rows.ts';
import {
  buildGroupColumns,
  buildUsageFilter,
  castToBigint,
  type UsageQuery,
  type UsageSum,
} from './usage-sums-store.ts';

/** Both engines bound the values of one statement. */
const maxRowsPerInsert = 2000;
/** Bounds of reads of histograms. */
export interface HistogramBounds {
  /** Rows of `usage` whose histograms one statement reads: about a tenth of a second. */
  readonly maxRowsPerSlice: number;
  /** Rows of `usage` whose histograms one request reads. */
  readonly maxRows: number;
}
export const defaultHistogramBounds: HistogramBounds = { maxRowsPerSlice: 20_000, maxRows: 1_000_000 };

/** Upsert: adds counts to existing buckets of this or another process. */
export async function addLatencies(records: Records, rows: readonly LatencyRow[]): Promise<void> {
  for (const batch of splitIntoBatches(rows, maxRowsPerInsert))
    await records.db
      .insertInto('usage_latencies')
      .values(batch)
      .onConflict(conflict =>
        conflict
          .columns(['minute', 'id', 'bucket'])
          .doUpdateSet({ hits: sql<number>`usage_latencies.hits + excluded.hits` }),
      )
      .execute();
}

type Row = Readonly<Record<string, unknown>>;
/** Condition of one group. */
type Condition = Expression<SqlBool>;

/** Latency histograms of a query, one row per group and bucket; of all groups, or of the given ones. */
export function buildHistograms(records: Records, usageQuery: UsageQuery, groups?: readonly UsageSum[]) {
  const columns = buildGroupColumns(usageQuery);
  const joined = buildUsageFilter(records, usageQuery).innerJoin('usage_latencies as latency', join =>
    join.onRef('latency.minute', '=', 'usage.minute').onRef('latency.id', '=', 'usage.id'),
  );
  const grouped = columns
    .reduce((query, [, expression]) => query.groupBy(expression), joined)
    .groupBy('latency.bucket')
    .select(columns.map(([name, expression]) => expression.as(name)))
    .select(['latency.bucket as latency_bucket', castToBigint(sql`sum(latency.hits)`).as('latency_hits')]);
  if (!groups) return grouped;
  const toCondition = (group: Row): Condition =>
    sql<SqlBool>`(${sql.join(
      columns.map(([name, expression]) => sql`${expression} = ${group[name]}`),
      sql` and `,
    )})`;
  return grouped.where(joinConditions(padToPowerOfTwo(groups).map(toCondition)));
}

/** Disjunction as a balanced tree: SQLite bounds the depth of an expression. */
function joinConditions(conditions: readonly Condition[]): Condition {
  if (conditions.length === 1) return conditions[0]!;
  const half = Math.ceil(conditions.length / 2);
  const [left, right] = [conditions.slice(0, half), conditions.slice(half)];
  return sql<SqlBool>`(${joinConditions(left)} or ${joinConditions(right)})`;
}

export interface HistogramReads {
  readonly records: Records;
  readonly gate: ReadGate;
  readonly bounds: HistogramBounds;
}

export interface HistogramSelection {
  /** Groups whose histograms are read. */
  readonly items: readonly UsageSum[];
  /** The items are all groups of the query. */
  readonly isComplete: boolean;
}

/** Items with the merged histogram of each, read slice by slice. */
export async function readHistograms(
  { records, gate, bounds }: HistogramReads,
  usageQuery: UsageQuery,
  { items, isComplete }: HistogramSelection,
): Promise<UsageSum[]> {
  if (items.length === 0) return [];
  const names = buildGroupColumns(usageQuery).map(([name]) => name);
  const toGroupName = (row: Row) => JSON.stringify(names.map(name => String(row[name])));
  const histograms = new Map(items.map(item => [toGroupName(item), new Map<number, number>()]));
  for (let from = usageQuery.from; from < usageQuery.to; )
    from = await gate.run(usageQuery.orgId, async () => {
      const slice = { ...usageQuery, from, to: await findSliceEnd(records, { ...usageQuery, from }, bounds) };
      const rows: Row[] = await buildHistograms(records, slice, isComplete ? undefined : items).execute();
      for (const row of rows) {
        const counts = histograms.get(toGroupName(row));
        const bucket = Number(row.latency_bucket);
        counts?.set(bucket, (counts.get(bucket) ?? 0) + Number(row.latency_hits));
      }
      return slice.to;
    });
  return items.map(item => ({ ...item, latencies: histograms.get(toGroupName(item))! }));
}

/** End of a slice of at most `maxRowsPerSlice` rows, or of one minute: SQLite runs a statement on the main thread. */
async function findSliceEnd(
  records: Records,
  usageQuery: UsageQuery,
  { maxRowsPerSlice }: HistogramBounds,
): Promise<number> {
  const row = await buildUsageFilter(records, usageQuery)
    .select('usage.minute')
    .orderBy('usage.minute')
    .limit(1)
    .offset(maxRowsPerSlice)
    .executeTakeFirst();
  if (!row) return usageQuery.to;
  return Math.max(Number(row.minute), usageQuery.from + minuteMs);
}

/** Rejects a query whose histograms would take too long to read. */
export async function checkHistogramRows(
  { records, bounds: { maxRows } }: HistogramReads,
  usageQuery: UsageQuery,
): Promise<void> {
  const rows = buildUsageFilter(records, usageQuery)
    .select(sql<number>`1`.as('one'))
    .limit(maxRows + 1);
  const { total } = await records.db
    .selectFrom(rows.as('found'))
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  if (Number(total) > maxRows) throw problem.percentile_rows_exceeded({ detail: { maxRows } });
}

/** Removes up to `maxRows` buckets each that are over the retention, or expired; returns how many. */
export async function pruneLatencies(records: Records, before: number, now: number, maxRows: number): Promise<number> {
  const select = () => records.db.selectFrom('usage_latencies').select(['minute', 'id', 'bucket']).limit(maxRows);
  let removed = 0;
  for (const keys of [
    select().where('minute', '<', before),
    select().where('expires_at', '>', 0).where('expires_at', '<=', now),
  ]) {
    const { numDeletedRows } = await records.db
      .deleteFrom('usage_latencies')
      .where(sql<boolean>`(minute, id, bucket) in (${keys})`)
      .executeTakeFirst();
    removed += Number(numDeletedRows);
  }
  return removed;
}
