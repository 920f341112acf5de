import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Records } from '#storage/records.ts';

const hourMs = 3_600_000;
/** Hours whose checks are read for the newest ones of a host. */
const maxCheckHours = 24;

/** Time before the end of the requested range, in milliseconds. */
const windows = { day: 24 * hourMs, week: 7 * 24 * hourMs, month: 30 * 24 * hourMs } as const;
type Window = keyof typeof windows;

export interface RecentUptime {
  /** Marks of the newest checks, oldest first. */
  readonly checks: string;
  /** Rounds of each window, and those after which the host was up. */
  readonly rounds: Readonly<Record<Window, readonly [up: number, all: number]>>;
}

export interface RecentQuery {
  readonly orgId: string;
  readonly to: number;
  readonly now: number;
  /** Subquery with `api_id` and `host` of the hosts. */
  readonly hosts: Expression<unknown>;
}

type RecentRow = Readonly<Record<'api_id' | 'host' | 'checks', string>> &
  Readonly<Record<`${Window}_${'rounds' | 'rounds_up'}`, number | string>>;

const sumSince = (column: 'rounds' | 'rounds_up', since: number) =>
  sql<number>`cast(sum(case when hour > ${since} then ${sql.ref(column)} else 0 end) as bigint)`;

/** Checks of the last hours and rounds of the last day, week and month, of some hosts in one query. */
export async function findRecentUptime(
  records: Records,
  { orgId, to, now, hosts }: RecentQuery,
): Promise<Map<string, RecentUptime>> {
  const names = Object.keys(windows) as Window[];
  const numbered = records.db
    .selectFrom('uptime_hours')
    .select(['api_id', 'host', 'hour', 'rounds', 'rounds_up', 'checks'])
    .select(sql<number>`row_number() over (partition by api_id, host order by hour desc)`.as('place'))
    .where('org_id', '=', orgId)
    .where('hour', '>', to - windows.month)
    .where('hour', '<=', to)
    .where(sql<boolean>`(expires_at = 0 or expires_at > ${now})`)
    .where(sql<boolean>`(api_id, host) in (${hosts})`);
  const rows = await records.db
    .selectFrom(numbered.as('numbered'))
    .groupBy(['api_id', 'host'])
    .select(['api_id', 'host', joinChecks().as('checks')])
    .select(
      names.flatMap(name => [
        sumSince('rounds', to - windows[name]).as(`${name}_rounds`),
        sumSince('rounds_up', to - windows[name]).as(`${name}_rounds_up`),
      ]),
    )
    .execute();
  return new Map((rows as unknown as RecentRow[]).map(row => [`${row.api_id}\n${row.host}`, toRecent(row, names)]));
}

/** Both engines have `string_agg` with an order. */
const joinChecks = (): RawBuilder<string> =>
  sql<string>`coalesce(string_agg(case when place <= ${maxCheckHours} then checks else '' end, '' order by hour), '')`;

const toRecent = (row: RecentRow, names: readonly Window[]): RecentUptime => ({
  checks: row.checks,
  rounds: Object.fromEntries(
    names.map(name => [name, [Number(row[`${name}_rounds_up`]), Number(row[`${name}_rounds`])]]),
  ) as unknown as RecentUptime['rounds'],
});
