import { parseKeyBody } from '#access/keys/key-row.ts';
import { toTokenMetadata } from '#access/keys/metadata-names.ts';
import { tokenDigest } from '#access/oauth/token-store.ts';
import type { AccessStore } from '#access/reader.ts';
import type { ConfigChange } from '#apis/config-reader.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import { andThen, type MaybePromise } from '#base/maybe-promise.ts';
import { createReadGuard } from '#base/read-guard.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { applyKeyPolicies, isRefused } from '../derived-session.ts';
import type { CachedKey, KeyCache } from '../key-cache.ts';

/** A valid access token. */
export interface CachedToken {
  readonly known: CachedKey;
  readonly clientId: string;
}

export interface CachedClient {
  readonly metaData: Readonly<Record<string, unknown>>;
}

/** Cache of access tokens and OAuth clients of a thread. */
export interface OauthTokenCache {
  find(orgId: string, presented: string): MaybePromise<CachedToken | undefined>;
  client(apiId: string, clientId: string): MaybePromise<CachedClient | undefined>;
  /** Rises with every change of a client. */
  version(): number;
  /** Rises with every change of a client, and when a token is revoked. */
  generation(): number;
  /** Undefined invalidates everything. */
  invalidate(changes: readonly ConfigChange[] | undefined): void;
}

export interface OauthTokenCacheOptions {
  readonly store: Pick<AccessStore, 'oauthTokens' | 'oauthClients'>;
  readonly sessions: KeyCache;
  readonly vault: Vault;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

const maxCachedTokens = 10_000;
const maxCachedClients = 10_000;
const maxUnknownTokens = 10_000;
/** Absorbs repeated guesses. */
const negativeTtlMs = 2000;
/** No issued token is longer. */
const maxTokenChars = 1024;

interface TokenCacheEntry extends CachedToken {
  readonly orgId: string;
  readonly expiresAtMs: number;
  /** The version of the key cache when its policies were applied. */
  readonly version: number;
}

export function createOauthTokenCache(options: OauthTokenCacheOptions): OauthTokenCache {
  const { store, sessions: keyCache, vault, settings, clock, log } = options;
  const tokens = new Lru<string, TokenCacheEntry>(maxCachedTokens);
  const clients = new Lru<string, CachedClient | null>(maxCachedClients);
  /** Negative entries: expiry by digest. */
  const unknown = new Lru<string, number>(maxUnknownTokens);
  const reads = createReadGuard();
  let clientGeneration = 0;

  async function load(digest: string, orgId: string, presented: string): Promise<CachedToken | undefined> {
    const save = reads.begin();
    const version = keyCache.version();
    const [row] = await store.oauthTokens(digest);
    if (!row || clock.now() >= Number(row.expires_at)) save(() => unknown.set(digest, clock.now() + negativeTtlMs));
    if (row?.org_id !== orgId || clock.now() >= Number(row.expires_at)) return undefined;
    const key = await applyKeyPolicies({ keyCache, settings }, orgId, presented, parseKeyBody(row.body, vault));
    if (isRefused(key)) {
      const about = { client: row.client_id, org: orgId, reason: key.message };
      log.warn(about, 'access token policies not applicable, token refused');
      return undefined;
    }
    const entry = { known: key, clientId: row.client_id, orgId, expiresAtMs: Number(row.expires_at), version };
    save(() => tokens.set(digest, entry));
    return entry;
  }

  return {
    find(orgId, presented) {
      if (presented === '' || presented.length > maxTokenChars) return undefined;
      const digest = tokenDigest(vault, presented);
      const cached = tokens.get(digest);
      if (cached?.version === keyCache.version())
        return cached.orgId === orgId && clock.now() < cached.expiresAtMs ? cached : undefined;
      return clock.now() < (unknown.get(digest) ?? 0) ? undefined : load(digest, orgId, presented);
    },

    client(apiId, clientId) {
      const name = `${apiId.length}:${apiId}${clientId}`;
      const cached = clients.get(name);
      if (cached !== undefined) return cached ?? undefined;
      const save = reads.begin();
      return andThen(store.oauthClients(apiId, clientId), ([row]) => {
        const client = row && parseClient(row);
        save(() => clients.set(name, client ?? null));
        return client;
      });
    },
    version: () => clientGeneration,
    generation: reads.generation,
    invalidate(changes) {
      const relevant = changes?.filter(({ topic }) => topic === 'oauth');
      if (relevant?.length === 0) return;
      reads.invalidate();
      if (!relevant || relevant.some(({ id }) => id === '')) {
        clientGeneration++;
        for (const cache of [unknown, tokens, clients]) cache.clear();
      } else for (const { id } of relevant) tokens.delete(id);
    },
  };
}

function parseClient({ body }: { readonly body: string }): CachedClient {
  const { meta_data } = JSON.parse(body) as { meta_data?: unknown };
  return { metaData: toTokenMetadata(meta_data) };
}
