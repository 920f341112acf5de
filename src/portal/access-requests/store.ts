import { type SqlBool, sql } from 'kysely';
import type { Columns, Query } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { readDocuments, toBatches } from '../batch-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { StoredAccessRequest } from './schema.ts';

const dayMs = 86_400_000;

type Match = Partial<Pick<Columns<'portal_access_requests'>, 'app_id' | 'plan_id' | 'provider_id' | 'status'>>;

const toColumns = (it: Omit<StoredAccessRequest, 'ID'>) => ({
  app_id: it.AppID,
  user_id: it.UserID,
  plan_id: it.PlanID,
  provider_id: it.ProviderID,
  status: it.Status,
  created_at: it.CreatedAt,
  deleted_at: it.DeletedAt,
});

const isSince = (ms: number) => (query: Query) => query.where(sql<SqlBool>`created_at >= ${ms}`);

/** Soft delete: deleted requests still count against the quota of their plan. */
export function createAccessRequestStore(records: Records) {
  const requests = createNumberedStore<'portal_access_requests', StoredAccessRequest>(
    records,
    'portal_access_requests',
    toColumns,
  );
  return {
    get: (id: number) => requests.rows.find({ id, deleted_at: 0 }),
    /** Deleted ones included. */
    byIds: requests.byIds,
    /** Oldest first. */
    listLive: (where: Match) => requests.all({ ...where, deleted_at: 0 }),
    countLive: (where: Match) => requests.count({ ...where, deleted_at: 0 }),
    /** Requests of several apps, oldest first; live ones unless others are wanted too. */
    async listOfApps(appIds: readonly number[], { withDeleted = false } = {}): Promise<StoredAccessRequest[]> {
      const found: StoredAccessRequest[] = [];
      for (const batch of toBatches(appIds)) {
        const filter = (query: Query) => query.where(sql<SqlBool>`app_id in (${sql.join(batch)})`);
        found.push(
          ...(await requests.rows.all({ where: withDeleted ? {} : { deleted_at: 0 }, filter, order: ['id'] })),
        );
      }
      return found.sort((a, b) => a.ID - b.ID);
    },
    page: (query: PortalPageQuery, where: Match = {}) => requests.page(query, { ...where, deleted_at: 0 }),
    insert: requests.insert,
    change: (id: number, change: (it: StoredAccessRequest) => StoredAccessRequest) =>
      requests.rows.change({ id, deleted_at: 0 }, change),
    /** Hard delete: it does not count against the quota. */
    purge: requests.remove,
    /** Requests by the day of their creation in UTC, deleted ones included. */
    async countByDay(sinceMs: number): Promise<Map<number, number>> {
      const day = sql<number>`created_at / ${sql.lit(dayMs)}`;
      const rows = await records.db
        .selectFrom('portal_access_requests')
        .select([day.as('day'), sql<number>`count(*)`.as('total')])
        .where('created_at', '>=', sinceMs)
        .groupBy(day)
        .execute();
      return new Map(rows.map(row => [Number(row.day), Number(row.total)]));
    },
    /** Deleted ones included. */
    countOfUserSince: (userId: number, sinceMs: number) => requests.rows.count({ user_id: userId }, isSince(sinceMs)),
    /** Of a user at a provider, newest first, deleted ones included. */
    pageOfUser: (user_id: number, provider_id: number, size: number) =>
      requests.rows.page({ where: { user_id, provider_id }, order: ['-id'] }, { page: 1, size }),
    /** Of the requests that `countSince` counts, the one at a place from the oldest. */
    async getSince(user_id: number, plan_id: number, sinceMs: number, place: number) {
      const where = { user_id, plan_id };
      const listing = { where, filter: isSince(sinceMs), order: ['created_at', 'id'] as const };
      return (await requests.rows.page(listing, { page: place + 1, size: 1 })).items[0];
    },
    countSince: (user_id: number, plan_id: number, sinceMs: number) =>
      requests.rows.count({ user_id, plan_id }, isSince(sinceMs)),
  };
}

/** Newest access requests whose revoked keys the usage of all apps has. */
const maxRevokedRequests = 50_000;

/** Access requests with revoked keys, deleted ones included, newest first, in batches. */
export const readRevokedRequests = (records: Records): AsyncGenerator<StoredAccessRequest[]> =>
  readDocuments<StoredAccessRequest>(
    records,
    'portal_access_requests',
    sql`from portal_access_requests where body like '%"RevokedHashes":%' order by id desc limit ${maxRevokedRequests}`,
  );
