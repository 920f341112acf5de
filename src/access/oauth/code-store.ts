import { createDatabaseId } from '#base/ids.ts';
import type { Vault } from '#base/vault.ts';
import { deleteExpiredRows } from '#storage/expired-rows.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import { parseKeyBody, serializeKey } from '../keys/key-row.ts';
import type { Key } from '../keys/schema.ts';

/** Authorization codes (RFC 6749, 1.3.1), redeemable once. Only their digest is stored. */
export type OauthCodeStore = ReturnType<typeof createOauthCodeStore>;

export interface NewCode {
  readonly orgId: string;
  readonly apiId: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly code: string;
  readonly expiresAtMs: number;
  readonly consent: Consent;
}

/** Terms of the authorization the code was issued for. */
export interface Consent {
  /** As in the authorization request; empty where it was omitted. */
  readonly redirectUri: string;
  readonly scope: string;
  /** PKCE S256 code challenge (RFC 7636); empty without PKCE. */
  readonly challenge: string;
  readonly key: Key;
}

export interface StoredCode extends Omit<NewCode, 'code'> {
  readonly id: string;
  readonly used: boolean;
}

const purpose = 'oauth code';

export function createOauthCodeStore(records: Records, vault: Vault) {
  return {
    async insert(newCode: NewCode, nowMs: number): Promise<void> {
      await records.db
        .insertInto('oauth_codes')
        .values(toRow(newCode, nowMs, vault))
        .execute();
    },

    async find(apiId: string, code: string): Promise<StoredCode | undefined> {
      const row = await records.db
        .selectFrom('oauth_codes')
        .selectAll()
        .where('digest', '=', vault.digest(code, purpose))
        .where('api_id', '=', apiId)
        .executeTakeFirst();
      return row && toStoredCode(row, vault);
    },

    /** Compare-and-set: true for the first use only. */
    async use({ id }: Pick<StoredCode, 'id'>, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await records.db
        .updateTable('oauth_codes')
        .set({ used_at: nowMs })
        .where('id', '=', id)
        .where('used_at', '=', 0)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async removeOfClient(apiId: string, clientId: string): Promise<void> {
      await records.db
        .deleteFrom('oauth_codes')
        .where('api_id', '=', apiId)
        .where('client_id', '=', clientId)
        .execute();
    },

    /** Removes a batch of expired codes; true when there may be more. */
    sweep: (nowMs: number): Promise<boolean> => deleteExpiredRows(records, 'oauth_codes', nowMs),
  };
}

function toRow({ consent, ...newCode }: NewCode, nowMs: number, vault: Vault) {
  const { key, ...terms } = consent;
  return {
    id: createDatabaseId(nowMs),
    org_id: newCode.orgId,
    api_id: newCode.apiId,
    client_id: newCode.clientId,
    grant_id: newCode.grantId,
    digest: vault.digest(newCode.code, purpose),
    created_at: nowMs,
    expires_at: newCode.expiresAtMs,
    used_at: 0,
    body: JSON.stringify({ ...terms, key: serializeKey(key, vault) }),
  };
}

function toStoredCode(row: Tables['oauth_codes'], vault: Vault): StoredCode {
  const { key, ...terms } = JSON.parse(row.body) as Omit<Consent, 'key'> & { key: string };
  return {
    id: row.id,
    orgId: row.org_id,
    apiId: row.api_id,
    clientId: row.client_id,
    grantId: row.grant_id,
    expiresAtMs: Number(row.expires_at),
    used: Number(row.used_at) > 0,
    consent: { ...terms, key: parseKeyBody(key, vault) },
  };
}
