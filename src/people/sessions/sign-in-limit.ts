import { toAddressKey, toSiteKey } from '#base/address-key.ts';
import type { Clock } from '#base/clock.ts';
import { createFailureCounter, type FailureCounter } from '#base/failure-counter.ts';
import type { Settings } from '#base/settings.ts';
import { problem } from './problems.ts';

/** Accounts and addresses tracked at once. */
const maxKeys = 20_000;
/** Failures of an account from all addresses together, in multiples of those from one. */
const allAddressesFactor = 10;
/** Failures of all networks of one IPv6 site together, in multiples of those from one. */
const allNetworksFactor = 10;
/** Wrong codes of one user in a window, from all addresses: a six-digit code must not be guessed. */
const maxCodeFailures = 10;
/** Wrong codes of one user in a day: a window after the other must not add up to a guess. */
const maxDailyCodeFailures = 50;
const dayMs = 86_400_000;

export type SignInLimit = ReturnType<typeof createSignInLimit>;

interface Counted {
  readonly counter: FailureCounter;
  readonly key: string;
}

/**
 * Limit of failed sign-ins and sign-ons: by account and address, by account, and by address. Unknown accounts count like
 * known ones. An attempt counts as failed from its beginning, so that concurrent ones cannot exceed the limit.
 */
export function createSignInLimit(settings: Settings, clock: Clock) {
  const bounds = { windowMs: settings['sign_in.failure_window_seconds'] * 1000, maxKeys };
  const perAccount = settings['sign_in.max_account_failures'];
  const perAddress = settings['sign_in.max_address_failures'];
  const pairs = createFailureCounter({ ...bounds, maxFailures: perAccount }, clock);
  const accounts = createFailureCounter({ ...bounds, maxFailures: perAccount * allAddressesFactor }, clock);
  const addresses = createFailureCounter({ ...bounds, maxFailures: perAddress }, clock);
  const sites = createFailureCounter({ ...bounds, maxFailures: perAddress * allNetworksFactor }, clock);
  const codes = createFailureCounter({ ...bounds, maxFailures: maxCodeFailures }, clock);
  const dailyCodes = createFailureCounter({ windowMs: dayMs, maxKeys, maxFailures: maxDailyCodeFailures }, clock);

  function beginAttempt(counted: readonly Counted[]) {
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
  }

  const countAddress = (address: string): readonly Counted[] => [
    { counter: addresses, key: toAddressKey(address) },
    { counter: sites, key: toSiteKey(address) },
  ];
  const countAccount = (account: string, address: string): readonly Counted[] => [
    { counter: pairs, key: JSON.stringify([toAddressKey(address), account]) },
    { counter: accounts, key: account },
  ];

  return {
    /** Counts an attempt, or rejects it; `account` is what the client sent, in one case. */
    begin: (account: string, address: string) =>
      beginAttempt([...countAccount(account, address), ...countAddress(address)]),
    /** Counts an attempt by its account alone, where its address is counted already. */
    beginAccount: (account: string, address: string) => beginAttempt(countAccount(account, address)),
    /** Counts the code of a second factor; also where the settings limit no sign-ins. */
    beginCode: (userId: string) =>
      beginAttempt([
        { counter: codes, key: userId },
        { counter: dailyCodes, key: userId },
      ]),
    /** True where the next code of a user is refused. */
    isCodeLimited: (userId: string) => codes.isOverLimit(userId) || dailyCodes.isOverLimit(userId),
    /** Counts an attempt whose account is not known yet. */
    beginFromAddress: (address: string) => beginAttempt(countAddress(address)),
  };
}
