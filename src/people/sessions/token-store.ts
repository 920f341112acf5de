import { createSecretText } from '#base/ids.ts';
import type { Vault } from '#base/vault.ts';
import { deleteExpiredRows } from '#storage/expired-rows.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';

/** One-time tokens of sign-in, such as those in links to set a password. Only their keyed hash is stored. */
export type SignInTokenStore = ReturnType<typeof createSignInTokenStore>;
export type TokenPurpose =
  | 'reset'
  | 'sso'
  | 'saml'
  | 'saml-logout'
  | 'saml-logout-request'
  | 'portal-address'
  | 'portal-factor'
  | 'portal-key'
  | 'portal-reset'
  | 'portal-sign-up'
  | 'portal-sso'
  | 'portal-try';
/** Replay protection: values that are accepted once. */
export type UsedPurpose = 'sso-flow' | 'saml-assertion' | 'saml-logout' | 'passkey-challenge' | 'portal-request';

export interface UsedValue {
  readonly purpose: UsedPurpose;
  readonly orgId: string;
  readonly value: string;
  /** The value is refused anyway from then on. */
  readonly expiresAtMs: number;
}

export interface NewSignInToken {
  readonly purpose: TokenPurpose;
  readonly orgId: string;
  /** User, organisation or identity profile whose unused tokens are bounded together. */
  readonly ownerId: string;
  readonly expiresAtMs: number;
  /** Kept with the token. */
  readonly body?: string;
}

export interface StoredSignInToken extends NewSignInToken {
  readonly digest: string;
  readonly body: string;
}

/** Longer tokens are rejected without hashing. */
const maxTokenLength = 256;
/** Unused tokens of one owner and purpose; a further one replaces the oldest. */
const maxTokens: Readonly<Record<TokenPurpose, number>> = {
  reset: 5,
  sso: 1000,
  saml: 1000,
  'saml-logout': 1000,
  'saml-logout-request': 1000,
  'portal-address': 1,
  'portal-factor': 5,
  'portal-key': 5,
  'portal-reset': 5,
  'portal-sign-up': 5,
  'portal-sso': 1000,
  'portal-try': 1,
};

export function createSignInTokenStore(records: Records, vault: Vault) {
  const toDigest = (purpose: TokenPurpose, token: string) => vault.digest(token, `sign-in token ${purpose}`);

  return {
    async insert({ purpose, orgId, ownerId, expiresAtMs, body = '' }: NewSignInToken, nowMs: number): Promise<string> {
      const token = createSecretText();
      const row = { digest: toDigest(purpose, token), purpose, org_id: orgId, user_id: ownerId };
      await records.write(async () => {
        await deleteExpiredRows(records, 'sign_in_tokens', nowMs);
        await removeSurplus(records, ownerId, purpose);
        await records.db
          .insertInto('sign_in_tokens')
          .values({ ...row, created_at: nowMs, expires_at: expiresAtMs, body })
          .execute();
      });
      return token;
    },

    /** Finds a token without using it. */
    async find(purpose: TokenPurpose, token: string, nowMs: number): Promise<StoredSignInToken | undefined> {
      if (token.length > maxTokenLength) return undefined;
      const row = await records.db
        .selectFrom('sign_in_tokens')
        .selectAll()
        .where('digest', '=', toDigest(purpose, token))
        .where('purpose', '=', purpose)
        .where('expires_at', '>', nowMs)
        .executeTakeFirst();
      return row && toStoredToken(row);
    },

    findOfOwner: createOwnerSearch(records),
    /** Deletes a token: true for the first use only, also concurrently. */
    async use({ digest }: StoredSignInToken): Promise<boolean> {
      const query = records.db.deleteFrom('sign_in_tokens').where('digest', '=', digest);
      return (await query.executeTakeFirst()).numDeletedRows > 0n;
    },

    useOfOwner: createOwnerUse(records),
    /** Deletes the unused tokens of an owner. */
    async removeOfOwner(purpose: TokenPurpose, ownerId: string): Promise<void> {
      const query = records.db.deleteFrom('sign_in_tokens').where('user_id', '=', ownerId);
      await query.where('purpose', '=', purpose).execute();
    },

    /** Replay protection: true for the first use of a value only, also concurrently. */
    async markUsed({ purpose, orgId, value, expiresAtMs }: UsedValue, nowMs: number): Promise<boolean> {
      const digest = vault.digest(value, `used ${purpose}`);
      const row = { digest, purpose, org_id: orgId, user_id: '', created_at: nowMs, expires_at: expiresAtMs, body: '' };
      return records.write(async () => {
        await deleteExpiredRows(records, 'sign_in_tokens', nowMs);
        const query = records.db.insertInto('sign_in_tokens').values(row);
        const { numInsertedOrUpdatedRows } = await query
          .onConflict(it => it.column('digest').doNothing())
          .executeTakeFirst();
        return (numInsertedOrUpdatedRows ?? 0n) > 0n;
      });
    },
  };
}

/** Finds the newest token of an owner that has not expired. */
const createOwnerSearch =
  (records: Records) =>
  async (purpose: TokenPurpose, ownerId: string, nowMs: number): Promise<StoredSignInToken | undefined> => {
    const row = await records.db
      .selectFrom('sign_in_tokens')
      .selectAll()
      .where('user_id', '=', ownerId)
      .where('purpose', '=', purpose)
      .where('expires_at', '>', nowMs)
      .orderBy('created_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && toStoredToken(row);
  };

/**
 * As `use`, and deletes the other tokens of the owner and purpose: in one statement, as the uses of two tokens that each
 * delete the other one could deadlock.
 */
const createOwnerUse =
  (records: Records) =>
  async ({ digest, purpose, ownerId }: StoredSignInToken): Promise<boolean> => {
    const query = records.db.deleteFrom('sign_in_tokens').where('user_id', '=', ownerId).returning('digest');
    const removed = await query.where('purpose', '=', purpose).execute();
    return new Set(removed.map(it => it.digest)).has(digest);
  };

async function removeSurplus(records: Records, ownerId: string, purpose: TokenPurpose): Promise<void> {
  const newest = records.db
    .selectFrom('sign_in_tokens')
    .select('digest')
    .where('user_id', '=', ownerId)
    .where('purpose', '=', purpose)
    .orderBy('created_at', 'desc')
    .limit(maxTokens[purpose] - 1);
  await records.db
    .deleteFrom('sign_in_tokens')
    .where('user_id', '=', ownerId)
    .where('purpose', '=', purpose)
    .where('digest', 'not in', newest)
    .execute();
}

const toStoredToken = (row: Tables['sign_in_tokens']): StoredSignInToken => ({
  digest: row.digest,
  purpose: row.purpose as TokenPurpose,
  orgId: row.org_id,
  ownerId: row.user_id,
  expiresAtMs: Number(row.expires_at),
  body: row.body,
});
