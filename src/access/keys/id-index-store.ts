import { setImmediate } from 'node:timers/promises';
import { Problem } from '#base/problems.ts';
import { vaultProblem } from '#base/vault.ts';
import { readTopicChanges } from '#storage/change-reader.ts';
import type { Records } from '#storage/records.ts';
import { type IndexRow, readIndexRows } from './index-row-store.ts';
import { createKeyIdIndex, type IndexedKey, type KeyIdIndex } from './key-id-index.ts';
import type { KeyRow } from './key-row.ts';
import { scanColumns, scanKeys } from './scan-store.ts';

/** Indexes of keys in memory, one for each organisation that was searched: built on demand, then kept current. */

type SealedId = Pick<KeyRow, 'sealed' | 'key_hash'>;

export interface KeyIdIndexOptions {
  /** Of all organisations together. Beyond it the least recently searched ones are evicted. */
  readonly maxBytes?: number;
  /** After this time without a search all indexes are released. */
  readonly idleTimeoutMs?: number;
}

const defaultMaxBytes = 64 * 1024 * 1024;
const defaultIdleTimeoutMs = 600_000;
/** Lower bound of an entry: an organisation with more keys than fit is not indexed at all. */
const minEntryBytes = 360;
const maxDigestsPerQuery = 500;

interface OrganisationIndex {
  readonly index: KeyIdIndex;
  /** Changes up to this revision are in the index; undefined before the first build. */
  revision: number | undefined;
  /** End of the last refresh. */
  queue: Promise<unknown>;
}

type IndexPool = ReturnType<typeof createIndexPool>;

/** Indexes by organisation, bounded together; released when idle. */
function createIndexPool(maxBytes: number, idleTimeoutMs: number) {
  /** Least recently searched first. */
  const byOrganisation = new Map<string, OrganisationIndex>();
  let idleTimer: NodeJS.Timeout | undefined;
  const sumBytes = () => byOrganisation.values().reduce((sum, { index }) => sum + index.bytes, 0);
  function restartIdleTimer(): void {
    idleTimer ??= setTimeout(() => {
      idleTimer = undefined;
      byOrganisation.clear();
    }, idleTimeoutMs).unref();
    idleTimer.refresh();
  }
  return {
    maxBytes,
    get bytes(): number {
      return sumBytes();
    },
    get size(): number {
      return byOrganisation.size;
    },
    take(orgId: string): OrganisationIndex {
      restartIdleTimer();
      const created = { index: createKeyIdIndex(), revision: undefined, queue: Promise.resolve() };
      const own = byOrganisation.get(orgId) ?? created;
      byOrganisation.delete(orgId);
      byOrganisation.set(orgId, own);
      return own;
    },
    /** False when the organisation alone exceeds the bound. */
    evictOthers(orgId: string): boolean {
      for (const other of byOrganisation.keys()) {
        if (sumBytes() <= maxBytes) break;
        if (other !== orgId) byOrganisation.delete(other);
      }
      return sumBytes() <= maxBytes;
    },
    release(orgId: string, own: OrganisationIndex): void {
      own.revision = undefined;
      own.index.clear();
      if (byOrganisation.get(orgId) === own) byOrganisation.delete(orgId);
    },
  };
}

