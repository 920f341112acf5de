import type { CounterResult } from '#storage/shared/shared.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { MaybePromise, StepResult } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import type { RatePlan } from './plan.ts';
import { counted, type RateCounting } from './rate.ts';
import { tooMany } from './rate-limit-headers.ts';
import { smoothing } from './smoothing.ts';
import { type Waiting, waitingRoom } from './throttle-queue.ts';

/** One for the thread: what is held is held by all APIs together. */
const rooms = new WeakMap<object, Waiting>();

function roomOf({ settings }: Pick<StepServices, 'settings'>): Waiting {
  let room = rooms.get(settings);
  if (!room) {
    room = waitingRoom(settings['limits.held_calls']);
    rooms.set(settings, room);
  }
  return room;
}

/** Lets a call pass while its key is below the rate; where the key says so, a call above it waits for its turn. */
export function rateGuard(services: StepServices, rates: RateCounting) {
  const { clock, settings, emitEvent } = services;
  const refused = tooMany(services);
  const { allowance } = smoothing(services, rates);
  const room = roomOf(services);
  const holdMs = settings['limits.hold_seconds'] * 1000;

  function take(call: Exchange, name: string, { window, smoothed }: RatePlan): MaybePromise<CounterResult> {
    if (!smoothed) return rates.take(name, window, clock.now());
    const limit = allowance(call, name, smoothed);
    if (limit instanceof Promise) return limit.then(it => rates.take(name, { ...window, limit: it }, clock.now()));
    return rates.take(name, { ...window, limit }, clock.now());
  }

  /** Whether the call passes; otherwise handlers hear of it. */
  function passes(call: Exchange, { window }: RatePlan, taken: CounterResult): boolean {
    call.rate = counted(window, taken);
    if (!taken.allowed) emitEvent('RatelimitExceeded', call, 'Rate Limit Exceeded', { key: call.keyHash });
    return taken.allowed;
  }

  function judged(call: Exchange, name: string, plan: RatePlan, taken: CounterResult): MaybePromise<StepResult> {
    if (passes(call, plan, taken)) return undefined;
    if (!plan.throttle || !room.enter()) return refused(call, 'rate_exceeded', taken);
    return held(call, name, plan, plan.throttle, taken).finally(room.leave);
  }

  async function held(
    call: Exchange,
    name: string,
    plan: RatePlan,
    { retries, intervalMs }: NonNullable<RatePlan['throttle']>,
    first: CounterResult,
  ): Promise<GatewayResponse | undefined> {
    const untilMs = clock.now() + holdMs;
    let taken = first;
    for (let tries = 0; tries < retries && clock.now() + intervalMs <= untilMs; tries++) {
      if (!(await room.pause(call, intervalMs))) return refuse(call, 'client_gone');
      taken = await take(call, name, plan);
      if (passes(call, plan, taken)) return undefined;
    }
    return refused(call, 'rate_exceeded', taken);
  }

  return (call: Exchange, name: string, plan: RatePlan): MaybePromise<StepResult> => {
    const taken = take(call, name, plan);
    if (taken instanceof Promise) return taken.then(it => judged(call, name, plan, it));
    return judged(call, name, plan, taken);
  };
}
