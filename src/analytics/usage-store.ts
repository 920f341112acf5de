import { sql } from 'kysely';
import type { Page, PageRequest } from '#storage/collection.ts';
import { problem } from '#storage/database-errors.ts';
import { splitIntoBatches } from '#storage/insert-batches.ts';
import type { Records } from '#storage/records.ts';
import {
  addLatencies,
  buildHistograms,
  checkHistogramRows,
  defaultHistogramBounds,
  type HistogramBounds,
  type HistogramReads,
  pruneLatencies,
  readHistograms,
} from './latency-store.ts';
import { createReadGate } from './read-gate.ts';
import type { DrainedUsage } from './roll-up.ts';
import { buildSums, castToBigint, countGroups, type UsageQuery, type UsageSum } from './usage-sums-store.ts';
import { addTags, pruneTags } from './usage-tag-store.ts';

/** Both engines bound the values of one statement. */
const maxRowsPerInsert = 500;
/** Bound of a list without pages. */
const maxGroups = 10_000;
/** Bound of one response with percentiles: each item has a histogram. */
const maxPercentileItems = 1000;

const minColumn = (column: string) => {
  const [stored, excluded] = [currentColumn(column), incomingColumn(column)];
  return sql<number>`case when ${excluded} < ${stored} then ${excluded} else ${stored} end`;
};
const maxColumn = (column: string) => {
  const [stored, excluded] = [currentColumn(column), incomingColumn(column)];
  return sql<number>`case when ${excluded} > ${stored} then ${excluded} else ${stored} end`;
};
const currentColumn = (column: string) => sql.ref(`usage.${column}`);
const incomingColumn = (column: string) => sql.ref(`excluded.${column}`);
const addColumn = (column: string) => sql<number>`${currentColumn(column)} + ${incomingColumn(column)}`;

/** Upsert: adds counts to an existing row of this or another process. */
const upsertColumns = {
  hits: addColumn('hits'),
  total_us: addColumn('total_us'),
  upstream_us: addColumn('upstream_us'),
  request_bytes: addColumn('request_bytes'),
  answer_bytes: addColumn('answer_bytes'),
  min_us: minColumn('min_us'),
  max_us: maxColumn('max_us'),
  min_upstream_us: sql<number>`case when usage.upstream_hits = 0 then excluded.min_upstream_us
    when excluded.upstream_hits = 0 then usage.min_upstream_us else ${minColumn('min_upstream_us')} end`,
  max_upstream_us: maxColumn('max_upstream_us'),
  upstream_hits: addColumn('upstream_hits'),
  last_hit: maxColumn('last_hit'),
  api_name: sql<string>`excluded.api_name`,
  alias: sql<string>`excluded.alias`,
};

/** Some groups of a query. */
export interface TopSums {
  readonly sums: readonly UsageSum[];
  /** There are no other groups. */
  readonly isComplete: boolean;
}

export type UsageStore = ReturnType<typeof createUsageStore>;

const defaultMaxWaitingReads = 100;

export function createUsageStore(
  records: Records,
  bounds: HistogramBounds = defaultHistogramBounds,
  maxWaitingReads = defaultMaxWaitingReads,
) {
  return {
    buildSums: (usageQuery: UsageQuery) => buildSums(records, usageQuery),
    buildHistograms: (usageQuery: UsageQuery) => buildHistograms(records, usageQuery),
    /** Upserts counts. */
    async add({ rows, latencies, tags }: DrainedUsage): Promise<void> {
      for (const batch of splitIntoBatches(rows, maxRowsPerInsert))
        await records.db
          .insertInto('usage')
          .values(batch)
          .onConflict(conflict => conflict.columns(['minute', 'id']).doUpdateSet(upsertColumns))
          .execute();
      await addLatencies(records, latencies);
      await addTags(records, tags);
    },
    ...createUsageReads({ records, bounds, gate: createReadGate(maxWaitingReads) }),
    /** Counts records lost in this minute. */
    async addLosses(minute: number, dropped: number): Promise<void> {
      await records.db
        .insertInto('usage_losses')
        .values({ minute, dropped })
        .onConflict(conflict =>
          conflict.column('minute').doUpdateSet({ dropped: sql<number>`usage_losses.dropped + excluded.dropped` }),
        )
        .execute();
    },
    async countLosses(from: number, to: number): Promise<number> {
      const row = await records.db
        .selectFrom('usage_losses')
        .select(castToBigint(sql`coalesce(sum(dropped), 0)`).as('dropped'))
        .where('minute', '>=', from)
        .where('minute', '<', to)
        .executeTakeFirstOrThrow();
      return Number(row.dropped);
    },
    /** Removes up to `maxRows` expired rows of each kind; returns the larger count: below `maxRows` none is left. */
    async prune(before: number, now: number, maxRows: number): Promise<number> {
      const rows = await pruneUsage(records, before, now, maxRows);
      const latencies = await pruneLatencies(records, before, now, maxRows);
      return Math.max(rows, latencies, await pruneTags(records, before, maxRows));
    },
  };
}

const createUsageReads = (reads: HistogramReads) => ({
  async page(usageQuery: UsageQuery, { page, size }: PageRequest): Promise<Page<UsageSum>> {
    const total = await countGroups(reads.records, usageQuery);
    const everything = page < 1;
    if (everything && total > maxGroups) throw problem.too_many({ detail: { maxItems: maxGroups } });
    const query = everything
      ? buildSums(reads.records, usageQuery)
      : buildSums(reads.records, usageQuery)
          .limit(size)
          .offset((page - 1) * size);
    if (usageQuery.percentiles) await checkHistogramRows(reads, usageQuery);
    const sums = (await query.execute()) as unknown as UsageSum[];
    if (usageQuery.percentiles && sums.length > maxPercentileItems)
      throw problem.too_many({ detail: { maxItems: maxPercentileItems } });
    const items = usageQuery.percentiles
      ? await readHistograms(reads, usageQuery, { items: sums, isComplete: everything })
      : sums;
    return { items, pages: everything ? 1 : Math.max(1, Math.ceil(total / size)), total };
  },
  /** Sums with histograms of the groups by API that have the most requests. */
  async listTopSums(usageQuery: UsageQuery, maxItems: number): Promise<TopSums> {
    const query = buildSums(reads.records, usageQuery).limit(maxItems + 1);
    const found = (await reads.gate.run(usageQuery.orgId, () => query.execute())) as unknown as UsageSum[];
    const items = found.slice(0, maxItems);
    const isComplete = items.length === found.length;
    const apis = isComplete ? {} : { ownedApis: [...new Set(items.map(({ api_id }) => String(api_id)))] };
    const read = { items, isComplete: true };
    return { sums: await readHistograms(reads, { ...usageQuery, ...apis }, read), isComplete };
  },
});

async function pruneUsage(records: Records, before: number, now: number, maxRows: number): Promise<number> {
  const old = records.db.selectFrom('usage').select(['minute', 'id']).where('minute', '<', before).limit(maxRows);
  const expired = records.db
    .selectFrom('usage')
    .select(['minute', 'id'])
    .where('expires_at', '>', 0)
    .where('expires_at', '<=', now)
    .limit(maxRows);
  let removed = 0;
  for (const keys of [old, expired]) {
    const { numDeletedRows } = await records.db
      .deleteFrom('usage')
      .where(sql<boolean>`(minute, id) in (${keys})`)
      .executeTakeFirst();
    removed += Number(numDeletedRows);
  }
  await records.db.deleteFrom('usage_losses').where('minute', '<', before).execute();
  return removed;
}
