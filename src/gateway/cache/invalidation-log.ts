const defaultMaxInvalidations = 10_000;

/**
 * Versioned invalidations. A response fetched before its key was invalidated must not be stored afterwards, nor joined by
 * a later request.
 */
export function createInvalidationLog(maxInvalidations = defaultMaxInvalidations) {
  const versions = new Map<string, number>();
  let current = 0;
  /** Invalidations up to this version are evicted: their keys are unknown. */
  let evictedUpTo = 0;

  return {
    add(key: string): void {
      versions.delete(key);
      versions.set(key, ++current);
      for (const [oldest, version] of versions) {
        if (versions.size <= maxInvalidations) break;
        versions.delete(oldest);
        evictedUpTo = version;
      }
    },
    currentVersion: (): number => current,
    /** Also true where the answer is evicted. */
    isInvalidatedSince: (key: string, version: number): boolean =>
      version < evictedUpTo || version < (versions.get(key) ?? 0),
    /** The version of the key's last invalidation; 0 where there is none. */
    versionOf: (key: string): number => versions.get(key) ?? 0,
  };
}
