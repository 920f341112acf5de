/** Row of a key in the index of ids. */
export interface IndexedKey {
  readonly rowId: string;
  readonly createdAtMs: number;
  readonly digest: string;
  readonly keyHash: string;
  /** Undefined where the id was sealed with another key: `sealed` is kept for the error. */
  readonly keyId: string | undefined;
  readonly sealed: string;
  readonly kind: string;
  /** Unix time in seconds; 0 for never. */
  readonly expiresAt: number;
  readonly isInactive: boolean;
  /** Search text: alias, user name and hash, folded; undefined for limits of an organisation. */
  readonly names: string | undefined;
  /** APIs of its own rights, and public ids of its policies: equal lists are one object. */
  readonly apiIds: readonly string[];
  readonly policyIds: readonly string[];
}

export type KeyIdIndex = ReturnType<typeof createKeyIdIndex>;

/** Object, map entry, array slot and string headers; measured with 100,000 keys. */
const entryOverheadBytes = 320;
/** List, its name in the map, and each id with its slot. */
const listOverheadBytes = 160;
const idOverheadBytes = 32;

const countBytes = ({ rowId, digest, keyHash, keyId = '', sealed, names = '' }: IndexedKey) =>
  entryOverheadBytes + rowId.length + digest.length + keyHash.length + keyId.length + sealed.length + names.length;

/** Newest first; the order of key lists. */
const compareNewestFirst = (one: IndexedKey, other: IndexedKey) =>
  other.createdAtMs - one.createdAtMs || (one.rowId < other.rowId ? 1 : -1);

const noIds: readonly string[] = [];

/** Interning: keys of one plan have the same APIs and policies, so that lists are few. They are kept until `clear`. */
function createIdLists() {
  const byText = new Map<string, readonly string[]>();
  let bytes = 0;
  return {
    intern(ids: readonly string[]): readonly string[] {
      if (ids.length === 0) return noIds;
      const text = ids.join('\n');
      const known = byText.get(text);
      if (known) return known;
      byText.set(text, ids);
      bytes += listOverheadBytes + 2 * text.length + ids.length * idOverheadBytes;
      return ids;
    },
    clear(): void {
      byText.clear();
      bytes = 0;
    },
    get bytes(): number {
      return bytes;
    },
  };
}

/** New keys are newer than all others, except with clocks that differ. */
function mergeNewest(added: IndexedKey[], newestFirst: readonly IndexedKey[]): IndexedKey[] {
  added.sort(compareNewestFirst);
  const [first] = newestFirst;
  const merged = [...added, ...newestFirst];
  const areNewer = first === undefined || compareNewestFirst(added.at(-1)!, first) < 0;
  return areNewer ? merged : merged.sort(compareNewestFirst);
}

/**
 * In-memory index of one organisation's keys, for the search of a substring of the id, which is encrypted at rest, and
 * for filters: the number of pages needs every key. It is never stored or logged.
 */
export function createKeyIdIndex() {
  const byDigest = new Map<string, IndexedKey>();
  let newestFirst: IndexedKey[] = [];
  /** Since the last search. */
  let added: IndexedKey[] = [];
  const removed = new Set<IndexedKey>();
  const lists = createIdLists();
  let bytes = 0;

  function remove(digest: string): void {
    const entry = byDigest.get(digest);
    if (!entry) return;
    byDigest.delete(digest);
    removed.add(entry);
    bytes -= countBytes(entry);
  }

  /** Merges changes since the last search. */
  function sortEntries(): void {
    if (removed.size > 0) {
      newestFirst = newestFirst.filter(entry => !removed.has(entry));
      added = added.filter(entry => !removed.has(entry));
      removed.clear();
    }
    if (added.length > 0) newestFirst = mergeNewest(added, newestFirst);
    added = [];
  }

  return {
    set(sent: IndexedKey): void {
      const entry = { ...sent, apiIds: lists.intern(sent.apiIds), policyIds: lists.intern(sent.policyIds) };
      remove(entry.digest);
      byDigest.set(entry.digest, entry);
      added.push(entry);
      bytes += countBytes(entry);
    },
    remove,
    clear(): void {
      byDigest.clear();
      removed.clear();
      lists.clear();
      [newestFirst, added, bytes] = [[], [], 0];
    },
    /** Keys that match, newest first. */
    find(matches: (key: IndexedKey) => boolean): IndexedKey[] {
      sortEntries();
      return newestFirst.filter(matches);
    },
    get bytes(): number {
      return bytes + lists.bytes;
    },
    get size(): number {
      return byDigest.size;
    },
  };
}
