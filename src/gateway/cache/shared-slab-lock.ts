import { header } from './shared-slab-layout.ts';

const maxSpins = 100;
const lockWaitMs = 1;
/** The lock is held for microseconds, and for milliseconds while an API is purged: a holder for longer was terminated. */
const maxLockWaits = 3000;

/**
 * Lock of the slab: spins, then waits on a futex. A terminated holder leaves lists that may be inconsistent: the slab is
 * then marked as broken instead of taken over, since a wrong list could return one client's response to another.
 */
export function createSlabLock(words: Int32Array, maxWaits = maxLockWaits) {
  const isBroken = (): boolean => Atomics.load(words, header.isBroken) !== 0;

  function acquire(): boolean {
    for (let tries = 0; ; tries++) {
      if (isBroken()) return false;
      if (Atomics.compareExchange(words, header.lock, 0, 1) === 0) return true;
      if (tries < maxSpins) continue;
      if (tries > maxSpins + maxWaits) Atomics.store(words, header.isBroken, 1);
      else Atomics.wait(words, header.lock, 1, lockWaitMs);
    }
  }

  return {
    isBroken,
    /** Runs `work` with the lock; undefined where the slab is broken. */
    run<T>(work: () => T): T | undefined {
      if (!acquire()) return undefined;
      try {
        return work();
      } finally {
        Atomics.store(words, header.lock, 0);
      }
    },
  };
}
