/**
 * Guards a cache against stale reads: a value read before an invalidation is not stored after it. Otherwise a read that
 * overlaps the revocation of a key would cache the revoked key.
 */
export interface ReadGuard {
  /** Starts a read; the returned function runs `store` unless there was an invalidation since. */
  begin(): (store: () => void) => void;
  invalidate(): void;
  /** Number of invalidations. */
  generation(): number;
}

export function createReadGuard(): ReadGuard {
  let generation = 0;
  return {
    begin() {
      const startGeneration = generation;
      return store => {
        if (startGeneration === generation) store();
      };
    },
    invalidate: () => void generation++,
    generation: () => generation,
  };
}
