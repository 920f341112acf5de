import { type Expression, type SqlBool, sql } from 'kysely';
import type { UsageTagRow } from '#storage/analytics-tables.ts';
import { splitIntoBatches } from '#storage/insert-batches.ts';
import type { Records } from '#storage/records.ts';
import { dayMs } from './time-buckets.ts';

/** Both engines bound the values of one statement. */
const maxRowsPerInsert = 500;

/** Upsert: a set that is stored already gets a later day. */
export async function addTags(records: Records, rows: readonly UsageTagRow[]): Promise<void> {
  for (const batch of splitIntoBatches(rows, maxRowsPerInsert))
    await records.db
      .insertInto('usage_tags')
      .values(batch)
      .onConflict(conflict =>
        conflict
          .columns(['tag_set', 'tag'])
          .doUpdateSet({ used_day: sql<number>`excluded.used_day` })
          .where(sql<SqlBool>`excluded.used_day > usage_tags.used_day`),
      )
      .execute();
}

/** Tags that every call has by its key, API and organisation: these are columns of `usage`, not stored tags. */
const columnsByPrefix = [
  ['key-', 'usage.key_hash'],
  ['api-', 'usage.api_id'],
  ['org-', 'usage.org_id'],
] as const;

/** Condition of rows whose calls have the tag. */
export function buildTagCondition(orgId: string, tag: string): Expression<SqlBool> {
  const stored = sql<SqlBool>`usage.tag_set in
    (select usage_tags.tag_set from usage_tags where usage_tags.org_id = ${orgId} and usage_tags.tag = ${tag})`;
  const own = columnsByPrefix.find(([prefix]) => tag.startsWith(prefix));
  if (!own) return stored;
  const [prefix, column] = own;
  return sql<SqlBool>`(${sql.ref(column)} = ${tag.slice(prefix.length)} or ${stored})`;
}

/** Removes up to `maxRows` tags of sets that no usage within the retention has; returns how many. */
export async function pruneTags(records: Records, before: number, maxRows: number): Promise<number> {
  const keys = records.db
    .selectFrom('usage_tags')
    .select(['tag_set', 'tag'])
    .where('used_day', '<=', before - dayMs)
    .limit(maxRows);
  const { numDeletedRows } = await records.db
    .deleteFrom('usage_tags')
    .where(sql<SqlBool>`(tag_set, tag) in (${keys})`)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
