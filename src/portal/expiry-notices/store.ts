import type { Records } from '#storage/records.ts';

export type ExpiryStage = 'expiring' | 'expired';
/** Periods of a quota that end within this time of each other are the same: counters of Redis round their end. */
const maxPeriodDriftMs = 5000;

/** Members of a credential that a notice needs; its key stays sealed. */
export interface ExpiringCredential {
  readonly ID: number;
  readonly AccessRequestID: number;
  readonly CredentialHash: string;
  readonly Expires: number;
}

/** Credentials of one read. */
const batchRows = 500;

export function createExpiryNoticeStore(records: Records) {
  return {
    /** All credentials in batches, by their numbers. */
    async *readCredentials(): AsyncGenerator<ExpiringCredential[]> {
      for (let last = 0; ; ) {
        const rows = await records.db
          .selectFrom('portal_credentials')
          .select('body')
          .where('id', '>', last)
          .orderBy('id')
          .limit(batchRows)
          .execute();
        const batch = rows.map(({ body }) => JSON.parse(body) as ExpiringCredential);
        if (batch.length > 0) yield batch;
        if (batch.length < batchRows) return;
        last = batch.at(-1)!.ID;
      }
    },
    /** Marks a notice as sent: true for the first one of a stage and time of expiry. */
    async mark(credentialId: number, stage: ExpiryStage, expiresAtMs: number): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await records.db
        .insertInto('portal_expiry_notices')
        .values({ credential_id: credentialId, stage, expires_at: expiresAtMs })
        .onConflict(it =>
          it
            .columns(['credential_id', 'stage'])
            .doUpdateSet({ expires_at: expiresAtMs })
            .where('portal_expiry_notices.expires_at', '!=', expiresAtMs),
        )
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
    /** Marks a threshold of a quota as reported: true for the first time in a period, which ends at this time. */
    async markQuota(credentialId: number, percent: number, renewsAtMs: number): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await records.db
        .insertInto('portal_expiry_notices')
        .values({ credential_id: credentialId, stage: `quota ${percent}`, expires_at: renewsAtMs })
        .onConflict(it =>
          it
            .columns(['credential_id', 'stage'])
            .doUpdateSet({ expires_at: renewsAtMs })
            .where('portal_expiry_notices.expires_at', '<', renewsAtMs - maxPeriodDriftMs),
        )
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
    /** Deletes the marks of credentials that do not exist any more. */
    async prune(): Promise<void> {
      const living = records.db.selectFrom('portal_credentials').select('id');
      await records.db.deleteFrom('portal_expiry_notices').where('credential_id', 'not in', living).execute();
    },
  };
}
