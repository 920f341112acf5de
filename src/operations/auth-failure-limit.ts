import { toAddressKey } from '#base/address-key.ts';
import type { Clock } from '#base/clock.ts';
import { createFailureCounter, isWorthLogging } from '#base/failure-counter.ts';
import type { Problem } from '#base/problems.ts';
import { problem } from './problems.ts';
import type { SurfaceName } from './surfaces.ts';

const windowMs = 60_000;
const maxKeys = 20_000;

/** A wrong credential, as logs and audit records show it: never the credential itself. */
export interface RejectedCredential {
  readonly surface: SurfaceName;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** Failures from this address on this surface in the current minute. */
  readonly failures: number;
}

/**
 * Counts wrong credentials by surface and client address. Credentials are verified before anything is counted: a valid
 * one passes however many wrong ones came from its address. Reports are bounded: the first, the tenth, the hundredth …
 */
export function createAuthFailureLimit(
  maxPerMinute: number,
  clock: Clock,
  report: (rejected: RejectedCredential) => void,
) {
  const counter = createFailureCounter({ maxFailures: maxPerMinute, windowMs, maxKeys }, clock);
  return {
    /** Counts a failure and returns the problem to respond with. */
    reject(rejected: Omit<RejectedCredential, 'failures'>): Problem {
      const key = `${rejected.surface} ${toAddressKey(rejected.address)}`;
      const isOverLimit = counter.isOverLimit(key);
      const failures = counter.record(key);
      if (isWorthLogging(failures)) report({ ...rejected, failures });
      if (!isOverLimit) return problem.not_authorised();
      const seconds = counter.retryAfterSeconds(key);
      return problem.too_many_failures({ detail: { seconds, retryAfter: seconds } });
    },
  };
}

export type AuthFailureLimit = ReturnType<typeof createAuthFailureLimit>;
