import { type SelectQueryBuilder, sql } from 'kysely';
import type { Page, PageRequest } from '#storage/collection.ts';
import { problem } from '#storage/database-errors.ts';
import { padToPowerOfTwo, splitIntoBatches } from '#storage/insert-batches.ts';
import { selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import type { LogPlace } from './log-ids.ts';
import type { LoggedCall } from './schema.ts';
import { hasTagInColumn, toTagColumn } from './tag-column-store.ts';

const maxRowsPerInsert = 500;
/** Bound of a list without pages: each call may carry a whole request. */
const maxListedCalls = 1000;
/** Rows of one organisation and one millisecond that are looked at for an id. */
const maxCallsOfTime = 10_000;

export interface LogQuery {
  readonly orgId: string;
  /** Milliseconds, both ends inclusive. */
  readonly from: number;
  readonly to: number;
  readonly apiId?: string | undefined;
  /** APIs the caller must not see. */
  readonly hiddenApis?: readonly string[] | undefined;
  /** Hashes of keys, any of them. */
  readonly keyHashes?: readonly string[] | undefined;
  readonly status?: number | undefined;
  readonly failed: boolean;
  /** Tags that a request has, all of them. */
  readonly tags?: readonly string[] | undefined;
  readonly graphqlType?: string | undefined;
  readonly graphqlName?: string | undefined;
  readonly version?: string | undefined;
}

/** Log row: the call, and the columns it is found by. */
export interface LogEntry {
  readonly call: LoggedCall;
  readonly at: number;
  readonly failed: boolean;
  /** 0 means by the settings. */
  readonly expiresAt: number;
}

/** A logged call and the place of its row. */
export interface StoredCall extends LogPlace {
  readonly call: LoggedCall;
}

export type LogStore = ReturnType<typeof createLogStore>;

/** Single calls, newest first. */
export function createLogStore(records: Records) {
  const buildListing = (logQuery: LogQuery) =>
    buildLogFilter(records, logQuery).select(['id', 'at', 'body']).orderBy('at', 'desc').orderBy('id', 'desc');

  /** Ids of rows to delete, at most `maxRows`. */
  const selectIds = (maxRows: number) => records.db.selectFrom('logs').select('id').limit(maxRows);

  async function remove(ids: ReturnType<typeof selectIds>): Promise<number> {
    const { numDeletedRows } = await records.db.deleteFrom('logs').where('id', 'in', ids).executeTakeFirst();
    return Number(numDeletedRows);
  }

  return {
    buildListing,
    buildTailing: (logQuery: LogQuery, afterId: number, maxIds: number) =>
      buildTailing(records, logQuery, afterId, maxIds),
    async add(entries: readonly LogEntry[]): Promise<void> {
      const rows = entries.map(toRow);
      for (const batch of splitIntoBatches(rows, maxRowsPerInsert))
        await records.db.insertInto('logs').values(batch).execute();
    },
    async page(logQuery: LogQuery, { page, size }: PageRequest): Promise<Page<StoredCall>> {
      const counted = await buildLogFilter(records, logQuery)
        .select(sql<number>`count(*)`.as('total'))
        .executeTakeFirstOrThrow();
      const total = Number(counted.total);
      const everything = page < 1;
      if (everything && total > maxListedCalls) throw problem.too_many({ detail: { maxItems: maxListedCalls } });
      const query = everything
        ? buildListing(logQuery)
        : buildListing(logQuery)
            .limit(size)
            .offset((page - 1) * size);
      const items = (await query.execute()).map(toStoredCall);
      return { items, pages: everything ? 1 : Math.max(1, Math.ceil(total / size)), total };
    },
    ...createLogReads(records),
    /** Removes up to `maxRows` rows each that are over the row limit, over the retention, or expired; returns how many. */
    async prune(before: number, now: number, keep: number, maxRows: number): Promise<number> {
      const last = await records.db.selectFrom('logs').select(sql<number>`max(id)`.as('id')).executeTakeFirst();
      const tooMuch = await remove(
        selectIds(maxRows)
          .where('id', '<=', Number(last?.id ?? 0) - keep)
          .orderBy('id'),
      );
      const tooOld = await remove(selectIds(maxRows).where('at', '<', before));
      const expired = await remove(selectIds(maxRows).where('expires_at', '>', 0).where('expires_at', '<=', now));
      return tooMuch + tooOld + expired;
    },
  };
}

/** Log tailing, and single rows. */
const createLogReads = (records: Records) => ({
  /** Lookup by public id: reads the row ids of its millisecond and returns the row whose id matches. */
  async findAt(logQuery: LogQuery, isWanted: (place: LogPlace) => boolean): Promise<StoredCall | undefined> {
    const places = await buildLogFilter(records, logQuery).select(['id', 'at']).limit(maxCallsOfTime).execute();
    const found = places.find(({ id, at }) => isWanted({ rowId: Number(id), at: Number(at) }));
    if (!found) return undefined;
    const row = await records.db
      .selectFrom('logs')
      .select(['id', 'at', 'body'])
      .where('id', '=', found.id)
      .executeTakeFirst();
    return row && toStoredCall(row);
  },
  async findLastId(): Promise<number> {
    const last = await records.db.selectFrom('logs').select(sql<number>`max(id)`.as('id')).executeTakeFirst();
    return Number(last?.id ?? 0);
  },
  /** Ids above `afterId`, ascending: of more than `maxIds`, the highest. */
  async listIds(logQuery: LogQuery, afterId: number, maxIds: number): Promise<number[]> {
    const rows = await buildTailing(records, logQuery, afterId, maxIds).execute();
    return rows.map(({ id }) => Number(id)).reverse();
  },
  async findCalls(ids: readonly number[]): Promise<StoredCall[]> {
    if (ids.length === 0) return [];
    const rows = await records.db
      .selectFrom('logs')
      .select(['id', 'at', 'body'])
      .where('id', 'in', padToPowerOfTwo(ids))
      .orderBy('id')
      .execute();
    return rows.map(toStoredCall);
  },
});

/** Members that records of older versions lack. */
const laterMembers = { upstream_error: '' };

const toStoredCall = ({ id, at, body }: Pick<Tables['logs'], 'at' | 'body'> & { id: number }): StoredCall => ({
  rowId: Number(id),
  at: Number(at),
  call: { ...laterMembers, ...JSON.parse(body) },
});

type LogRows = SelectQueryBuilder<Tables, 'logs', object>;

/** Few ids are newer than the last one: expressions keep the engines from reading the organisation by time. */
const buildTailing = (records: Records, logQuery: LogQuery, afterId: number, maxIds: number) =>
  restrict(
    records,
    records.db
      .selectFrom('logs')
      .where(sql<boolean>`org_id || '' = ${logQuery.orgId}`)
      .where(sql<boolean>`at + 0 >= ${logQuery.from}`)
      .where(sql<boolean>`at + 0 <= ${logQuery.to}`),
    logQuery,
  )
    .select('id')
    .where('id', '>', afterId)
    .orderBy('id', 'desc')
    .limit(maxIds);

const buildLogFilter = (records: Records, logQuery: LogQuery) =>
  restrict(
    records,
    records.db
      .selectFrom('logs')
      .where('org_id', '=', logQuery.orgId)
      .where('at', '>=', logQuery.from)
      .where('at', '<=', logQuery.to),
    logQuery,
  );

function restrict(records: Records, rows: LogRows, logQuery: LogQuery): LogRows {
  const { apiId, hiddenApis, keyHashes, status, failed, tags = [] } = logQuery;
  let query = rows;
  if (apiId !== undefined) query = query.where('api_id', '=', apiId);
  if (hiddenApis && hiddenApis.length > 0) query = query.where('api_id', 'not in', selectListed(records, hiddenApis));
  if (keyHashes !== undefined) query = query.where('key_hash', 'in', padToPowerOfTwo(keyHashes));
  if (status !== undefined) query = query.where('status', '=', status);
  if (failed) query = query.where(sql<boolean>`failed = 1`);
  const { graphqlType, graphqlName, version } = logQuery;
  for (const tag of [...tags, ...toMarks({ graphqlType, graphqlName, version })])
    query = query.where(hasTagInColumn(tag));
  return query;
}

/**
 * Type and name of a GraphQL operation, and version of the API, among the tags that a row is found by, behind a
 * character that tags have not. Rows of earlier releases have no version.
 */
const toMarks = ({ graphqlType, graphqlName, version }: Pick<LogQuery, 'graphqlType' | 'graphqlName' | 'version'>) => [
  ...(graphqlType ? [`${markPrefix}type ${graphqlType}`] : []),
  ...(graphqlName ? [`${markPrefix}name ${graphqlName}`] : []),
  ...(version === undefined ? [] : [`${markPrefix}version ${version}`]),
];
const markPrefix = '\u001f';

/** Without the character of marks: a tag of a client is no operation. */
const toPlainTags = ({ tags }: LoggedCall) => tags.map(tag => tag.replaceAll(markPrefix, ' '));

const toRow = ({ call, at, failed, expiresAt }: LogEntry) => ({
  org_id: call.org_id,
  api_id: call.api_id,
  key_hash: call.api_key,
  at,
  status: call.response_code,
  failed: Number(failed),
  tags: toTagColumn([
    ...toPlainTags(call),
    ...toMarks({
      graphqlType: call.graphql_operation_type,
      graphqlName: call.graphql_operation_name,
      version: call.api_version,
    }),
  ]),
  expires_at: expiresAt,
  body: JSON.stringify(call),
});
