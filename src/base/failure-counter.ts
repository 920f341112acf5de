import type { Clock } from './clock.ts';
import { Lru } from './lru.ts';

export interface FailureBounds {
  /** Failures of one key in a window before it counts as over the limit; 0 switches the limit off. */
  readonly maxFailures: number;
  readonly windowMs: number;
  /** Keys tracked at once; the least recently used are evicted first. */
  readonly maxKeys: number;
}

interface Window {
  readonly endsAt: number;
  failures: number;
}

/** Fixed-window counter of failures per key, such as wrong credentials of one client address. */
export function createFailureCounter({ maxFailures, windowMs, maxKeys }: FailureBounds, clock: Clock) {
  const windows = new Lru<string, Window>(maxKeys);

  function currentWindow(key: string): Window | undefined {
    const window = windows.get(key);
    return window && window.endsAt > clock.now() ? window : undefined;
  }

  return {
    /** Counts a failure and returns how many there are in this window. */
    record(key: string): number {
      const window = currentWindow(key) ?? { endsAt: clock.now() + windowMs, failures: 0 };
      if (window.failures === 0) windows.set(key, window);
      return ++window.failures;
    },
    /** Takes a failure back: an attempt that was counted before its outcome was known has succeeded. */
    undo(key: string): void {
      const window = currentWindow(key);
      if (window && window.failures > 0) window.failures--;
    },
    isOverLimit(key: string): boolean {
      return maxFailures > 0 && (currentWindow(key)?.failures ?? 0) >= maxFailures;
    },
    /** Seconds until the window of a key ends. */
    retryAfterSeconds(key: string): number {
      const window = currentWindow(key);
      return window ? Math.ceil((window.endsAt - clock.now()) / 1000) : 0;
    },
    clear(key: string): void {
      windows.delete(key);
    },
  };
}

export type FailureCounter = ReturnType<typeof createFailureCounter>;

/** Log sampling: true for the first, tenth, hundredth … failure of a window, so that a flood does not fill the log. */
export const isWorthLogging = (failures: number): boolean => /^10*$/.test(String(failures));
