import { sql } from 'kysely';
import type { LatencyRow } from '#storage/analytics-tables.ts';
import { problem } from '#storage/database-errors.ts';
import { splitIntoBatches } from '#storage/insert-batches.ts';
import type { Records } from '#storage/records.ts';
import { buildFilter, buildGroupColumns, castToBigint, type UsageQuery, type UsageSum } from './usage-sums-store.ts';

/** Both engines bound the values of one statement. */
const maxRowsPerInsert = 2000;
/** Bound of one response with percentiles: each item has a histogram. */
export const maxPercentileItems = 1000;

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

type Row = Readonly<Record<string, string | number>>;

/** Latency histograms of a query, one row per group and bucket; of all groups, or of the given ones. */
export function buildHistograms(records: Records, usageQuery: UsageQuery, items: readonly UsageSum[] | undefined) {
  const columns = buildGroupColumns(usageQuery);
  const joined = buildFilter(records, usageQuery).innerJoin('usage_latencies as latency', join =>
    join.onRef('latency.minute', '=', 'usage.minute').onRef('latency.id', '=', 'usage.id'),
  );
  const grouped = columns
    .reduce((query, [, expression]) => query.groupBy(expression), joined)
    .groupBy('latency.bucket')
    .select(columns.map(([name, expression]) => expression.as(name)))
    .select(['latency.bucket as latency_bucket', castToBigint(sql`sum(latency.hits)`).as('latency_hits')]);
  if (!items) return grouped;
  return grouped.where(it =>
    it.or(
      items.map(item =>
        it.and(columns.map(([name, expression]) => sql<boolean>`${expression} = ${(item as unknown as Row)[name]}`)),
      ),
    ),
  );
}

/** Adds to each item the merged histogram of its group. */
export async function attachLatencies(
  records: Records,
  usageQuery: UsageQuery,
  items: readonly UsageSum[],
  areAll: boolean,
): Promise<void> {
  if (items.length === 0) return;
  if (items.length > maxPercentileItems) throw problem.too_many({ detail: { maxItems: maxPercentileItems } });
  const names = buildGroupColumns(usageQuery).map(([name]) => name);
  const toGroupName = (row: Row) => JSON.stringify(names.map(name => String(row[name])));
  const histograms = new Map<string, Map<number, number>>();
  for (const item of items) {
    const counts = new Map<number, number>();
    item.latencies = counts;
    histograms.set(toGroupName(item as unknown as Row), counts);
  }
  const rows = (await buildHistograms(records, usageQuery, areAll ? undefined : items).execute()) as unknown as Row[];
  for (const row of rows) histograms.get(toGroupName(row))?.set(Number(row.latency_bucket), Number(row.latency_hits));
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
