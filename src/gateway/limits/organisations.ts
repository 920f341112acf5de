import { keyDigest } from '#access/keys/reading.ts';
import type { Key } from '#access/keys/schema.ts';
import { type Session, sessionOf } from '#access/keys/session.ts';
import { Lru } from '#base/lru.ts';
import type { Vault } from '#base/vault.ts';
import type { AccessStore } from '../auth/store.ts';
import type { Doing } from '../step.ts';
import type { Change } from '../store.ts';

/** The limits of organisations, for a thread. */
export interface Organisations {
  /** Nothing for an organisation without limits. */
  find(orgId: string): Doing<Session | undefined>;
  /** Forgets what changed; undefined is everything. */
  changed(changes: readonly Change[] | undefined): void;
}

const organisationsKept = 10_000;

/** The key of an organisation's limits is called like the organisation. */
export function organisationsOf(store: Pick<AccessStore, 'keys'>, vault: Vault): Organisations {
  const known = new Lru<string, Session | null>(organisationsKept);
  /** Rises with every change: what was read before it is not remembered after it. */
  let generation = 0;

  return {
    find(orgId) {
      const session = known.get(orgId);
      if (session !== undefined) return session ?? undefined;
      const begun = generation;
      const keep = (rows: Awaited<ReturnType<AccessStore['keys']>>) => {
        const row = rows.find(it => it.kind === 'organisation' && it.org_id === orgId);
        const found = row && sessionOf(JSON.parse(row.body) as Key);
        if (begun === generation) known.set(orgId, found ?? null);
        return found;
      };
      const rows = store.keys([keyDigest(vault, orgId)]);
      return rows instanceof Promise ? rows.then(keep) : keep(rows);
    },
    changed(changes) {
      if (changes?.every(({ topic }) => topic !== 'keys')) return;
      generation++;
      known.clear();
    },
  };
}
