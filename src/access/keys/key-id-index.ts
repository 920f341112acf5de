/** Row of a key in the index of ids. */
export interface IndexedKey {
  readonly rowId: string;
  readonly createdAtMs: number;
  readonly digest: string;
  readonly keyHash: string;
  /** Undefined where the id was sealed with another key: `sealed` is kept for the error. */
  readonly keyId: string | undefined;
  readonly sealed: string;
}

export type KeyIdIndex = ReturnType<typeof createKeyIdIndex>;

/** Object, map entry, array slot and string headers; measured with 100,000 keys. */
const entryOverheadBytes = 260;

const countBytes = ({ rowId, digest, keyHash, keyId = '', sealed }: IndexedKey) =>
  entryOverheadBytes + rowId.length + digest.length + keyHash.length + keyId.length + sealed.length;

/** Newest first; the order of key lists. */
const compareNewestFirst = (one: IndexedKey, other: IndexedKey) =>
  other.createdAtMs - one.createdAtMs || (one.rowId < other.rowId ? 1 : -1);

/**
 * In-memory index of the ids of one organisation's keys, for the search of a substring: ids are encrypted at rest. It
 * is never stored or logged.
 */
export function createKeyIdIndex() {
  const byDigest = new Map<string, IndexedKey>();
  let newestFirst: IndexedKey[] = [];
  /** Since the last search. */
  let added: IndexedKey[] = [];
  const removed = new Set<IndexedKey>();
  let bytes = 0;

  function remove(digest: string): void {
    const entry = byDigest.get(digest);
    if (!entry) return;
    byDigest.delete(digest);
    removed.add(entry);
    bytes -= countBytes(entry);
  }

  /** Merges changes since the last search; new keys are newer than all others, except with clocks that differ. */
  function sortEntries(): void {
    if (removed.size > 0) {
      newestFirst = newestFirst.filter(entry => !removed.has(entry));
      added = added.filter(entry => !removed.has(entry));
      removed.clear();
    }
    if (added.length === 0) return;
    added.sort(compareNewestFirst);
    const [first] = newestFirst;
    const areNewer = first === undefined || compareNewestFirst(added.at(-1)!, first) < 0;
    newestFirst = [...added, ...newestFirst];
    if (!areNewer) newestFirst.sort(compareNewestFirst);
    added = [];
  }

  return {
    set(entry: IndexedKey): void {
      remove(entry.digest);
      byDigest.set(entry.digest, entry);
      added.push(entry);
      bytes += countBytes(entry);
    },
    remove,
    clear(): void {
      byDigest.clear();
      removed.clear();
      [newestFirst, added, bytes] = [[], [], 0];
    },
    /** Keys whose id contains the text, newest first, and those whose id is unreadable. */
    find(text: string): IndexedKey[] {
      sortEntries();
      return newestFirst.filter(({ keyId }) => keyId === undefined || keyId.includes(text));
    },
    get bytes(): number {
      return bytes;
    },
    get size(): number {
      return byDigest.size;
    },
  };
}
