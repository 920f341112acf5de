import type { Clock } from '#base/clock.ts';
import { createFailureCounter } from '#base/failure-counter.ts';
import type { Settings } from '#base/settings.ts';
import { problem } from '../sessions/problems.ts';

/** Addresses tracked at once. */
const maxAddresses = 20_000;

export type SignOnLimit = ReturnType<typeof createSignOnLimit>;

/**
 * Limit of failed sign-ons through identity providers, by client address: each costs a verification or a request to the
 * provider. An attempt counts as failed from its beginning, so that concurrent ones cannot exceed the limit.
 */
export function createSignOnLimit(settings: Settings, clock: Clock) {
  const failures = createFailureCounter(
    {
      windowMs: settings['sign_in.failure_window_seconds'] * 1000,
      maxKeys: maxAddresses,
      maxFailures: settings['sign_in.max_address_failures'],
    },
    clock,
  );
  return {
    /** Runs an attempt, or rejects it. */
    async run<T>(address: string, attempt: () => Promise<T>): Promise<T> {
      if (failures.isOverLimit(address)) {
        const seconds = failures.retryAfterSeconds(address);
        if (settings['sign_in.hide_retry_after']) throw problem.limited({ detail: { when: 'later' } });
        throw problem.limited({ detail: { when: `in ${seconds} seconds`, retryAfter: seconds } });
      }
      failures.record(address);
      const result = await attempt();
      failures.undo(address);
      return result;
    },
  };
}
