/**
 * Guards a cache against stale reads: what was read before an invalidation is not stored after it. A read that began
 * before a key was revoked and ends after it would otherwise keep the revoked key in memory.
 */
export interface ReadGuard {
  /** Marks the start of a read. The result stores what was read, unless something was invalidated since. */
  begin(): (store: () => void) => void;
  invalidate(): void;
  /** How many times something was invalidated. */
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
