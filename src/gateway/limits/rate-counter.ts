import type { MaybePromise } from '#base/maybe-promise.ts';
import type { CounterResult, Counters, Window } from '#storage/shared/shared.ts';
import type { LimitState } from '../pipeline/exchange.ts';
import type { LimitServices } from './services.ts';

/**
 * Counts rates with the algorithm of `limits.rate_algorithm`. While Redis is unavailable `Counters` counts in this
 * process (`storage/shared/redis.ts`): limits never see an outage.
 */
export interface RateCounter {
  /** A rate below one becomes one request in a longer period. */
  window(rate: number, perSeconds: number): Window;
  take(name: string, window: Window, nowMs: number): MaybePromise<CounterResult>;
  peek(name: string, window: Window, nowMs: number): MaybePromise<CounterResult>;
}

export function createRateCounter({ settings, counters }: Pick<LimitServices, 'settings' | 'counters'>): RateCounter {
  const algorithm = settings['limits.rate_algorithm'];
  const toWindow = (rate: number, perSeconds: number) => ({
    limit: Math.max(1, Math.floor(rate)),
    periodMs: (perSeconds * 1000) / Math.min(1, rate),
  });
  if (algorithm === 'sliding') return createSlidingCounter(counters, toWindow);
  return {
    window: (rate, perSeconds) => ({ ...toWindow(rate, perSeconds), ...(algorithm === 'fixed' && { opens: 'clock' }) }),
    take: (name, window, nowMs) => counters.take(name, window, nowMs),
    peek: (name, window, nowMs) => counters.peek(name, window, nowMs),
  };
}

/** Sliding window. Refused requests count too, so a client that does not back off stays above its limit. */
function createSlidingCounter(counters: Counters, toWindow: (rate: number, perSeconds: number) => Window): RateCounter {
  return {
    window: (rate, perSeconds) => ({ ...toWindow(rate, perSeconds), countsRefused: true }),
    take: (name, window, nowMs) => counters.slide(name, window, nowMs),
    peek: (name, window, nowMs) => counters.slide(name, window, nowMs, 0),
  };
}

export const toLimitState = ({ limit, periodMs }: Window, { remaining, resetsAtMs }: CounterResult): LimitState => ({
  limit,
  remaining,
  resetsAtMs,
  periodMs,
});
