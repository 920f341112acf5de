import { type OnConflictBuilder, sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import type { DailyStatisticsRow, Tables } from '#storage/tables.ts';

export const statisticsEntities = ['apis', 'dataplanes', 'dataplanes.gateways'] as const;
export type StatisticsEntity = (typeof statisticsEntities)[number];

/** Numbers at one moment. */
export interface StatisticsSample {
  readonly count: number;
  readonly active: number;
}

/** Samples of one day. */
export type DailyStatistics = Omit<DailyStatisticsRow, 'org_id' | 'entity' | 'sampled_at'>;

/** Organisation of rows about the whole installation. */
export const installationOrgId = '';
/** Several processes sample the same numbers: the first in this time counts. */
export const sampleIntervalMs = 3_600_000;

const addColumn = (column: string) =>
  sql<number>`${sql.ref(`daily_statistics.${column}`)} + ${sql.ref(`excluded.${column}`)}`;
const selectColumn = (column: string, relation: '<' | '>') => {
  const [before, sample] = [sql.ref(`daily_statistics.${column}`), sql.ref(`excluded.${column}`)];
  return sql<number>`case when ${sample} ${sql.raw(relation)} ${before} then ${sample} else ${before} end`;
};

/** Upsert: adds a sample to those of the day. */
const addSample = {
  sampled_at: sql<number>`excluded.sampled_at`,
  samples: addColumn('samples'),
  total: addColumn('total'),
  lowest: selectColumn('lowest', '<'),
  highest: selectColumn('highest', '>'),
  active_total: addColumn('active_total'),
  active_lowest: selectColumn('active_lowest', '<'),
  active_highest: selectColumn('active_highest', '>'),
};

/** Adds a sample where the last one of the day is old enough, of whichever process. */
const addIfDue = (nowMs: number) => (conflict: OnConflictBuilder<Tables, 'daily_statistics'>) =>
  conflict
    .columns(['org_id', 'entity', 'day'])
    .doUpdateSet(addSample)
    .where('daily_statistics.sampled_at', '<=', nowMs - sampleIntervalMs);

const columns = [
  'org_id',
  'entity',
  'day',
  'sampled_at',
  'samples',
  'total',
  'lowest',
  'highest',
  'active_total',
  'active_lowest',
  'active_highest',
] as const;

export type StatisticsStore = ReturnType<typeof createStatisticsStore>;

/** Daily statistics: numbers of APIs of each organisation, and of gateways, sampled through the day (UTC). */
export function createStatisticsStore(records: Records) {
  return {
    ...createStatisticsReads(records),
    /**
     * Samples the APIs of every organisation that has some, or had some earlier this day: one statement, which reads
     * an index of `apis` alone.
     */
    async sampleApis(nowMs: number): Promise<void> {
      const day = toDay(nowMs);
      const [count, active] = [sql`count(apis.org_id)`, sql`coalesce(sum(apis.active), 0)`];
      const samples = sql`select organisations.id, ${sql.lit('apis')}, cast(${day} as text), cast(${nowMs} as bigint),
          1, ${count}, ${count}, ${count}, ${active}, ${active}, ${active}
        from organisations left join apis on apis.org_id = organisations.id
        where organisations.id in (select org_id from apis) or organisations.id in
          (select org_id from daily_statistics where entity = ${sql.lit('apis')} and day = ${day})
        group by organisations.id`;
      await records.db
        .insertInto('daily_statistics')
        .columns([...columns])
        .expression(samples as never)
        .onConflict(addIfDue(nowMs))
        .execute();
    },
    /** Samples a number of the whole installation. */
    async sample(entity: StatisticsEntity, { count, active }: StatisticsSample, nowMs: number): Promise<void> {
      const row = { org_id: installationOrgId, entity, day: toDay(nowMs), sampled_at: nowMs, samples: 1 };
      const counts = { total: count, lowest: count, highest: count };
      const actives = { active_total: active, active_lowest: active, active_highest: active };
      await records.db
        .insertInto('daily_statistics')
        .values({ ...row, ...counts, ...actives })
        .onConflict(addIfDue(nowMs))
        .execute();
    },
    /** Removes days before the given one, and those of deleted organisations. */
    async prune(before: string): Promise<void> {
      await records.db
        .deleteFrom('daily_statistics')
        .where(it =>
          it.or([
            it('day', '<', before),
            it.and([
              it('org_id', '<>', installationOrgId),
              it('org_id', 'not in', it.selectFrom('organisations').select('id')),
            ]),
          ]),
        )
        .execute();
    },
  };
}

const createStatisticsReads = (records: Records) => ({
  async countApis(orgId: string): Promise<StatisticsSample> {
    const row = await records.db
      .selectFrom('apis')
      .select([sql<number>`count(*)`.as('count'), sql<number>`coalesce(sum(active), 0)`.as('active')])
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow();
    return { count: Number(row.count), active: Number(row.active) };
  },
  /** Days between two, both inclusive, oldest first. */
  async list(orgId: string, entity: StatisticsEntity, from: string, to: string): Promise<DailyStatistics[]> {
    const rows = await records.db
      .selectFrom('daily_statistics')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('entity', '=', entity)
      .where('day', '>=', from)
      .where('day', '<=', to)
      .orderBy('day')
      .execute();
    return rows.map(({ org_id: _org, entity: _entity, sampled_at: _at, day, ...numbers }) => ({
      day,
      ...(Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)])) as typeof numbers),
    }));
  },
});

export const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** First day of last year: statistics go back to it. */
export const toFirstDay = (ms: number): string => `${new Date(ms).getUTCFullYear() - 1}-01-01`;

/** Samples of a day with one more. */
export function includeSample(day: string, before: DailyStatistics | undefined, sample: StatisticsSample) {
  const { count, active } = sample;
  return {
    day,
    samples: (before?.samples ?? 0) + 1,
    total: (before?.total ?? 0) + count,
    lowest: Math.min(before?.lowest ?? count, count),
    highest: Math.max(before?.highest ?? count, count),
    active_total: (before?.active_total ?? 0) + active,
    active_lowest: Math.min(before?.active_lowest ?? active, active),
    active_highest: Math.max(before?.active_highest ?? active, active),
  } satisfies DailyStatistics;
}
