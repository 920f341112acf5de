import { buildPlaceholders } from '#apis/config-reader.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Reader } from '#storage/reader.ts';
import type { KeyRow } from './keys/key-row.ts';
import type { StoredPolicy } from './policies/store.ts';

export type FoundKeyRow = KeyRow & { readonly created_at: number | string };
export interface CertificateRow {
  readonly id: string;
  readonly org_id: string;
  readonly body: string;
}

export interface OauthTokenRow {
  readonly org_id: string;
  readonly api_id: string;
  readonly client_id: string;
  readonly expires_at: number | string;
  readonly body: string;
}

/** Look-ups that authentication needs. Synchronous where the engine is. */
export function createAccessStore(reader: Reader) {
  return {
    keys: (digests: readonly string[]): MaybePromise<FoundKeyRow[]> =>
      reader.rows(
        `select id, org_id, kind, key_hash, sealed, body, digest, created_at from keys
          where digest in (${buildPlaceholders(digests)})`,
        digests,
      ),
    /** By either of their ids. */
    policies(orgId: string, ids: readonly string[]): MaybePromise<StoredPolicy[]> {
      const list = buildPlaceholders(ids);
      const rows = reader.rows<{ body: string }>(
        `select body from policies where org_id = ? and (policy_id in (${list}) or id in (${list}))`,
        [orgId, ...ids, ...ids],
      );
      return rows instanceof Promise ? rows.then(parsePolicies) : parsePolicies(rows);
    },
    certificates: (ids: readonly string[]): MaybePromise<CertificateRow[]> =>
      reader.rows(`select id, org_id, body from certificates where id in (${buildPlaceholders(ids)})`, ids),
    oauthTokens: (digest: string): MaybePromise<OauthTokenRow[]> =>
      reader.rows(
        "select org_id, api_id, client_id, expires_at, body from oauth_tokens where digest = ? and kind = 'access'",
        [digest],
      ),
    oauthClients: (apiId: string, clientId: string): MaybePromise<{ body: string }[]> =>
      reader.rows('select body from oauth_clients where api_id = ? and client_id = ?', [apiId, clientId]),
  };
}

const parsePolicies = (rows: readonly { body: string }[]) => rows.map(({ body }) => JSON.parse(body) as StoredPolicy);

export type AccessStore = ReturnType<typeof createAccessStore>;
