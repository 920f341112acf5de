/** Names that were dropped and whose answers may still be on their way. */
const defaultMaxInvalidations = 10_000;

/**
 * Remembers, by number, when names were dropped, so that no answer that was asked for before is kept after it, and nobody
 * who asks after it is given one.
 */
export function createInvalidationLog(maxInvalidations = defaultMaxInvalidations) {
  const versions = new Map<string, number>();
  let current = 0;
  /** What became of names dropped up to this number is no longer known. */
  let evictedUpTo = 0;

  return {
    add(key: string): void {
      versions.delete(key);
      versions.set(key, ++current);
      for (const [oldest, number] of versions) {
        if (versions.size <= maxInvalidations) break;
        versions.delete(oldest);
        evictedUpTo = number;
      }
    },
    /** How many were dropped so far. */
    seen: (): number => current,
    /** Whether the name was dropped since so many were; in doubt it was. */
    isInvalidatedSince: (key: string, currentVersion: number): boolean =>
      currentVersion < evictedUpTo || currentVersion < (versions.get(key) ?? 0),
    /** Another one after each time the name is dropped. */
    versionOf: (key: string): number => versions.get(key) ?? 0,
  };
}
