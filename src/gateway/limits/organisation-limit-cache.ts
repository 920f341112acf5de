import { keyDigest } from '#access/keys/key-row.ts';
import type { Key } from '#access/keys/schema.ts';
import { compileKeySession, type Session } from '#access/keys/session.ts';
import type { AccessStore } from '#access/reader.ts';
import type { ConfigChange } from '#apis/config-reader.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { createReadGuard } from '#base/read-guard.ts';
import type { Vault } from '#base/vault.ts';

/** Organisation limits of a thread, cached. */
export interface OrganisationLimitCache {
  /** Undefined for an organisation without limits. */
  find(orgId: string): MaybePromise<Session | undefined>;
  /** Undefined invalidates everything. */
  invalidate(changes: readonly ConfigChange[] | undefined): void;
}

const maxCachedOrganisations = 10_000;

interface CachedLimits {
  readonly digest: string;
  readonly session: Session | undefined;
}

/** The limits are stored as a key whose id is that of the organisation. */
export function createOrganisationLimitCache(store: Pick<AccessStore, 'keys'>, vault: Vault): OrganisationLimitCache {
  const cache = new Lru<string, CachedLimits>(maxCachedOrganisations);
  const reads = createReadGuard();

  return {
    find(orgId) {
      const cached = cache.get(orgId);
      if (cached) return cached.session;
      const storeIfCurrent = reads.begin();
      const digest = keyDigest(vault, orgId);
      const cacheRow = (rows: Awaited<ReturnType<AccessStore['keys']>>) => {
        const row = rows.find(it => it.kind === 'organisation' && it.org_id === orgId);
        const session = row && compileKeySession(JSON.parse(row.body) as Key);
        storeIfCurrent(() => cache.set(orgId, { digest, session }));
        return session;
      };
      const rows = store.keys([digest]);
      return rows instanceof Promise ? rows.then(cacheRow) : cacheRow(rows);
    },
    invalidate(changes) {
      const ids = new Set(changes?.filter(({ topic }) => topic === 'keys').map(({ id }) => id));
      if (changes && ids.size === 0) return;
      reads.invalidate();
      if (!changes || ids.has('')) cache.clear();
      else cache.deleteWhere(({ digest }) => ids.has(digest));
    },
  };
}
