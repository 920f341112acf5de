import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';

/** Rows of one transaction: keeps it short. */
const maxRowsPerDelete = 2000;

/** Records of requests to APIs, which outlive an API: those of the demo are deleted with it. */
export function createDemoRecordStore(records: Records) {
  const db = () => records.db;

  /** Tags of requests to this API alone; before the usage, which names them. */
  async function removeTags(apiId: string): Promise<void> {
    const own = db().selectFrom('usage').select('tag_set').where('api_id', '=', apiId);
    const others = db().selectFrom('usage').select('tag_set').where('api_id', '<>', apiId);
    await db().deleteFrom('usage_tags').where('tag_set', 'in', own).where('tag_set', 'not in', others).execute();
  }

  /** Usage, with its latency histograms. */
  async function removeUsage(apiId: string): Promise<number> {
    const keys = db().selectFrom('usage').select(['minute', 'id']).where('api_id', '=', apiId);
    const batch = keys.orderBy('minute').orderBy('id').limit(maxRowsPerDelete);
    return records.write(async () => {
      await db().deleteFrom('usage_latencies').where(sql<boolean>`(minute, id) in (${batch})`).execute();
      const { numDeletedRows } = await db()
        .deleteFrom('usage')
        .where(sql<boolean>`(minute, id) in (${batch})`)
        .executeTakeFirst();
      return Number(numDeletedRows);
    });
  }

  async function removeLogs(apiId: string): Promise<number> {
    const ids = db().selectFrom('logs').select('id').where('api_id', '=', apiId).limit(maxRowsPerDelete);
    const { numDeletedRows } = await db().deleteFrom('logs').where('id', 'in', ids).executeTakeFirst();
    return Number(numDeletedRows);
  }

  async function removeUptime(apiId: string): Promise<void> {
    await db().deleteFrom('uptime_hours').where('api_id', '=', apiId).execute();
    await db().deleteFrom('uptime_changes').where('api_id', '=', apiId).execute();
  }

  return {
    async removeOfApi(apiId: string): Promise<void> {
      await removeTags(apiId);
      while ((await removeUsage(apiId)) > 0);
      while ((await removeLogs(apiId)) > 0);
      await removeUptime(apiId);
    },
  };
}
