import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { UsageRow } from '#storage/analytics-tables.ts';
import type { Page, PageRequest } from '#storage/collection.ts';
import { problem } from '#storage/database-errors.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';

/** Both engines bound the values of one statement. */
const maxRowsPerInsert = 500;
/** Bound of a list without pages. */
const maxGroups = 10_000;

/** Dimensions to group by. */
export const usageGroups = [
  'api_id',
  'path',
  'key',
  'oauth_id',
  'api_version',
  'code',
  'refusal',
  'day',
  'hour',
] as const;
export type UsageGroup = (typeof usageGroups)[number];

const dayMs = 86_400_000;
const hourMs = 3_600_000;

const groupExpressions: Readonly<Record<UsageGroup, RawBuilder<unknown>>> = {
  api_id: sql.ref('usage.api_id'),
  path: sql.ref('usage.path'),
  key: sql.ref('usage.key_hash'),
  oauth_id: sql.ref('usage.oauth_id'),
  api_version: sql.ref('usage.version'),
  code: sql.ref('usage.status'),
  refusal: sql.ref('usage.refusal'),
  day: sql`usage.minute / ${sql.lit(dayMs)}`,
  hour: sql`usage.minute / ${sql.lit(hourMs)}`,
};

/** Sort orders. */
export const usageOrders = [
  'hits',
  'success',
  'error',
  'last_hit',
  'request_time',
  'latency',
  'upstream_latency',
] as const;
export type UsageOrder = (typeof usageOrders)[number];

const orderExpressions: Readonly<Record<UsageOrder, RawBuilder<unknown>>> = {
  hits: sql`sum(hits)`,
  success: sql`sum(case when status < 400 and refusal = '' then hits else 0 end)`,
  error: sql`sum(case when status < 400 and refusal = '' then 0 else hits end)`,
  last_hit: sql`max(last_hit)`,
  request_time: sql`sum(total_us) / sum(hits)`,
  latency: sql`sum(total_us) / sum(hits)`,
  upstream_latency: sql`sum(upstream_us) / (sum(upstream_hits) + 1)`,
};

export interface UsageQuery {
  readonly orgId: string;
  /** Milliseconds; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  readonly apiId?: string | undefined;
  /** APIs the caller must not see. */
  readonly hiddenApis?: readonly string[] | undefined;
  readonly version?: string | undefined;
  readonly keyHash?: string | undefined;
  readonly oauthId?: string | undefined;
  readonly groups: readonly UsageGroup[];
  readonly order: UsageOrder;
  readonly ascending: boolean;
}

/** Sums of one group. Durations in microseconds. */
export type UsageSum = Readonly<Partial<Record<UsageGroup, string | number>>> & {
  readonly api_name: string;
  readonly alias: string;
  readonly hits: number;
  readonly error: number;
  readonly last_hit: number;
  readonly total_us: number;
  readonly min_us: number;
  readonly max_us: number;
  readonly upstream_hits: number;
  readonly upstream_us: number;
  readonly min_upstream_us: number | null;
  readonly max_upstream_us: number;
  readonly request_bytes: number;
  readonly answer_bytes: number;
};

type Query<O> = SelectQueryBuilder<Tables, 'usage', O>;

const castToBigint = (expression: Expression<unknown>) => sql<number>`cast(${expression} as bigint)`;
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

export type UsageStore = ReturnType<typeof createUsageStore>;

export function createUsageStore(records: Records) {
  return {
    buildSums: (usageQuery: UsageQuery) => buildSums(records, usageQuery),
    /** Upserts counts. */
    async add(rows: readonly UsageRow[]): Promise<void> {
      for (let at = 0; at < rows.length; at += maxRowsPerInsert)
        await records.db
          .insertInto('usage')
          .values(rows.slice(at, at + maxRowsPerInsert))
          .onConflict(conflict => conflict.columns(['minute', 'id']).doUpdateSet(upsertColumns))
          .execute();
    },
    async page(usageQuery: UsageQuery, { page, size }: PageRequest): Promise<Page<UsageSum>> {
      const total = await countGroups(records, usageQuery);
      const everything = page < 1;
      if (everything && total > maxGroups) throw problem.too_many({ detail: { maxItems: maxGroups } });
      const query = everything
        ? buildSums(records, usageQuery)
        : buildSums(records, usageQuery)
            .limit(size)
            .offset((page - 1) * size);
      const items = (await query.execute()) as unknown as UsageSum[];
      return { items, pages: everything ? 1 : Math.max(1, Math.ceil(total / size)), total };
    },
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
    /** Removes up to `maxRows` expired rows of each kind; returns how many. */
    prune: (before: number, now: number, maxRows: number) => pruneUsage(records, before, now, maxRows),
  };
}

function buildFilter(records: Records, usageQuery: UsageQuery): Query<object> {
  const { orgId, from, to, apiId, hiddenApis, version, keyHash, oauthId } = usageQuery;
  let query: Query<object> = records.db
    .selectFrom('usage')
    .where('org_id', '=', orgId)
    .where('minute', '>=', from)
    .where('minute', '<', to);
  if (apiId !== undefined) query = query.where('api_id', '=', apiId);
  if (hiddenApis && hiddenApis.length > 0) query = query.where('api_id', 'not in', hiddenApis);
  if (version !== undefined) query = query.where('version', '=', version);
  if (keyHash !== undefined) query = query.where('key_hash', '=', keyHash);
  // The second condition enables the partial index of rows with a client.
  if (oauthId !== undefined) query = query.where('oauth_id', '=', oauthId).where(sql<boolean>`oauth_id <> ''`);
  return query;
}

function buildSums(records: Records, usageQuery: UsageQuery) {
  const grouped = usageQuery.groups.reduce(
    (query, group) => query.groupBy(groupExpressions[group]),
    buildFilter(records, usageQuery),
  );
  const groupColumns = usageQuery.groups.map(group => groupExpressions[group].as(group));
  return grouped
    .select(groupColumns)
    .select([
      sql<string>`max(api_name)`.as('api_name'),
      sql<string>`max(alias)`.as('alias'),
      castToBigint(orderExpressions.hits).as('hits'),
      castToBigint(orderExpressions.error).as('error'),
      castToBigint(sql`max(last_hit)`).as('last_hit'),
      castToBigint(sql`sum(total_us)`).as('total_us'),
      castToBigint(sql`min(min_us)`).as('min_us'),
      castToBigint(sql`max(max_us)`).as('max_us'),
      castToBigint(sql`sum(upstream_hits)`).as('upstream_hits'),
      castToBigint(sql`sum(upstream_us)`).as('upstream_us'),
      castToBigint(sql`min(case when upstream_hits > 0 then min_upstream_us end)`).as('min_upstream_us'),
      castToBigint(sql`max(max_upstream_us)`).as('max_upstream_us'),
      castToBigint(sql`sum(request_bytes)`).as('request_bytes'),
      castToBigint(sql`sum(answer_bytes)`).as('answer_bytes'),
    ])
    .orderBy(orderExpressions[usageQuery.order], usageQuery.ascending ? 'asc' : 'desc')
    .$call(query => usageQuery.groups.reduce((sorted, group) => sorted.orderBy(groupExpressions[group]), query));
}

async function countGroups(records: Records, usageQuery: UsageQuery): Promise<number> {
  const inner = usageQuery.groups
    .reduce((query, group) => query.groupBy(groupExpressions[group]), buildFilter(records, usageQuery))
    .select(sql<number>`1`.as('one'));
  const { total } = await records.db
    .selectFrom(inner.as('grouped'))
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

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
