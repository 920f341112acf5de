import type { Clock } from '#base/clock.ts';
import { createFailureCounter, isWorthLogging } from '#base/failure-counter.ts';

const windowMs = 900_000;
const maxKeys = 20_000;
/** Failures of one profile and window that are all recorded. */
const maxRecordedFailures = 100;

export type FailureSampler = ReturnType<typeof createFailureSampler>;

/**
 * Log and audit sampling of failed sign-ons, which need no credential: beyond a number per profile, only the 1,000th,
 * 10,000th … is recorded, from however many addresses they come.
 */
export function createFailureSampler(clock: Clock) {
  const counter = createFailureCounter({ maxFailures: maxRecordedFailures, windowMs, maxKeys }, clock);
  return {
    /** Counts a failure; true where it is to be recorded. */
    record(key: string): boolean {
      const failures = counter.record(key);
      return failures <= maxRecordedFailures || isWorthLogging(failures);
    },
  };
}
