import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import type { LatencyCounts } from './latency-histogram.ts';
import { dayMs, hourMs, type TimeBuckets } from './time-buckets.ts';
import { buildTagCondition } from './usage-tag-store.ts';

/** Dimensions to group by, besides time. */
export const usageGroups = [
  'api_id',
  'path',
  'key',
  'oauth_id',
  'api_version',
  'code',
  'refusal',
  'method',
  'country',
  'user_agent',
  'mcp_method',
  'mcp_primitive_type',
  'mcp_primitive_name',
  'tag',
] as const;
export type UsageGroup = (typeof usageGroups)[number];

const groupExpressions: Readonly<Record<UsageGroup, RawBuilder<unknown>>> = {
  api_id: sql.ref('usage.api_id'),
  path: sql.ref('usage.path'),
  key: sql.ref('usage.key_hash'),
  oauth_id: sql.ref('usage.oauth_id'),
  api_version: sql.ref('usage.version'),
  code: sql.ref('usage.status'),
  refusal: sql.ref('usage.refusal'),
  method: sql.ref('usage.method'),
  country: sql.ref('usage.country'),
  user_agent: sql.ref('usage.user_agent'),
  mcp_method: sql.ref('usage.mcp_method'),
  mcp_primitive_type: sql.ref('usage.mcp_primitive_type'),
  mcp_primitive_name: sql.ref('usage.mcp_primitive_name'),
  tag: sql`coalesce(usage_tags.tag, '')`,
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
  'time',
] as const;
export type UsageOrder = (typeof usageOrders)[number];

const orderExpressions: Readonly<Record<UsageOrder, RawBuilder<unknown>>> = {
  hits: sql`sum(usage.hits)`,
  success: sql`sum(case when usage.status < 400 and usage.refusal = '' then usage.hits else 0 end)`,
  error: sql`sum(case when usage.status < 400 and usage.refusal = '' then 0 else usage.hits end)`,
  last_hit: sql`max(usage.last_hit)`,
  request_time: sql`sum(usage.total_us) / sum(usage.hits)`,
  latency: sql`sum(usage.total_us) / sum(usage.hits)`,
  upstream_latency: sql`sum(usage.upstream_us) / (sum(usage.upstream_hits) + 1)`,
  time: sql`min(usage.minute)`,
};

export interface UsageQuery {
  readonly orgId: string;
  /** Milliseconds; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  readonly apiId?: string | undefined;
  /** APIs the caller must not see. */
  readonly hiddenApis?: readonly string[] | undefined;
  /** The only APIs to count: those the caller may see and names; undefined for all that are not hidden. */
  readonly ownedApis?: readonly string[] | undefined;
  readonly version?: string | undefined;
  readonly keyHashes?: readonly string[] | undefined;
  readonly oauthId?: string | undefined;
  readonly path?: string | undefined;
  readonly refusal?: string | undefined;
  readonly method?: string | undefined;
  readonly country?: string | undefined;
  readonly userAgent?: string | undefined;
  /** Requests with a JSON-RPC message, or only those that name a primitive. */
  readonly mcpScope?: 'messages' | 'primitives' | undefined;
  readonly mcpMethod?: string | undefined;
  readonly mcpPrimitiveType?: string | undefined;
  readonly mcpPrimitiveName?: string | undefined;
  /** Tags that a request has, all of them. */
  readonly tags?: readonly string[] | undefined;
  /** Statuses, both inclusive. */
  readonly statuses?: readonly [number, number] | undefined;
  /** Failed requests only. */
  readonly failed?: boolean | undefined;
  readonly groups: readonly UsageGroup[];
  readonly time?: TimeBuckets | undefined;
  readonly order: UsageOrder;
  readonly ascending: boolean;
  /** Adds the latency histogram to every sum. */
  readonly percentiles?: boolean | undefined;
}

/** Sums of one group. Durations in microseconds. */
export type UsageSum = Readonly<Partial<Record<UsageGroup, string | number>>> & {
  /** Group by time, as `TimeGroup` describes it. */
  readonly bucket?: string | number;
  readonly offset_ms?: string | number;
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
  readonly latencies?: LatencyCounts | undefined;
};

type Query<O> = SelectQueryBuilder<Tables, 'usage', O>;
type GroupColumn = readonly [name: string, expression: RawBuilder<unknown>];

export const castToBigint = (expression: Expression<unknown>) => sql<number>`cast(${expression} as bigint)`;

/** Columns that a query compares with one value. */
const listEqualities = (query: UsageQuery) =>
  [
    ['usage.api_id', query.apiId],
    ['usage.version', query.version],
    ['usage.oauth_id', query.oauthId],
    ['usage.path', query.path],
    ['usage.refusal', query.refusal],
    ['usage.method', query.method],
    ['usage.country', query.country],
    ['usage.user_agent', query.userAgent],
    ['usage.mcp_method', query.mcpMethod],
    ['usage.mcp_primitive_type', query.mcpPrimitiveType],
    ['usage.mcp_primitive_name', query.mcpPrimitiveName],
  ] as const;

/** Rows to count: grouped by tag, a row once for each of its tags. */
function selectRows(records: Records, { groups }: UsageQuery): Query<object> {
  const rows = records.db.selectFrom('usage');
  if (!groups.includes('tag')) return rows;
  return rows.leftJoin('usage_tags', 'usage_tags.tag_set', 'usage.tag_set') as unknown as Query<object>;
}

