import { allowanceCounter, holdOffCounter } from '#access/keys/counters.ts';
import type { ActiveSmoothing } from '#access/keys/session.ts';
import type { CounterResult, Counters, Window } from '#storage/shared/shared.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import type { RateCounting } from './rate.ts';

/**
 * The allowance of a smoothed rate: it begins at the threshold and moves by one step at a time, at most once in each
 * hold-off, while calls near it or stay well below it. All threads and machines share it, in two counters: one holds how
 * far it is above the threshold, the other lets it change once in a hold-off.
 *
 * The first counts in units of `scale`; what is below a unit only says that it is in use. Without traffic for twice the
 * hold-off it ends, and the next call begins at the threshold again.
 */
export interface Smoothed {
  readonly window: Window;
  readonly threshold: number;
  readonly step: number;
  readonly margin: number;
  /** How the allowance is kept. */
  readonly kept: Window;
  readonly holdOff: Window;
}

const scale = 2 ** 24;

export function smoothed(window: Window, { threshold, step, delaySeconds, trigger }: ActiveSmoothing): Smoothed {
  const delayMs = delaySeconds * 1000;
  return {
    window,
    threshold: Math.min(threshold, window.limit),
    step,
    // A trigger has two decimals: rounding keeps 0.29 of 100 at 29.
    margin: Math.round(trigger * step * 100) / 100,
    kept: { limit: Number.POSITIVE_INFINITY, periodMs: 2 * delayMs, opens: 'every' },
    holdOff: { limit: 1, periodMs: delayMs },
  };
}

type Tools = Pick<StepServices, 'counters' | 'clock' | 'emitEvent'>;

/** Gives the allowance in force for a call, after moving it if that is due. */
export function smoothing({ counters, clock, emitEvent }: Tools, rates: RateCounting) {
  function allowance(call: Exchange, rate: string, plan: Smoothed): MaybePromise<number> {
    const nowMs = clock.now();
    const used = rates.look(rate, plan.window, nowMs);
    const kept = counters.peek(allowanceCounter(rate), plan.kept, nowMs);
    if (used instanceof Promise || kept instanceof Promise)
      return Promise.all([used, kept]).then(([before, now]) => settled(call, rate, plan, before.used, now));
    return settled(call, rate, plan, used.used, kept);
  }

  function settled(
    call: Exchange,
    rate: string,
    plan: Smoothed,
    used: number,
    kept: CounterResult,
  ): MaybePromise<number> {
    const current = allowanceIn(plan, kept);
    if (kept.used === 0) return begun(rate, plan, current);
    const next = nextAllowance(plan, current, used);
    if (next === current) return renewed(counters, clock.now(), rate, plan, kept, current);
    const turn = counters.take(holdOffCounter(rate), plan.holdOff, clock.now());
    if (turn instanceof Promise)
      return turn.then(it => (it.allowed ? moved(call, rate, plan, current, next) : current));
    return turn.allowed ? moved(call, rate, plan, current, next) : current;
  }

  function begun(rate: string, plan: Smoothed, current: number): MaybePromise<number> {
    const nowMs = clock.now();
    return after(
      [
        counters.take(holdOffCounter(rate), plan.holdOff, nowMs),
        counters.take(allowanceCounter(rate), plan.kept, nowMs),
      ],
      current,
    );
  }

  function moved(call: Exchange, rate: string, plan: Smoothed, from: number, to: number): MaybePromise<number> {
    const up = to > from;
    emitEvent(
      up ? 'RateLimitSmoothingUp' : 'RateLimitSmoothingDown',
      call,
      up ? 'Rate limit increased with smoothing' : 'Rate limit decreased with smoothing',
      { key: call.keyHash },
    );
    return after([counters.take(allowanceCounter(rate), plan.kept, clock.now(), (to - from) * scale)], to);
  }

  return { allowance };
}

/** While calls come the allowance lives on. Whoever else renews it at the same moment does no harm. */
function renewed(
  counters: Counters,
  nowMs: number,
  rate: string,
  { kept: window }: Smoothed,
  { resetsAtMs }: CounterResult,
  current: number,
): MaybePromise<number> {
  if (resetsAtMs - nowMs > window.periodMs / 2) return current;
  return after([counters.take(allowanceCounter(rate), window, nowMs)], current);
}

/** The value, once what leads to it is done. */
const after = (doing: readonly MaybePromise<CounterResult>[], value: number): MaybePromise<number> =>
  doing.some(it => it instanceof Promise) ? Promise.all(doing).then(() => value) : value;

const allowanceIn = ({ threshold, window }: Smoothed, { used }: CounterResult): number =>
  Math.min(threshold + Math.floor(used / scale), window.limit);

/** `used` is what was counted before this call. */
export function nextAllowance({ threshold, step, margin, window }: Smoothed, current: number, used: number): number {
  if (used >= current - margin) return Math.min(current + step, window.limit);
  if (used <= current - step - margin) return Math.max(current - step, threshold);
  return current;
}
