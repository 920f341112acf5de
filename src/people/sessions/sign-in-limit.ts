import type { Clock } from '#base/clock.ts';
import { createFailureCounter } from '#base/failure-counter.ts';
import type { Settings } from '#base/settings.ts';
import { problem } from './problems.ts';

/** Accounts and addresses tracked at once. */
const maxKeys = 20_000;
/** Failures of an account from all addresses together, in multiples of those from one. */
const allAddressesFactor = 10;

export type SignInLimit = ReturnType<typeof createSignInLimit>;

/**
 * Limit of failed sign-ins: by account and address, by account, and by address. Unknown accounts count like known ones.
 * An attempt counts as failed from its beginning, so that concurrent ones cannot exceed the limit.
 */
export function createSignInLimit(settings: Settings, clock: Clock) {
  const bounds = { windowMs: settings['sign_in.failure_window_seconds'] * 1000, maxKeys };
  const perAccount = settings['sign_in.max_account_failures'];
  const pairs = createFailureCounter({ ...bounds, maxFailures: perAccount }, clock);
  const accounts = createFailureCounter({ ...bounds, maxFailures: perAccount * allAddressesFactor }, clock);
  const addresses = createFailureCounter({ ...bounds, maxFailures: settings['sign_in.max_address_failures'] }, clock);

  return {
    /** Counts an attempt, or rejects it; `account` is what the client sent, in one case. */
    begin(account: string, address: string) {
      const counted = [
        { counter: pairs, key: JSON.stringify([address, account]) },
        { counter: accounts, key: account },
        { counter: addresses, key: address },
      ];
      const limited = counted.filter(({ counter, key }) => counter.isOverLimit(key));
      if (limited.length > 0) {
        const seconds = Math.max(...limited.map(({ counter, key }) => counter.retryAfterSeconds(key)));
        if (settings['sign_in.hide_retry_after']) throw problem.limited({ detail: { when: 'later' } });
        throw problem.limited({ detail: { when: `in ${seconds} seconds`, retryAfter: seconds } });
      }
      for (const { counter, key } of counted) counter.record(key);
      return {
        /** The attempt was no failure. */
        succeed(): void {
          for (const { counter, key } of counted) counter.undo(key);
        },
      };
    },
  };
}
