import type { CounterResult, Counters, Window } from '#storage/shared/shared.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';

/** How this gateway counts rates. */
export interface RateCounter {
  /** The window a rate is counted in. A rate below one is one call in a longer time. */
  window(rate: number, perSeconds: number): Window;
  take(name: string, window: Window, nowMs: number): MaybePromise<CounterResult>;
  peek(name: string, window: Window, nowMs: number): MaybePromise<CounterResult>;
}

export function createRateCounter({ settings, counters }: Pick<StepServices, 'settings' | 'counters'>): RateCounter {
  const algorithm = settings['limits.rate_algorithm'];
  const toWindow = (rate: number, perSeconds: number) => ({
    limit: Math.max(1, Math.floor(rate)),
    periodMs: (perSeconds * 1000) / Math.min(1, rate),
  });
  if (algorithm === 'sliding') return slidingCounting(counters, toWindow);
  return {
    window: (rate, perSeconds) => ({ ...toWindow(rate, perSeconds), ...(algorithm === 'fixed' && { opens: 'clock' }) }),
    take: (name, window, nowMs) => counters.take(name, window, nowMs),
    peek: (name, window, nowMs) => counters.peek(name, window, nowMs),
  };
}

/** Over the time just past refused calls are counted too: hammering keeps a caller out. */
function slidingCounting(counters: Counters, sized: (rate: number, perSeconds: number) => Window): RateCounter {
  return {
    window: (rate, perSeconds) => ({ ...sized(rate, perSeconds), countsRefused: true }),
    take: (name, window, nowMs) => counters.slide(name, window, nowMs),
    peek: (name, window, nowMs) => counters.slide(name, window, nowMs, 0),
  };
}

/** A limit as callers are told of it. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetsAtMs: number;
  readonly periodMs: number;
}

export const toLimitState = ({ limit, periodMs }: Window, { remaining, resetsAtMs }: CounterResult): LimitState => ({
  limit,
  remaining,
  resetsAtMs,
  periodMs,
});
