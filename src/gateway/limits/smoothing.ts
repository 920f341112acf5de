import { allowanceCounter, holdOffCounter } from '#access/keys/counters.ts';
import type { ActiveSmoothing } from '#access/keys/session.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { CounterResult, Counters, Window } from '#storage/shared/shared.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { RateCounter } from './rate-counter.ts';
import type { LimitServices } from './services.ts';

/**
 * Rate limit smoothing: the allowance starts at the threshold and moves by one step, at most once per hold-off, while usage
 * is near it or well below it. All threads and gateways share it in two counters: one holds the distance from the threshold,
 * the other permits one change per hold-off.
 *
 * The distance counts in units of `scale`; a count below one unit only marks the allowance as in use. Without traffic for
 * twice the hold-off it expires, and the next request starts at the threshold.
 */
export interface SmoothingPlan {
  readonly window: Window;
  readonly threshold: number;
  readonly step: number;
  readonly margin: number;
  /** The window of the distance counter. */
  readonly allowanceWindow: Window;
  readonly holdOff: Window;
}

const scale = 2 ** 24;

export function compileSmoothing(
  window: Window,
  { threshold, step, delaySeconds, trigger }: ActiveSmoothing,
): SmoothingPlan {
  const delayMs = delaySeconds * 1000;
  return {
    window,
    threshold: Math.min(threshold, window.limit),
    step,
    // A trigger has two decimals: rounding keeps 0.29 of 100 at 29.
    margin: Math.round(trigger * step * 100) / 100,
    allowanceWindow: { limit: Number.POSITIVE_INFINITY, periodMs: 2 * delayMs, opens: 'every' },
    holdOff: { limit: 1, periodMs: delayMs },
  };
}

type Services = Pick<LimitServices, 'counters' | 'clock' | 'emitEvent'>;

/** Resolves the current allowance, after moving it where that is due. */
export function createSmoothing({ counters, clock, emitEvent }: Services, rates: RateCounter) {
  function resolveAllowance(call: Exchange, rate: string, plan: SmoothingPlan): MaybePromise<number> {
    const nowMs = clock.now();
    const used = rates.peek(rate, plan.window, nowMs);
    const distance = counters.peek(allowanceCounter(rate), plan.allowanceWindow, nowMs);
    if (used instanceof Promise || distance instanceof Promise)
      return Promise.all([used, distance]).then(([before, now]) => adjust(call, rate, plan, before.used, now));
    return adjust(call, rate, plan, used.used, distance);
  }

  function adjust(
    call: Exchange,
    rate: string,
    plan: SmoothingPlan,
    used: number,
    distance: CounterResult,
  ): MaybePromise<number> {
    const current = readAllowance(plan, distance);
    if (distance.used === 0) return start(rate, plan, current);
    const next = computeNextAllowance(plan, current, used);
    if (next === current) return extend(counters, clock.now(), rate, plan, distance, current);
    const permit = counters.take(holdOffCounter(rate), plan.holdOff, clock.now());
    if (permit instanceof Promise)
      return permit.then(it => (it.allowed ? move(call, rate, plan, current, next) : current));
    return permit.allowed ? move(call, rate, plan, current, next) : current;
  }

  function start(rate: string, plan: SmoothingPlan, current: number): MaybePromise<number> {
    const nowMs = clock.now();
    return whenDone(
      [
        counters.take(holdOffCounter(rate), plan.holdOff, nowMs),
        counters.take(allowanceCounter(rate), plan.allowanceWindow, nowMs),
      ],
      current,
    );
  }

  function move(call: Exchange, rate: string, plan: SmoothingPlan, from: number, to: number): MaybePromise<number> {
    const up = to > from;
    emitEvent(
      up ? 'RateLimitSmoothingUp' : 'RateLimitSmoothingDown',
      call,
      up ? 'Rate limit increased with smoothing' : 'Rate limit decreased with smoothing',
      { key: call.keyHash },
    );
    return whenDone(
      [counters.take(allowanceCounter(rate), plan.allowanceWindow, clock.now(), (to - from) * scale)],
      to,
    );
  }

  return { allowance: resolveAllowance };
}

/** Extends the expiry of the allowance in the second half of its window. Concurrent extensions are harmless. */
function extend(
  counters: Counters,
  nowMs: number,
  rate: string,
  { allowanceWindow: window }: SmoothingPlan,
  { resetsAtMs }: CounterResult,
  current: number,
): MaybePromise<number> {
  if (resetsAtMs - nowMs > window.periodMs / 2) return current;
  return whenDone([counters.take(allowanceCounter(rate), window, nowMs)], current);
}

/** The value, once the writes are done. */
const whenDone = (doing: readonly MaybePromise<CounterResult>[], value: number): MaybePromise<number> =>
  doing.some(it => it instanceof Promise) ? Promise.all(doing).then(() => value) : value;

const readAllowance = ({ threshold, window }: SmoothingPlan, { used }: CounterResult): number =>
  Math.min(threshold + Math.floor(used / scale), window.limit);

/** `used` is the count before this request. */
export function computeNextAllowance(
  { threshold, step, margin, window }: SmoothingPlan,
  current: number,
  used: number,
): number {
  if (used >= current - margin) return Math.min(current + step, window.limit);
  if (used <= current - step - margin) return Math.max(current - step, threshold);
  return current;
}
