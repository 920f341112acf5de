import { deleteExpiredRows } from './expired-rows.ts';
import type { Records } from './records.ts';

/** A create by its idempotency key. */
export interface IdempotentRequest {
  readonly digest: string;
  readonly caller: string;
  readonly fingerprint: string;
}

export interface IdempotencyBounds {
  readonly retentionMs: number;
  /** Keys of one caller; the oldest are removed. */
  readonly maxKeysPerCaller: number;
}

/** Responses of creates. Claim, create and response are one transaction: all of them are stored, or none. */
export function createIdempotencyStore(records: Records, { retentionMs, maxKeysPerCaller }: IdempotencyBounds) {
  const removeOldest = async (caller: string) => {
    const kept = records.db
      .selectFrom('idempotent_responses')
      .select('digest')
      .where('caller', '=', caller)
      .orderBy('created_at', 'desc')
      .orderBy('digest')
      .limit(maxKeysPerCaller);
    await records.db
      .deleteFrom('idempotent_responses')
      .where('caller', '=', caller)
      .where('digest', 'not in', kept)
      .execute();
  };

  return {
    /**
     * Insert-if-absent: undefined for the first request; a concurrent one waits for its transaction and gets what it
     * stored. Call inside a write.
     */
    async claim(request: IdempotentRequest, nowMs: number) {
      const row = { ...request, created_at: nowMs, expires_at: nowMs + retentionMs, sealed: '' };
      const inserted = await records.db
        .insertInto('idempotent_responses')
        .values(row)
        .onConflict(conflict =>
          conflict.column('digest').doUpdateSet(row).where('idempotent_responses.expires_at', '<=', nowMs),
        )
        .executeTakeFirst();
      if ((inserted.numInsertedOrUpdatedRows ?? 0n) > 0n) return undefined;
      return records.db
        .selectFrom('idempotent_responses')
        .select(['fingerprint', 'sealed'])
        .where('digest', '=', request.digest)
        .executeTakeFirstOrThrow();
    },

    /** Deletes a batch of expired rows. */
    removeExpired: (nowMs: number) => deleteExpiredRows(records, 'idempotent_responses', nowMs),

    /** Stores the response of a claimed request. */
    async complete({ digest, caller }: IdempotentRequest, sealed: string): Promise<void> {
      await records.db.updateTable('idempotent_responses').set({ sealed }).where('digest', '=', digest).execute();
      await removeOldest(caller);
    },
  };
}
