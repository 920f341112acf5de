import { toAddressKey } from '#base/address-key.ts';
import type { Clock } from '#base/clock.ts';
import { createFailureCounter } from '#base/failure-counter.ts';

export interface SecretRateLimits {
  /** Wrong secrets of one address in a second, on one thread; further ones are rejected unchecked. */
  readonly maxWrongPerSecond: number;
  /** Secrets of one address checked concurrently. */
  readonly maxConcurrent: number;
}

const defaultBounds: SecretRateLimits = { maxWrongPerSecond: 10, maxConcurrent: 16 };
const windowMs = 1000;
const maxAddresses = 10_000;

/** Brute-force limit by client address: failures of one address do not count for another. */
export function createSecretRateLimit(clock: Clock, { maxWrongPerSecond, maxConcurrent } = defaultBounds) {
  const wrong = createFailureCounter({ maxFailures: maxWrongPerSecond, windowMs, maxKeys: maxAddresses }, clock);
  const concurrent = new Map<string, number>();

  function leave(address: string): void {
    const others = concurrent.get(address)! - 1;
    if (others === 0) concurrent.delete(address);
    else concurrent.set(address, others);
  }

  return async (clientAddress: string, isRight: () => Promise<boolean>): Promise<boolean> => {
    const address = toAddressKey(clientAddress);
    const others = concurrent.get(address) ?? 0;
    if (wrong.isOverLimit(address) || others >= maxConcurrent) return false;
    concurrent.set(address, others + 1);
    try {
      const right = await isRight();
      if (!right) wrong.record(address);
      return right;
    } finally {
      leave(address);
    }
  };
}
