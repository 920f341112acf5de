import { createDatabaseId } from '#base/ids.ts';
import type { PasskeyKey } from '#base/webauthn.ts';
import { translateConflict } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import { problem } from './problems.ts';

/** Passkeys of users: public keys, found by the id of the credential. */
export type PasskeyStore = ReturnType<typeof createPasskeyStore>;

/** Part of a passkey that is stored as JSON. */
interface PasskeyBody {
  readonly name: string;
  readonly key: PasskeyKey;
  readonly transports: readonly string[];
  readonly isBackedUp: boolean;
  /** 0 before the first use. */
  readonly usedAtMs: number;
}

export interface NewPasskey extends Omit<PasskeyBody, 'usedAtMs'> {
  readonly orgId: string;
  readonly userId: string;
  readonly credentialId: string;
  readonly signCount: number;
}

export interface StoredPasskey extends NewPasskey, PasskeyBody {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Signature counter and backup state of an assertion. */
export interface PasskeyUse {
  readonly signCount: number;
  readonly isBackedUp: boolean;
}

const kind = 'passkey';
export const maxPasskeysPerUser = 20;

function createPasskeyQueries(records: Records) {
  const select = () => records.db.selectFrom('user_factors').selectAll().where('kind', '=', kind);
  const update = (id: string) => records.db.updateTable('user_factors').where('kind', '=', kind).where('id', '=', id);
  return {
    select,
    update,
    async list(userId: string): Promise<StoredPasskey[]> {
      const rows = await select().where('user_id', '=', userId).orderBy('created_at').orderBy('id').execute();
      return rows.map(toStoredPasskey);
    },
    /** Changes the JSON of a row that an update has locked in this transaction. */
    async changeBody(id: string, change: (body: PasskeyBody) => PasskeyBody): Promise<StoredPasskey> {
      const row = await select().where('id', '=', id).executeTakeFirstOrThrow();
      const body = JSON.stringify(change(JSON.parse(row.body)));
      await update(id).set({ body }).execute();
      return toStoredPasskey({ ...row, body });
    },
  };
}

export function createPasskeyStore(records: Records) {
  const { select, update, list, changeBody } = createPasskeyQueries(records);

  return {
    list,

    async find(credentialId: string): Promise<StoredPasskey | undefined> {
      const row = await select().where('reference', '=', credentialId).executeTakeFirst();
      return row && toStoredPasskey(row);
    },

    /** Inserts a passkey, inside the transaction that locks the user. */
    async insert(passkey: NewPasskey, nowMs: number): Promise<StoredPasskey> {
      if ((await list(passkey.userId)).length >= maxPasskeysPerUser)
        throw problem.too_many_passkeys({ detail: { maxPasskeys: maxPasskeysPerUser } });
      const row = toRow(passkey, nowMs);
      await translateConflict(records.db.insertInto('user_factors').values(row).execute(), problem.passkey_exists);
      return toStoredPasskey(row);
    },

    rename: (userId: string, id: string, name: string): Promise<StoredPasskey | undefined> =>
      records.write(async () => {
        const locked = await update(id).set({ kind }).where('user_id', '=', userId).executeTakeFirst();
        return locked.numUpdatedRows > 0n ? changeBody(id, body => ({ ...body, name })) : undefined;
      }),

    async remove(userId: string, id: string): Promise<boolean> {
      const query = records.db.deleteFrom('user_factors').where('kind', '=', kind).where('user_id', '=', userId);
      return (await query.where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n;
    },

    /**
     * Compare-and-set of the signature counter (Web Authentication, 6.1.1): false where it does not grow, which a copy of
     * the authenticator explains. Synchronised passkeys have none: it stays 0.
     */
    recordUse: (id: string, { signCount, isBackedUp }: PasskeyUse, nowMs: number): Promise<boolean> =>
      records.write(async () => {
        const locked = await update(id)
          .set({ used_at: signCount })
          .where(it => (signCount === 0 ? it('used_at', '=', 0) : it('used_at', '<', signCount)))
          .executeTakeFirst();
        if (locked.numUpdatedRows === 0n) return false;
        await changeBody(id, body => ({ ...body, isBackedUp, usedAtMs: nowMs }));
        return true;
      }),
  };
}

function toRow(passkey: NewPasskey, nowMs: number): Tables['user_factors'] {
  const { name, key, transports, isBackedUp } = passkey;
  const body: PasskeyBody = { name, key, transports, isBackedUp, usedAtMs: 0 };
  return {
    id: createDatabaseId(nowMs),
    org_id: passkey.orgId,
    user_id: passkey.userId,
    kind,
    reference: passkey.credentialId,
    created_at: nowMs,
    // The signature counter: compare-and-set, as the time step of a TOTP secret.
    used_at: passkey.signCount,
    body: JSON.stringify(body),
  };
}

const toStoredPasskey = (row: Tables['user_factors']): StoredPasskey => ({
  ...(JSON.parse(row.body) as PasskeyBody),
  id: row.id,
  orgId: row.org_id,
  userId: row.user_id,
  credentialId: row.reference,
  createdAtMs: Number(row.created_at),
  signCount: Number(row.used_at),
});
