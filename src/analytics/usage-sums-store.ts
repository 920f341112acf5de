import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import type { LatencyCounts } from './latency-histogram.ts';
import type { TimeBuckets } from './time-buckets.ts';

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
  hits: sql`sum(hits)`,
  success: sql`sum(case when status < 400 and refusal = '' then hits else 0 end)`,
  error: sql`sum(case when status < 400 and refusal = '' then 0 else hits end)`,
  last_hit: sql`max(last_hit)`,
  request_time: sql`sum(total_us) / sum(hits)`,
  latency: sql`sum(total_us) / sum(hits)`,
  upstream_latency: sql`sum(upstream_us) / (sum(upstream_hits) + 1)`,
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
  /** The only APIs the caller may see; undefined for all that are not hidden. */
  readonly ownedApis?: readonly string[] | undefined;
  readonly version?: string | undefined;
  readonly keyHashes?: readonly string[] | undefined;
  readonly oauthId?: string | undefined;
  readonly path?: string | undefined;
  readonly refusal?: string | undefined;
  readonly method?: string | undefined;
  readonly country?: string | undefined;
  readonly userAgent?: string | undefined;
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
  latencies?: LatencyCounts;
};

type Query<O> = SelectQueryBuilder<Tables, 'usage', O>;
type GroupColumn = readonly [name: string, expression: RawBuilder<unknown>];

export const castToBigint = (expression: Expression<unknown>) => sql<number>`cast(${expression} as bigint)`;

export function buildFilter(records: Records, usageQuery: UsageQuery): Query<object> {
  const { orgId, from, to, apiId, hiddenApis, ownedApis, version, keyHashes, oauthId, path, refusal } = usageQuery;
  let query: Query<object> = records.db
    .selectFrom('usage')
    .where('usage.org_id', '=', orgId)
    .where('usage.minute', '>=', from)
    .where('usage.minute', '<', to);
  if (apiId !== undefined) query = query.where('usage.api_id', '=', apiId);
  if (hiddenApis && hiddenApis.length > 0) query = query.where('usage.api_id', 'not in', hiddenApis);
  if (ownedApis)
    query = query.where(it => (ownedApis.length > 0 ? it('usage.api_id', 'in', ownedApis) : it.lit(false)));
  if (version !== undefined) query = query.where('usage.version', '=', version);
  if (keyHashes) query = query.where('usage.key_hash', 'in', keyHashes);
  // The second condition enables the partial index of rows with a client.
  if (oauthId !== undefined) query = query.where('usage.oauth_id', '=', oauthId).where(sql<boolean>`oauth_id <> ''`);
  if (path !== undefined) query = query.where('usage.path', '=', path);
  if (refusal !== undefined) query = query.where('usage.refusal', '=', refusal);
  for (const [column, value] of [
    ['usage.method', usageQuery.method],
    ['usage.country', usageQuery.country],
    ['usage.user_agent', usageQuery.userAgent],
  ] as const)
    if (value !== undefined) query = query.where(column, '=', value);
  if (usageQuery.statuses) {
    const [least, most] = usageQuery.statuses;
    query = query.where('usage.status', '>=', least).where('usage.status', '<=', most);
  }
  if (usageQuery.failed) query = query.where(sql<boolean>`(status >= 400 or refusal <> '')`);
  return query;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

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

/** The organisation, which is one, makes a query without dimensions return one row, or none without requests. */
export const buildGroupColumns = ({ groups, time }: UsageQuery): GroupColumn[] => [
  ['org_id', sql.ref('usage.org_id')],
  ...groups.map(group => [group, groupExpressions[group]] as const),
  ...(time ? buildTimeColumns(time) : []),
];

export function buildSums(records: Records, usageQuery: UsageQuery) {
  const columns = buildGroupColumns(usageQuery);
  const grouped = columns.reduce(
    (query, [, expression]) => query.groupBy(expression),
    buildFilter(records, usageQuery),
  );
  return grouped
    .select(columns.map(([name, expression]) => expression.as(name)))
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
    .$call(query => columns.reduce((sorted, [, expression]) => sorted.orderBy(expression), query));
}

export async function countGroups(records: Records, usageQuery: UsageQuery): Promise<number> {
  const inner = buildGroupColumns(usageQuery)
    .reduce((query, [, expression]) => query.groupBy(expression), buildFilter(records, usageQuery))
    .select(sql<number>`1`.as('one'));
  const { total } = await records.db
    .selectFrom(inner.as('grouped'))
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}
