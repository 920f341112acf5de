import { keyDigest } from '#access/keys/key-row.ts';
import type { Key } from '#access/keys/schema.ts';
import { compileKeySession, type Session } from '#access/keys/session.ts';
import { Lru } from '#base/lru.ts';
import { createReadGuard } from '#base/read-guard.ts';
import type { Vault } from '#base/vault.ts';
import type { AccessStore } from '../auth/store.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { Change } from '../routing/config-store.ts';

/** The limits of organisations, for a thread. */
export interface Organisations {
  /** Nothing for an organisation without limits. */
  find(orgId: string): MaybePromise<Session | undefined>;
  /** Forgets what changed; undefined is everything. */
  changed(changes: readonly Change[] | undefined): void;
}

const organisationsKept = 10_000;

interface Known {
  readonly digest: string;
  readonly session: Session | undefined;
}

/** The key of an organisation's limits is called like the organisation. */
export function organisationsOf(store: Pick<AccessStore, 'keys'>, vault: Vault): Organisations {
  const known = new Lru<string, Known>(organisationsKept);
  const reads = createReadGuard();

  return {
    find(orgId) {
      const kept = known.get(orgId);
      if (kept) return kept.session;
      const remember = reads.begin();
      const digest = keyDigest(vault, orgId);
      const keep = (rows: Awaited<ReturnType<AccessStore['keys']>>) => {
        const row = rows.find(it => it.kind === 'organisation' && it.org_id === orgId);
        const session = row && compileKeySession(JSON.parse(row.body) as Key);
        remember(() => known.set(orgId, { digest, session }));
        return session;
      };
      const rows = store.keys([digest]);
      return rows instanceof Promise ? rows.then(keep) : keep(rows);
    },
    changed(changes) {
      const ids = new Set(changes?.filter(({ topic }) => topic === 'keys').map(({ id }) => id));
      if (changes && ids.size === 0) return;
      reads.invalidate();
      if (!changes || ids.has('')) known.clear();
      else known.deleteWhere(({ digest }) => ids.has(digest));
    },
  };
}
