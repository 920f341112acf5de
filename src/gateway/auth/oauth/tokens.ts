import { parseKeyBody } from '#access/keys/key-row.ts';
import { isRecord } from '#access/keys/session.ts';
import { tokenDigest } from '#access/oauth/token-store.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import { createReadGuard } from '#base/read-guard.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { MaybePromise } from '../../pipeline/step.ts';
import type { Change } from '../../routing/config-store.ts';
import { governed, isRefused } from '../derived-session.ts';
import type { KnownKey, Sessions } from '../key-cache.ts';
import type { AccessStore } from '../store.ts';

/** An access token in force. */
export interface KnownToken {
  readonly known: KnownKey;
  readonly clientId: string;
}

export interface KnownClient {
  readonly metaData: Readonly<Record<string, unknown>>;
}

/** Finds access tokens and OAuth clients for a thread, from memory where it can. */
export interface OauthTokens {
  find(orgId: string, presented: string): MaybePromise<KnownToken | undefined>;
  client(apiId: string, clientId: string): MaybePromise<KnownClient | undefined>;
  /** Rises whenever a client may have changed. */
  edition(): number;
  /** Forgets what changed; undefined is everything. */
  changed(changes: readonly Change[] | undefined): void;
}

export interface OauthTokensOptions {
  readonly store: Pick<AccessStore, 'oauthTokens' | 'oauthClients'>;
  readonly sessions: Sessions;
  readonly vault: Vault;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

const tokensKept = 10_000;
const clientsKept = 10_000;
const unknownKept = 10_000;
/** Repeating a guess costs nothing for as long. */
const unknownForMs = 2000;
/** No token of ours is longer. */
const longestToken = 1024;

interface Kept extends KnownToken {
  readonly orgId: string;
  readonly expiresAtMs: number;
  /** Of the sessions, when its policies were applied. */
  readonly edition: number;
}

export function oauthTokensOf({
  store,
  sessions: keyCache,
  vault,
  settings,
  clock,
  log,
}: OauthTokensOptions): OauthTokens {
  const tokens = new Lru<string, Kept>(tokensKept);
  const clients = new Lru<string, KnownClient | null>(clientsKept);
  /** Digests of texts that are no token, to when that is forgotten. */
  const unknown = new Lru<string, number>(unknownKept);
  const reads = createReadGuard();
  let clientGeneration = 0;

  async function load(digest: string, orgId: string, presented: string): Promise<KnownToken | undefined> {
    const remember = reads.begin();
    const edition = keyCache.edition();
    const [row] = await store.oauthTokens(digest);
    if (!row || clock.now() >= Number(row.expires_at)) remember(() => unknown.set(digest, clock.now() + unknownForMs));
    if (row?.org_id !== orgId || clock.now() >= Number(row.expires_at)) return undefined;
    const known = await governed({ keyCache, settings }, orgId, presented, parseKeyBody(row.body, vault));
    if (isRefused(known)) {
      log.warn({ client: row.client_id, org: orgId, reason: known.message }, 'an access token cannot be used');
      return undefined;
    }
    const kept = { known, clientId: row.client_id, orgId, expiresAtMs: Number(row.expires_at), edition };
    remember(() => tokens.set(digest, kept));
    return kept;
  }

  return {
    find(orgId, presented) {
      if (presented === '' || presented.length > longestToken) return undefined;
      const digest = tokenDigest(vault, presented);
      const kept = tokens.get(digest);
      if (kept?.edition === keyCache.edition())
        return kept.orgId === orgId && clock.now() < kept.expiresAtMs ? kept : undefined;
      return clock.now() < (unknown.get(digest) ?? 0) ? undefined : load(digest, orgId, presented);
    },

    client(apiId, clientId) {
      const name = `${apiId.length}:${apiId}${clientId}`;
      const kept = clients.get(name);
      if (kept !== undefined) return kept ?? undefined;
      const remember = reads.begin();
      const read = ([row]: readonly { body: string }[]): KnownClient | undefined => {
        const { meta_data: given = {} } = row ? (JSON.parse(row.body) as { meta_data?: unknown }) : {};
        const client = row && { metaData: isRecord(given) ? given : {} };
        remember(() => clients.set(name, client ?? null));
        return client;
      };
      const rows = store.oauthClients(apiId, clientId);
      return rows instanceof Promise ? rows.then(read) : read(rows);
    },

    edition: () => clientGeneration,
    changed(changes) {
      const told = changes?.filter(({ topic }) => topic === 'oauth');
      if (told?.length === 0) return;
      reads.invalidate();
      if (!told || told.some(({ id }) => id === '')) {
        clientGeneration++;
        unknown.clear();
        tokens.clear();
        clients.clear();
      } else for (const { id } of told) tokens.delete(id);
    },
  };
}
