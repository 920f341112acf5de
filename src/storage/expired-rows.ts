import type { Records } from './records.ts';

/** Tables of rows that expire; each row has the digest of its credential or key. */
type ExpiringTable = 'oauth_codes' | 'oauth_tokens' | 'sign_in_tokens' | 'idempotent_responses';

/** Rows of one batch: keeps transactions short. */
const maxRowsPerBatch = 1000;

/** Deletes a batch of expired rows, oldest first; true when there may be more. */
export async function deleteExpiredRows(records: Records, table: ExpiringTable, nowMs: number): Promise<boolean> {
  const expired = records.db
    .selectFrom(table)
    .select('digest')
    .where('expires_at', '<=', nowMs)
    .orderBy('expires_at')
    .limit(maxRowsPerBatch);
  const { numDeletedRows } = await records.db.deleteFrom(table).where('digest', 'in', expired).executeTakeFirst();
  return numDeletedRows >= maxRowsPerBatch;
}
