import { BoundedMap } from '#base/bounded-map.ts';

const defaultMaxInvalidations = 10_000;

/**
 * Versioned invalidations. A response fetched before its key was invalidated must not be stored afterwards, nor joined by
 * a later request.
 */
export function createInvalidationLog(maxInvalidations = defaultMaxInvalidations) {
  let current = 0;
  /** Invalidations up to this version are evicted: their keys are unknown. */
  let evictedUpTo = 0;
  const versions = new BoundedMap<string, number>(maxInvalidations, version => {
    evictedUpTo = version;
  });

  return {
    add: (key: string): void => versions.set(key, ++current),
    currentVersion: (): number => current,
    /** Also true where the answer is evicted. */
    isInvalidatedSince: (key: string, version: number): boolean =>
      version < evictedUpTo || version < (versions.get(key) ?? 0),
    /** The version of the key's last invalidation; 0 where there is none. */
    versionOf: (key: string): number => versions.get(key) ?? 0,
  };
}
