import { type Expression, sql } from 'kysely';
import type { UptimeChange, UptimeHourRow } from '#storage/analytics-tables.ts';
import type { Page, PageRequest } from '#storage/collection.ts';
import { problem } from '#storage/database-errors.ts';
import { splitIntoBatches } from '#storage/insert-batches.ts';
import { selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import { hasTagInColumn } from '../tag-column-store.ts';
import { maxChecks } from './checks.ts';
import { findRecentUptime, type RecentUptime } from './recent-store.ts';
import type { UptimeRows } from './roll-up.ts';

/** Both engines bound the values of one statement. */
const maxRowsPerInsert = 500;
/** Bound of a list without pages. */
const maxListedHosts = 1000;
/** Changes returned per host. */
const maxChangesPerHost = 10;
const hourMs = 3_600_000;

export interface UptimeQuery {
  readonly orgId: string;
  /** Milliseconds, both ends inclusive. The hour of `from` is included. */
  readonly from: number;
  readonly to: number;
  readonly now: number;
  readonly apiId?: string | undefined;
  /** Tags that the API has, all of them. */
  readonly tags?: readonly string[] | undefined;
  /** Hosts that are up, or down, at the end of the range. */
  readonly isUp?: boolean | undefined;
  /** APIs the caller must not see. */
  readonly hiddenApis?: readonly string[] | undefined;
}

/** A host over the requested hours, with its newest result and its newest changes, also earlier ones. */
export interface HostRecord extends Omit<UptimeHourRow, 'org_id' | 'hour' | 'tags' | 'expires_at' | 'checks'> {
  readonly recent: RecentUptime | undefined;
  readonly changes: readonly UptimeChange[];
}

export type UptimeStore = ReturnType<typeof createUptimeStore>;

const castToBigint = (expression: Expression<unknown>) => sql<number>`cast(${expression} as bigint)`;
const sums = ['rounds', 'rounds_up', 'tests', 'passed', 'passed_ms'] as const;
const newest = ['up', 'url', 'status', 'latency_ms', 'failure', 'api_name', 'tags', 'expires_at', 'last_at'] as const;

/** Checks of both rows, the newest of them. */
const allChecks = sql`uptime_hours.checks || excluded.checks`;

/** Upsert: adds results to an existing row of this or another process. */
const upsertColumns = {
  checks: sql<string>`case when length(${allChecks}) > ${sql.lit(maxChecks)}
    then substr(${allChecks}, length(${allChecks}) - ${sql.lit(maxChecks - 1)}) else ${allChecks} end`,
  ...Object.fromEntries(
    sums.map(name => [name, sql`${sql.ref(`uptime_hours.${name}`)} + ${sql.ref(`excluded.${name}`)}`]),
  ),
  ...Object.fromEntries(
    newest.map(name => [
      name,
      sql`case when excluded.last_at >= uptime_hours.last_at
        then ${sql.ref(`excluded.${name}`)} else ${sql.ref(`uptime_hours.${name}`)} end`,
    ]),
  ),
};

/** Results of uptime checks. */
export function createUptimeStore(records: Records) {
  return {
    async add({ hours, changes }: UptimeRows): Promise<void> {
      for (const batch of splitIntoBatches(hours, maxRowsPerInsert))
        await records.db
          .insertInto('uptime_hours')
          .values(batch)
          .onConflict(conflict => conflict.columns(['org_id', 'api_id', 'host', 'hour']).doUpdateSet(upsertColumns))
          .execute();
      for (const change of changes) await addChange(records, change);
    },
    async page(uptimeQuery: UptimeQuery, { page, size }: PageRequest): Promise<Page<HostRecord>> {
      const counted = await records.db
        .selectFrom(selectHosts(records, uptimeQuery).as('seen'))
        .select(sql<number>`count(*)`.as('total'))
        .executeTakeFirstOrThrow();
      const total = Number(counted.total);
      const everything = page < 1;
      if (everything && total > maxListedHosts) throw problem.too_many({ detail: { maxItems: maxListedHosts } });
      const [limit, offset] = everything ? [maxListedHosts, 0] : [size, (page - 1) * size];
      const rows = await buildListing(records, uptimeQuery).limit(limit).offset(offset).execute();
      const hosts = selectHosts(records, uptimeQuery).orderBy('api_id').orderBy('host').limit(limit).offset(offset);
      const changes = await findChanges(records, uptimeQuery, hosts);
      const { orgId, to, now } = uptimeQuery;
      const recent = await findRecentUptime(records, { orgId, to, now, hosts });
      const items = rows.map(row => {
        const name = `${row.api_id}\n${row.host}`;
        return { ...row, changes: changes.get(name) ?? [], recent: recent.get(name) };
      });
      return { items, pages: everything ? 1 : Math.max(1, Math.ceil(total / size)), total };
    },
    /** Removes up to `maxRows` expired rows of each kind; returns how many. */
    prune: async (before: number, now: number, maxRows: number): Promise<number> =>
      (await pruneHours(records, before, now, maxRows)) + (await pruneChanges(records, before, now, maxRows)),
  };
}

const isUnexpired = (now: number) => sql<boolean>`(expires_at = 0 or expires_at > ${now})`;

function selectHosts(records: Records, uptimeQuery: UptimeQuery) {
  const { orgId, from, to, now, apiId, hiddenApis, isUp, tags = [] } = uptimeQuery;
  let query = records.db
    .selectFrom('uptime_hours')
    .where('org_id', '=', orgId)
    .where('hour', '>=', from - (from % hourMs))
    .where('hour', '<=', to)
    .where(isUnexpired(now))
    .groupBy(['api_id', 'host'])
    .select(['api_id', 'host']);
  for (const tag of tags) query = query.where(hasTagInColumn(tag));
  const visible =
    hiddenApis && hiddenApis.length > 0 ? query.where('api_id', 'not in', selectListed(records, hiddenApis)) : query;
  const ofApi = apiId === undefined ? visible : visible.where('api_id', '=', apiId);
  return isUp === undefined ? ofApi : ofApi.where(hasLastState(uptimeQuery, isUp));
}

/** The row of the last hour holds the newest result. */
const hasLastState = ({ from, to, now }: UptimeQuery, isUp: boolean) => sql<boolean>`(
  select last.up from uptime_hours as last
  where last.org_id = uptime_hours.org_id and last.api_id = uptime_hours.api_id and last.host = uptime_hours.host
    and last.hour >= ${from - (from % hourMs)} and last.hour <= ${to}
    and (last.expires_at = 0 or last.expires_at > ${now})
  order by last.hour desc limit 1) = ${isUp ? 1 : 0}`;

/** Joins the row of the last hour: it holds the newest result. */
const buildListing = (records: Records, uptimeQuery: UptimeQuery) =>
  records.db
    .selectFrom(
      selectHosts(records, uptimeQuery)
        .select(sums.map(name => castToBigint(sql`sum(${sql.ref(name)})`).as(name)))
        .select([castToBigint(sql`min(first_at)`).as('first_at'), castToBigint(sql`max(hour)`).as('last_hour')])
        .as('seen'),
    )
    .innerJoin('uptime_hours as last', join =>
      join
        .on('last.org_id', '=', uptimeQuery.orgId)
        .onRef('last.api_id', '=', 'seen.api_id')
        .onRef('last.host', '=', 'seen.host')
        .onRef('last.hour', '=', 'seen.last_hour'),
    )
    .select(['seen.api_id', 'seen.host', 'seen.first_at', ...sums.map(name => `seen.${name}` as const)])
    .select(['last.api_name', 'last.last_at', 'last.up', 'last.url', 'last.status', 'last.latency_ms', 'last.failure'])
    .orderBy('seen.api_id')
    .orderBy('seen.host');

async function findChanges(records: Records, { orgId, to, now }: UptimeQuery, hosts: ReturnType<typeof selectHosts>) {
  const numbered = records.db
    .selectFrom('uptime_changes')
    .selectAll()
    .select(sql<number>`row_number() over (partition by api_id, host order by at desc, id desc)`.as('place'))
    .where('org_id', '=', orgId)
    .where('at', '<=', to)
    .where(isUnexpired(now))
    .where(sql<boolean>`(api_id, host) in (${hosts})`);
  const rows = await records.db
    .selectFrom(numbered.as('numbered'))
    .selectAll()
    .where('place', '<=', maxChangesPerHost)
    .orderBy('place')
    .execute();
  return Map.groupBy(rows, ({ api_id, host }) => `${api_id}\n${host}`);
}

/** Inserted only if the state differs from the last stored one: a restarted process has no copy of it. */
async function addChange(records: Records, change: UptimeChange): Promise<void> {
  const last = await records.db
    .selectFrom('uptime_changes')
    .select('up')
    .where('org_id', '=', change.org_id)
    .where('api_id', '=', change.api_id)
    .where('host', '=', change.host)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last?.up !== change.up) await records.db.insertInto('uptime_changes').values(change).execute();
}

async function pruneHours(records: Records, before: number, now: number, maxRows: number): Promise<number> {
  const some = records.db.selectFrom('uptime_hours').select(['org_id', 'api_id', 'host', 'hour']).limit(maxRows);
  let removed = 0;
  for (const keys of [
    some.where('hour', '<', before - hourMs),
    some.where('expires_at', '>', 0).where('expires_at', '<=', now),
  ]) {
    const { numDeletedRows } = await records.db
      .deleteFrom('uptime_hours')
      .where(sql<boolean>`(org_id, api_id, host, hour) in (${keys})`)
      .executeTakeFirst();
    removed += Number(numDeletedRows);
  }
  return removed;
}

async function pruneChanges(records: Records, before: number, now: number, maxRows: number): Promise<number> {
  const some = records.db.selectFrom('uptime_changes').select('id').limit(maxRows);
  let removed = 0;
  for (const keys of [some.where('at', '<', before), some.where('expires_at', '>', 0).where('expires_at', '<=', now)]) {
    const { numDeletedRows } = await records.db.deleteFrom('uptime_changes').where('id', 'in', keys).executeTakeFirst();
    removed += Number(numDeletedRows);
  }
  return removed;
}
