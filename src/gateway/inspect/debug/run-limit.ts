import type { Clock } from '#base/clock.ts';
import { createFailureCounter } from '#base/failure-counter.ts';
import { problem } from './problems.ts';

/** Runs of one organisation: a run passes no counters of traffic, so that its own bound is the only one. */
const maxRunsPerMinute = 120;
const windowMs = 60_000;
const maxOrganisations = 10_000;

export type DebugRuns = ReturnType<typeof createDebugRuns>;

/** Rate limit of debug runs by organisation. */
export function createDebugRuns(clock: Clock) {
  const runs = createFailureCounter({ maxFailures: maxRunsPerMinute, windowMs, maxKeys: maxOrganisations }, clock);
  return {
    /** Counts a run, or refuses it. */
    count(orgId: string): void {
      if (runs.isOverLimit(orgId))
        throw problem.too_many_runs({ detail: { maxRunsPerMinute, retryAfter: runs.retryAfterSeconds(orgId) } });
      runs.record(orgId);
    },
  };
}
