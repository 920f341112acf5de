import type { MaybePromise } from '#base/maybe-promise.ts';
import type { CounterResult } from '#storage/shared/shared.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { RatePlan } from './limit-plan.ts';
import { type RateCounter, toLimitState } from './rate-counter.ts';
import { createTooManyRequests } from './rate-limit-headers.ts';
import type { LimitServices } from './services.ts';
import { createSmoothing } from './smoothing.ts';
import { createThrottleQueue, type ThrottleQueue } from './throttle-queue.ts';

/** One queue per thread, shared by all APIs: `limits.max_throttled_requests` bounds their throttled requests together. */
const queues = new WeakMap<object, ThrottleQueue>();

function getQueue({ settings }: Pick<LimitServices, 'settings'>): ThrottleQueue {
  let queue = queues.get(settings);
  if (!queue) {
    queue = createThrottleQueue(settings['limits.max_throttled_requests']);
    queues.set(settings, queue);
  }
  return queue;
}

type RateGuardServices = Pick<LimitServices, 'clock' | 'counters' | 'emitEvent' | 'settings'>;

/** Rate limit of a key. Above the rate a request is throttled if the key enables throttling, else refused. */
export function createRateGuard(services: RateGuardServices, rates: RateCounter) {
  const { clock, settings, emitEvent } = services;
  const rejectTooManyRequests = createTooManyRequests(services);
  const { allowance } = createSmoothing(services, rates);
  const queue = getQueue(services);
  const maxThrottleMs = settings['limits.max_throttle_seconds'] * 1000;

  function take(call: Exchange, name: string, { window, smoothed }: RatePlan): MaybePromise<CounterResult> {
    if (!smoothed) return rates.take(name, window, clock.now());
    const limit = allowance(call, name, smoothed);
    if (limit instanceof Promise) return limit.then(it => rates.take(name, { ...window, limit: it }, clock.now()));
    return rates.take(name, { ...window, limit }, clock.now());
  }

  /** Records the state of the limit, emits an event above it; true where the request is allowed. */
  function recordResult(call: Exchange, { window }: RatePlan, taken: CounterResult): boolean {
    call.rate = toLimitState(window, taken);
    if (!taken.allowed) emitEvent('RatelimitExceeded', call, 'Rate Limit Exceeded', { key: call.keyHash });
    return taken.allowed;
  }

  function evaluate(call: Exchange, name: string, plan: RatePlan, taken: CounterResult): MaybePromise<StepResult> {
    if (recordResult(call, plan, taken)) return undefined;
    if (!plan.throttle || !queue.tryEnter()) return rejectTooManyRequests(call, 'rate_exceeded', taken);
    return throttle(call, name, plan, plan.throttle, taken).finally(queue.leave);
  }

  async function throttle(
    call: Exchange,
    name: string,
    plan: RatePlan,
    { retries, intervalMs }: NonNullable<RatePlan['throttle']>,
    first: CounterResult,
  ): Promise<GatewayResponse | undefined> {
    const untilMs = clock.now() + maxThrottleMs;
    let taken = first;
    for (let tries = 0; tries < retries && clock.now() + intervalMs <= untilMs; tries++) {
      if (!(await queue.wait(call, intervalMs))) return refuse(call, 'client_disconnected');
      taken = await take(call, name, plan);
      if (recordResult(call, plan, taken)) return undefined;
    }
    return rejectTooManyRequests(call, 'rate_exceeded', taken);
  }

  return (call: Exchange, name: string, plan: RatePlan): MaybePromise<StepResult> => {
    const taken = take(call, name, plan);
    if (taken instanceof Promise) return taken.then(it => evaluate(call, name, plan, it));
    return evaluate(call, name, plan, taken);
  };
}
