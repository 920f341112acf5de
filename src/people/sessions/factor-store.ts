import { createDatabaseId } from '#base/ids.ts';
import { normalizeCode } from '#base/totp.ts';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import type { StoredUser } from '../users/schema.ts';

/** Second factors of users: a TOTP secret, sealed, and recovery codes, hashed. */
export type FactorStore = ReturnType<typeof createFactorStore>;

type Owner = Pick<StoredUser, 'id' | 'org_id'>;
/** A pending secret is not required yet: its user has not sent a code of it. */
type FactorKind = 'totp' | 'totp_pending' | 'recovery';

interface FactorRow {
  readonly reference: string;
  readonly usedAt: number;
  readonly body: string;
}

const totpPurpose = 'totp secret';
const recoveryPurpose = 'recovery code';

export function createFactorStore(records: Records, vault: Vault) {
  const rows = createFactorRows(records);
  const recoveryCodes = createRecoveryCodes(records, vault, rows);
  return {
    ...createTotpSecrets(records, vault, rows, recoveryCodes.replaceRecoveryCodes),
    ...recoveryCodes,

    /** Factors that sign-in asks for, of those users of an organisation that have one. */
    async listKinds(orgId: string, userIds: readonly string[]) {
      if (userIds.length === 0) return [];
      const counted = await records.db
        .selectFrom('user_factors')
        .select(['user_id', 'kind', it => it.fn.countAll<number>().as('total')])
        .where('org_id', '=', orgId)
        .where('user_id', 'in', userIds)
        .where('kind', 'in', ['totp', 'passkey'])
        .groupBy(['user_id', 'kind'])
        .orderBy('user_id')
        .execute();
      const byUser = Map.groupBy(counted, ({ user_id }) => user_id);
      return [...byUser].map(([id, rows]) => ({
        id,
        totp: rows.some(({ kind }) => kind === 'totp'),
        passkeys: Number(rows.find(({ kind }) => kind === 'passkey')?.total ?? 0),
      }));
    },

    async removeTotp(userId: string): Promise<boolean> {
      return (await rows.remove(userId, ['totp', 'totp_pending', 'recovery'])).numDeletedRows > 0n;
    },
    /** Removes passkeys too. */
    async removeAll(userId: string): Promise<boolean> {
      const query = records.db.deleteFrom('user_factors').where('user_id', '=', userId);
      return (await query.executeTakeFirst()).numDeletedRows > 0n;
    },
  };
}

type FactorRows = ReturnType<typeof createFactorRows>;

const createFactorRows = (records: Records) => ({
  remove: (userId: string, kinds: readonly FactorKind[]) =>
    records.db.deleteFrom('user_factors').where('user_id', '=', userId).where('kind', 'in', kinds).executeTakeFirst(),
  insert: (owner: Owner, kind: FactorKind, { reference, usedAt, body }: FactorRow, nowMs: number) =>
    records.db
      .insertInto('user_factors')
      .values({
        id: createDatabaseId(nowMs),
        org_id: owner.org_id,
        user_id: owner.id,
        kind,
        reference,
        created_at: nowMs,
        used_at: usedAt,
        body,
      })
      .execute(),
});

function createTotpSecrets(
  records: Records,
  vault: Vault,
  rows: FactorRows,
  replaceRecoveryCodes: (owner: Owner, codes: readonly string[], nowMs: number) => Promise<void>,
) {
  return {
    async findTotpSecret(userId: string, kind: 'totp' | 'totp_pending'): Promise<string | undefined> {
      const query = records.db.selectFrom('user_factors').select('body').where('user_id', '=', userId);
      const row = await query.where('kind', '=', kind).executeTakeFirst();
      return row && vault.open(row.body, totpPurpose);
    },

    async hasTotp(userId: string): Promise<boolean> {
      const query = records.db.selectFrom('user_factors').select('id').where('user_id', '=', userId);
      return (await query.where('kind', '=', 'totp').executeTakeFirst()) !== undefined;
    },

    async setPendingTotp(owner: Owner, secret: string, nowMs: number): Promise<void> {
      const row = { reference: owner.id, usedAt: 0, body: vault.seal(secret, totpPurpose) };
      await records.write(async () => {
        await rows.remove(owner.id, ['totp_pending']);
        await rows.insert(owner, 'totp_pending', row, nowMs);
      });
    },

    /** Makes the pending secret the factor, with the step of the code that confirmed it. */
    async activateTotp(owner: Owner, secret: string, step: number, codes: readonly string[], nowMs: number) {
      const row = { reference: owner.id, usedAt: step, body: vault.seal(secret, totpPurpose) };
      await records.write(async () => {
        await rows.remove(owner.id, ['totp', 'totp_pending']);
        await rows.insert(owner, 'totp', row, nowMs);
        await replaceRecoveryCodes(owner, codes, nowMs);
      });
    },

    /** Compare-and-set of the last time step: true for the first use of a code only, also concurrently. */
    async useTotpStep(userId: string, step: number): Promise<boolean> {
      const { numUpdatedRows } = await records.db
        .updateTable('user_factors')
        .set({ used_at: step })
        .where('user_id', '=', userId)
        .where('kind', '=', 'totp')
        .where('used_at', '<', step)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

function createRecoveryCodes(records: Records, vault: Vault, rows: FactorRows) {
  /** The same code of two users has two hashes. */
  const toReference = (userId: string, code: string) =>
    vault.digest(`${userId} ${normalizeCode(code)}`, recoveryPurpose);

  return {
    async replaceRecoveryCodes(owner: Owner, codes: readonly string[], nowMs: number): Promise<void> {
      await records.write(async () => {
        await rows.remove(owner.id, ['recovery']);
        for (const code of codes)
          await rows.insert(owner, 'recovery', { reference: toReference(owner.id, code), usedAt: 0, body: '' }, nowMs);
      });
    },

    /** Deletes a recovery code: true for its first use only, also concurrently. */
    async useRecoveryCode(userId: string, code: string): Promise<boolean> {
      const { numDeletedRows } = await records.db
        .deleteFrom('user_factors')
        .where('user_id', '=', userId)
        .where('kind', '=', 'recovery')
        .where('reference', '=', toReference(userId, code))
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async countRecoveryCodes(userId: string): Promise<number> {
      const query = records.db.selectFrom('user_factors').select(it => it.fn.countAll<number>().as('total'));
      const counted = query.where('user_id', '=', userId).where('kind', '=', 'recovery');
      return Number((await counted.executeTakeFirstOrThrow()).total);
    },
  };
}
