import { createDatabaseId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { PageRequest } from '#storage/collection.ts';
import { deleteExpiredRows } from '#storage/expired-rows.ts';
import { selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import { displayHash, parseKeyBody, serializeKey } from '../keys/key-row.ts';
import type { Key } from '../keys/schema.ts';

/** Tokens issued by the gateway, found by digest; readable values are sealed. */
export type OauthTokenStore = ReturnType<typeof createOauthTokenStore>;
export type OauthTokenKind = 'access' | 'refresh';

/** One authorization grant: all tokens that stem from one consent and are revoked together. */
export interface OauthGrant {
  readonly orgId: string;
  readonly apiId: string;
  readonly clientId: string;
  readonly grantId: string;
  /** Row id of the basic-auth user of a password grant; empty otherwise. */
  readonly owner: string;
  readonly scope: string;
}

export interface NewToken {
  readonly kind: OauthTokenKind;
  readonly token: string;
  readonly expiresAtMs: number;
  /** Rights of the token. */
  readonly key: Key;
}

export interface StoredToken extends OauthGrant {
  readonly id: string;
  readonly kind: OauthTokenKind;
  readonly expiresAtMs: number;
  readonly used: boolean;
  readonly key: Key;
}

const purpose = 'oauth token';
export const tokenDigest = (vault: Vault, token: string): string => vault.digest(token, purpose);
/** Above this many removed tokens one change clears the whole token cache of the threads. */
const maxNotifiedTokens = 1000;

export function createOauthTokenStore(records: Records, vault: Vault, settings: Settings) {
  const storesTokens = settings['keys.at_rest'] === 'encrypted';
  const toSealed = (token: string) => vault.seal(storesTokens ? token : displayHash(token, settings), purpose);
  const toRow = (grant: OauthGrant, { kind, token, expiresAtMs, key }: NewToken, nowMs: number) => ({
    id: createDatabaseId(nowMs),
    org_id: grant.orgId,
    api_id: grant.apiId,
    client_id: grant.clientId,
    grant_id: grant.grantId,
    owner: grant.owner,
    scope: grant.scope,
    kind,
    digest: tokenDigest(vault, token),
    created_at: nowMs,
    expires_at: expiresAtMs,
    used_at: 0,
    sealed: toSealed(token),
    body: serializeKey(key, vault),
  });

  return {
    async insert(grant: OauthGrant, tokens: readonly NewToken[], nowMs: number): Promise<void> {
      const rows = tokens.map(token => toRow(grant, token, nowMs));
      await records.db.insertInto('oauth_tokens').values(rows).execute();
    },

    async find(apiId: string, kind: OauthTokenKind, token: string): Promise<StoredToken | undefined> {
      const row = await records.db
        .selectFrom('oauth_tokens')
        .selectAll()
        .where('digest', '=', tokenDigest(vault, token))
        .where('api_id', '=', apiId)
        .where('kind', '=', kind)
        .executeTakeFirst();
      return row && toStoredToken(row, vault);
    },

    /** Compare-and-set: true for the first use only. */
    async use({ id }: Pick<StoredToken, 'id'>, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await records.db
        .updateTable('oauth_tokens')
        .set({ used_at: nowMs })
        .where('id', '=', id)
        .where('used_at', '=', 0)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    ...createTokenRemovals(records, vault),
    ...createTokenLists(records, vault),
  };
}

const toStoredToken = (row: Tables['oauth_tokens'], vault: Vault): StoredToken => ({
  id: row.id,
  orgId: row.org_id,
  apiId: row.api_id,
  clientId: row.client_id,
  grantId: row.grant_id,
  owner: row.owner,
  scope: row.scope,
  kind: row.kind as OauthTokenKind,
  expiresAtMs: Number(row.expires_at),
  used: Number(row.used_at) > 0,
  key: parseKeyBody(row.body, vault),
});

/** Revocation, and removal of expired tokens. */
function createTokenRemovals(records: Records, vault: Vault) {
  const deleteTokens = () => records.db.deleteFrom('oauth_tokens').returning('digest');

  /** Marks removed tokens as changed, so that threads invalidate their caches. */
  async function removeAndNotify(query: { execute(): Promise<{ digest: string }[]> }): Promise<number> {
    const removedRows = await query.execute();
    if (removedRows.length > maxNotifiedTokens) records.markChanged('oauth');
    else for (const { digest } of removedRows) records.markChanged('oauth', digest);
    return removedRows.length;
  }

  return {
    /** Revokes the tokens of a grant; with `kind`, those of one kind. */
    removeGrant: (grantId: string, kind?: OauthTokenKind): Promise<number> =>
      records.write(() => {
        const query = deleteTokens().where('grant_id', '=', grantId);
        return removeAndNotify(kind ? query.where('kind', '=', kind) : query);
      }),

    remove: (apiId: string, kind: OauthTokenKind, token: string): Promise<number> =>
      records.write(() =>
        removeAndNotify(
          deleteTokens()
            .where('digest', '=', tokenDigest(vault, token))
            .where('api_id', '=', apiId)
            .where('kind', '=', kind),
        ),
      ),

    removeOfClient: (apiId: string, clientId: string): Promise<number> =>
      records.write(() =>
        removeAndNotify(deleteTokens().where('api_id', '=', apiId).where('client_id', '=', clientId)),
      ),

    /** Removes the earlier tokens of a user's client. */
    removeOfOwner: (owner: string, apiId: string, clientId: string): Promise<number> =>
      records.write(() =>
        removeAndNotify(
          deleteTokens().where('owner', '=', owner).where('client_id', '=', clientId).where('api_id', '=', apiId),
        ),
      ),

    /** Removes a batch of expired tokens; true when there may be more. */
    sweep: (nowMs: number): Promise<boolean> => deleteExpiredRows(records, 'oauth_tokens', nowMs),
  };
}

export interface ClientName {
  readonly api_id: string;
  readonly client_id: string;
}

/** Bound of a search by hash; as many as a list has. */
const maxExaminedTokens = 10_000;

/** Unexpired access tokens of a client. */
function createTokenLists(records: Records, vault: Vault) {
  const selectValid = (apiId: string, clientId: string, nowMs: number) =>
    records.db
      .selectFrom('oauth_tokens')
      .where('api_id', '=', apiId)
      .where('client_id', '=', clientId)
      .where('kind', '=', 'access')
      .where('expires_at', '>', nowMs);

  return {
    async countValid(apiId: string, clientId: string, nowMs: number): Promise<number> {
      const counted = selectValid(apiId, clientId, nowMs).select(it => it.fn.countAll<number>().as('total'));
      return Number((await counted.executeTakeFirstOrThrow()).total);
    },

    /** Numbers of valid access tokens, by API and client. */
    async countValidOf(clients: readonly ClientName[], nowMs: number): Promise<(client: ClientName) => number> {
      if (clients.length === 0) return () => 0;
      const rows = await records.db
        .selectFrom('oauth_tokens')
        .select(['api_id', 'client_id', it => it.fn.countAll<number>().as('total')])
        .where('api_id', 'in', selectListed(records, [...new Set(clients.map(it => it.api_id))]))
        .where('client_id', 'in', selectListed(records, [...new Set(clients.map(it => it.client_id))]))
        .where('kind', '=', 'access')
        .where('expires_at', '>', nowMs)
        .groupBy(['api_id', 'client_id'])
        .execute();
      return ({ api_id, client_id }) =>
        Number(rows.find(row => row.api_id === api_id && row.client_id === client_id)?.total ?? 0);
    },

    /** Grant of a valid access token by its text in a list: the token, or its hash where only hashes are stored. */
    async findListedGrant(apiId: string, clientId: string, code: string, nowMs: number): Promise<string | undefined> {
      const valid = selectValid(apiId, clientId, nowMs).select(['grant_id', 'sealed']);
      const exact = await valid.where('digest', '=', tokenDigest(vault, code)).executeTakeFirst();
      if (exact) return exact.grant_id;
      const rows = await valid.orderBy('created_at', 'desc').limit(maxExaminedTokens).execute();
      return rows.find(({ sealed }) => vault.open(sealed, purpose) === code)?.grant_id;
    },

    /** Newest first, as `code` and Unix seconds. */
    async listValid(apiId: string, clientId: string, nowMs: number, { page, size }: PageRequest) {
      const rows = await selectValid(apiId, clientId, nowMs)
        .select(['sealed', 'expires_at'])
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(size)
        .offset((page - 1) * size)
        .execute();
      return rows.map(({ sealed, expires_at }) => ({
        code: vault.open(sealed, purpose),
        expires: Math.floor(Number(expires_at) / 1000),
      }));
    },
  };
}