/** Brings the index of an organisation up to date; false where it does not fit, and after a gap of the change log. */
function createIndexUpdate(records: Records, pool: IndexPool, toEntry: (row: IndexRow) => IndexedKey) {
  let builds: Promise<unknown> = Promise.resolve();
  /** Number of keys of the organisations whose build exceeded the bound: not tried again before keys are removed. */
  const tooLarge = new Map<string, number>();

  async function build(orgId: string, own: OrganisationIndex): Promise<boolean> {
    own.index.clear();
    const count = await countOrganisationKeys(records, orgId);
    if (count * minEntryBytes > pool.maxBytes || count >= (tooLarge.get(orgId) ?? Number.POSITIVE_INFINITY))
      return false;
    own.revision = await records.revision();
    for await (const rows of scanKeys(records, orgId)) {
      for (const row of await readIndexRows(records, rows)) own.index.set(toEntry(row));
      if (pool.evictOthers(orgId)) continue;
      tooLarge.set(orgId, count);
      return false;
    }
    tooLarge.delete(orgId);
    return refresh(orgId, own);
  }

  /** Applies the changes since the last search, by any process. */
  async function refresh(orgId: string, own: OrganisationIndex): Promise<boolean> {
    if (own.revision === undefined) return false;
    const { revision, ids } = await readTopicChanges(records, 'keys', own.revision);
    if (!ids) return false;
    for await (const { digests, rows } of readChangedKeys(records, orgId, [...ids])) {
      for (const digest of digests) own.index.remove(digest);
      for (const row of rows) own.index.set(toEntry(row));
    }
    own.revision = revision;
    return pool.evictOthers(orgId);
  }

  /** One build at a time, so that the bound holds for all. */
  function enqueueBuild(orgId: string, own: OrganisationIndex): Promise<boolean> {
    const run = builds.then(() => build(orgId, own));
    builds = run.catch(() => undefined);
    return run;
  }

  return async (orgId: string, own: OrganisationIndex): Promise<boolean> =>
    (await refresh(orgId, own)) || enqueueBuild(orgId, own);
}

export type KeyIdIndexes = ReturnType<typeof createKeyIdIndexes>;

export function createKeyIdIndexes(
  records: Records,
  readKeyId: (row: SealedId) => string,
  { maxBytes = defaultMaxBytes, idleTimeoutMs = defaultIdleTimeoutMs }: KeyIdIndexOptions = {},
) {
  const pool = createIndexPool(maxBytes, idleTimeoutMs);
  const update = createIndexUpdate(records, pool, createEntryReader(readKeyId));
  return {
    /** Runs `search` on the current index of the organisation; undefined where its keys do not fit into memory. */
    async search<T>(orgId: string, search: (index: KeyIdIndex) => T): Promise<T | undefined> {
      const own = pool.take(orgId);
      // A refresh that started before this search may not have the changes before it.
      const run = own.queue.then(async () => {
        let isCurrent = false;
        try {
          isCurrent = await update(orgId, own);
          return isCurrent ? search(own.index) : undefined;
        } finally {
          if (!isCurrent) pool.release(orgId, own);
        }
      });
      own.queue = run.catch(() => undefined);
      return run;
    },
    get bytes(): number {
      return pool.bytes;
    },
    get organisations(): number {
      return pool.size;
    },
  };
}

/** A row sealed with another key keeps its sealed id: each search reports it. */
const createEntryReader =
  (readKeyId: (row: SealedId) => string) =>
  (row: IndexRow): IndexedKey => {
    const entry = {
      rowId: row.id,
      createdAtMs: Number(row.created_at),
      digest: row.digest,
      keyHash: row.key_hash,
      kind: row.kind,
      expiresAt: Number(row.expires_at),
      isInactive: Number(row.inactive) === 1,
      names: row.names,
      apiIds: row.apiIds,
      policyIds: row.policyIds,
    };
    try {
      return { ...entry, keyId: readKeyId(row), sealed: '' };
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== vaultProblem.cannot_open.code) throw error;
      return { ...entry, keyId: undefined, sealed: row.sealed };
    }
  };

async function countOrganisationKeys(records: Records, orgId: string): Promise<number> {
  const query = records.db.selectFrom('keys').select(it => it.fn.countAll<number>().as('total'));
  return Number((await query.where('org_id', '=', orgId).executeTakeFirstOrThrow()).total);
}

/** Current rows of changed keys; a digest without a row is that of a deleted key, or of another organisation. */
async function* readChangedKeys(records: Records, orgId: string, changed: readonly string[]) {
  for (let at = 0; at < changed.length; at += maxDigestsPerQuery) {
    const digests = changed.slice(at, at + maxDigestsPerQuery);
    const found = await records.db
      .selectFrom('keys')
      .select(scanColumns)
      .where('digest', 'in', digests)
      .where('org_id', '=', orgId)
      .execute();
    yield { digests, rows: await readIndexRows(records, found) };
    if (digests.length === maxDigestsPerQuery) await setImmediate();
  }
}