export function buildUsageFilter(records: Records, usageQuery: UsageQuery): Query<object> {
  const { orgId, from, to, hiddenApis, ownedApis, keyHashes, oauthId, statuses, failed, mcpScope } = usageQuery;
  let query = selectRows(records, usageQuery)
    .where('usage.org_id', '=', orgId)
    .where('usage.minute', '>=', from)
    .where('usage.minute', '<', to);
  for (const [column, value] of listEqualities(usageQuery))
    if (value !== undefined) query = query.where(column, '=', value);
  if (hiddenApis && hiddenApis.length > 0)
    query = query.where('usage.api_id', 'not in', selectListed(records, hiddenApis));
  if (ownedApis) query = query.where('usage.api_id', 'in', selectListed(records, ownedApis));
  // PostgreSQL has no empty list: an empty one matches nothing as a subquery.
  if (keyHashes)
    query = query.where('usage.key_hash', 'in', keyHashes.length > 0 ? keyHashes : selectListed(records, keyHashes));
  for (const tag of usageQuery.tags ?? []) query = query.where(buildTagCondition(orgId, tag));
  // Enables the partial index of rows with a client.
  if (oauthId !== undefined) query = query.where(sql<boolean>`usage.oauth_id <> ''`);
  // Enables the partial index of rows with a message.
  if (mcpScope) query = query.where(sql<boolean>`usage.mcp_method <> ''`);
  if (mcpScope === 'primitives') query = query.where('usage.mcp_primitive_type', '<>', '');
  if (statuses) {
    const [minStatus, maxStatus] = statuses;
    query = query.where('usage.status', '>=', minStatus).where('usage.status', '<=', maxStatus);
  }
  if (failed) query = query.where(sql<boolean>`(usage.status >= 400 or usage.refusal <> '')`);
  return query;
}

/** Value of the last entry that starts at or before the minute; literals, as PostgreSQL compares grouped expressions. */
function buildStepFunction(entries: readonly (readonly [from: number, value: number])[]): RawBuilder<unknown> {
  const branches = entries
    .toReversed()
    .map(([from, value]) => sql`when usage.minute >= ${sql.lit(from)} then ${sql.lit(value)}`);
  return sql`case ${sql.join(branches, sql` `)} else ${sql.lit(entries[0]![1])} end`;
}

function buildTimeColumns({ resolution, offsets, months }: TimeBuckets): GroupColumn[] {
  if (resolution === 'minute') return [['bucket', sql.ref('usage.minute')]];
  if (resolution === 'month')
    return [['bucket', buildStepFunction(months.map(({ from }, index) => [from, index] as const))]];
  const isFixed = offsets.length === 1;
  const offset = isFixed
    ? sql.lit(offsets[0]!.offsetMs)
    : buildStepFunction(offsets.map(({ from, offsetMs }) => [Math.max(from, 0), offsetMs] as const));
  const unit = sql.lit(resolution === 'day' ? dayMs : hourMs);
  const bucket: GroupColumn = ['bucket', sql`(usage.minute + ${offset}) / ${unit}`];
  return resolution === 'day' || isFixed ? [bucket] : [bucket, ['offset_ms', offset]];
}

/** Grouping by the organisation: a query without dimensions returns one row, or none without requests. */
export const buildGroupColumns = ({ groups, time }: UsageQuery): GroupColumn[] => [
  ['org_id', sql.ref('usage.org_id')],
  ...groups.map(group => [group, groupExpressions[group]] as const),
  ...(time ? buildTimeColumns(time) : []),
];

export function buildSums(records: Records, usageQuery: UsageQuery) {
  const columns = buildGroupColumns(usageQuery);
  const grouped = columns.reduce(
    (query, [, expression]) => query.groupBy(expression),
    buildUsageFilter(records, usageQuery),
  );
  return grouped
    .select(columns.map(([name, expression]) => expression.as(name)))
    .select([
      sql<string>`max(usage.api_name)`.as('api_name'),
      sql<string>`max(usage.alias)`.as('alias'),
      castToBigint(orderExpressions.hits).as('hits'),
      castToBigint(orderExpressions.error).as('error'),
      castToBigint(sql`max(usage.last_hit)`).as('last_hit'),
      castToBigint(sql`sum(usage.total_us)`).as('total_us'),
      castToBigint(sql`min(usage.min_us)`).as('min_us'),
      castToBigint(sql`max(usage.max_us)`).as('max_us'),
      castToBigint(sql`sum(usage.upstream_hits)`).as('upstream_hits'),
      castToBigint(sql`sum(usage.upstream_us)`).as('upstream_us'),
      castToBigint(sql`min(case when usage.upstream_hits > 0 then usage.min_upstream_us end)`).as('min_upstream_us'),
      castToBigint(sql`max(usage.max_upstream_us)`).as('max_upstream_us'),
      castToBigint(sql`sum(usage.request_bytes)`).as('request_bytes'),
      castToBigint(sql`sum(usage.answer_bytes)`).as('answer_bytes'),
    ])
    .orderBy(orderExpressions[usageQuery.order], usageQuery.ascending ? 'asc' : 'desc')
    .$call(query => columns.reduce((sorted, [, expression]) => sorted.orderBy(expression), query));
}

export async function countGroups(records: Records, usageQuery: UsageQuery): Promise<number> {
  const inner = buildGroupColumns(usageQuery)
    .reduce((query, [, expression]) => query.groupBy(expression), buildUsageFilter(records, usageQuery))
    .select(sql<number>`1`.as('one'));
  const { total } = await records.db
    .selectFrom(inner.as('grouped'))
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}
