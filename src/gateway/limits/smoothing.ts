import { allowanceCounter, holdOffCounter } from '#access/keys/counters.ts';
import type { ActiveSmoothing } from '#access/keys/session.ts';
import type { CounterResult, Counters, Window } from '#storage/shared/shared.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import type { RateCounter } from './rate.ts';

/**
 * The allowance of a smoothed rate: it begins at the threshold and moves by one step at a time, at most once in each
 * hold-off, while calls near it or stay well below it. All threads and machines share it, in two counters: one holds how
 * far it is above the threshold, the other lets it change once in a hold-off.
 *
 * The first counts in units of `scale`; what is below a unit only says that it is in use. Without traffic for twice the
 * hold-off it ends, and the next call begins at the threshold again.
 */
export interface SmoothingPlan {
  readonly window: Window;
  readonly threshold: number;
  readonly step: number;
  readonly margin: number;
  /** How the allowance is kept. */
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

type Tools = Pick<StepServices, 'counters' | 'clock' | 'emitEvent'>;

/** Gives the allowance in force for a call, after moving it if that is due. */
export function createSmoothing({ counters, clock, emitEvent }: Tools, rates: RateCounter) {
  function resolveAllowance(call: Exchange, rate: string, plan: SmoothingPlan): MaybePromise<number> {
    const nowMs = clock.now();
    const used = rates.peek(rate, plan.window, nowMs);
    const kept = counters.peek(allowanceCounter(rate), plan.allowanceWindow, nowMs);
    if (used instanceof Promise || kept instanceof Promise)
      return Promise.all([used, kept]).then(([before, now]) => adjust(call, rate, plan, before.used, now));
    return adjust(call, rate, plan, used.used, kept);
  }

  function adjust(
    call: Exchange,
    rate: string,
    plan: SmoothingPlan,
    used: number,
    kept: CounterResult,
  ): MaybePromise<number> {
    const current = readAllowance(plan, kept);
    if (kept.used === 0) return start(rate, plan, current);
    const next = computeNextAllowance(plan, current, used);
    if (next === current) return extend(counters, clock.now(), rate, plan, kept, current);
    const turn = counters.take(holdOffCounter(rate), plan.holdOff, clock.now());
    if (turn instanceof Promise) return turn.then(it => (it.allowed ? move(call, rate, plan, current, next) : current));
    return turn.allowed ? move(call, rate, plan, current, next) : current;
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

/** While calls come the allowance lives on. Whoever else renews it at the same moment does no harm. */
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

/** The value, once what leads to it is done. */
const whenDone = (doing: readonly MaybePromise<CounterResult>[], value: number): MaybePromise<number> =>
  doing.some(it => it instanceof Promise) ? Promise.all(doing).then(() => value) : value;

const readAllowance = ({ threshold, window }: SmoothingPlan, { used }: CounterResult): number =>
  Math.min(threshold + Math.floor(used / scale), window.limit);

/** `used` is what was counted before this call. */
export function computeNextAllowance(
  { threshold, step, margin, window }: SmoothingPlan,
  current: number,
  used: number,
): number {
  if (used >= current - margin) return Math.min(current + step, window.limit);
  if (used <= current - step - margin) return Math.max(current - step, threshold);
  return current;
}
