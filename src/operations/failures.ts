import type { Clock } from '#base/clock.ts';
import { problem } from './problems.ts';

/** Addresses remembered at once; the oldest is forgotten first. */
const addressesKept = 10_000;
const windowMs = 60_000;

/** Slows down whoever guesses credentials: after so many wrong ones in a minute an address has to wait. */
export function failureLimit(perMinute: number, clock: Clock) {
  const windows = new Map<string, { endsAt: number; failures: number }>();
  const current = (address: string) => {
    const window = windows.get(address);
    return window && window.endsAt > clock.now() ? window : undefined;
  };
  return {
    check(address: string): void {
      const window = current(address);
      if (perMinute === 0 || !window || window.failures < perMinute) return;
      const seconds = Math.ceil((window.endsAt - clock.now()) / 1000);
      throw problem.too_many_failures({ detail: { seconds, retryAfter: seconds } });
    },
    failed(address: string): void {
      const window = current(address);
      if (window) {
        window.failures++;
        return;
      }
      if (windows.size >= addressesKept) windows.delete(windows.keys().next().value!);
      windows.set(address, { endsAt: clock.now() + windowMs, failures: 1 });
    },
  };
}

export type FailureLimit = ReturnType<typeof failureLimit>;
