import { quotaCounter } from '#access/keys/counters.ts';
import { findRight, type Session } from '#access/keys/session.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { CounterResult, Window } from '#storage/shared/shared.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { skipsLimits } from '../pipeline/loops.ts';
import { limitMessages } from '../pipeline/message-limits.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { countOnce } from './count-once.ts';
import { resolveCounterOwner } from './counter-owner.ts';
import { createLimitPlans, type LimitPlan } from './limit-plan.ts';
import { createQuotaMonitor } from './quota-monitor.ts';
import { createRateCounter, toLimitState } from './rate-counter.ts';
import { createRateGuard } from './rate-guard.ts';
import { toResetUnixSeconds } from './rate-limit-headers.ts';
import type { LimitServices } from './services.ts';

type Services = Pick<LimitServices, 'clock' | 'counters' | 'emitEvent' | 'log' | 'settings'>;

const reads = { api: ['skips'], also: { api: ['authMethods'] } } as const satisfies StepReads;

/** Rate limit and quota of a key. A request above the rate does not count against the quota. */
export const keyLimitsStep: Step<Services, typeof reads> = {
  name: 'key-limits',
  reads,
  build(context) {
    const { model, services } = context;
    const { rateLimit: noRates, quota: noQuotas } = model.skips;
    if (model.authMethods.length === 0 || (noRates && noQuotas)) return undefined;
    const rates = createRateCounter(services);
    const limitPlans = createLimitPlans(context, rates);
    const guard = createRateGuard(services, rates);
    const takeQuota = createQuotaCheck(context);

    function checkQuota(call: Exchange, session: Session, owner: string, { quota: window, scope }: LimitPlan) {
      const name = quotaCounter(owner, scope);
      if (noQuotas || !window || !countOnce(call, name)) return setLimitVariables(call);
      return takeQuota(call, session, name, window);
    }

    return {
      request: limitMessages(call => {
        if (call.skipsAuth || skipsLimits(call)) return undefined;
        const { session } = call;
        const right = session && findRight(session, model.identity.id);
        if (!right) return undefined;
        const limits = limitPlans.get(right);
        const owner = resolveCounterOwner(call, session);
        const rate = noRates ? undefined : limitPlans.rateFor(call, owner, limits);
        const refused = rate && countOnce(call, rate.name) ? guard(call, rate.name, rate.plan) : undefined;
        if (refused instanceof Promise) return refused.then(it => it ?? checkQuota(call, session, owner, limits));
        return refused ?? checkQuota(call, session, owner, limits);
      }),
    };
  },
};

function createQuotaCheck({ services }: StepContext<Services, typeof reads>) {
  const { counters, clock, emitEvent, settings } = services;
  const monitor = settings['limits.monitor_keys'] ? createQuotaMonitor(services) : undefined;

  function evaluate(call: Exchange, session: Session, window: Window, taken: CounterResult): StepResult {
    call.quota = toLimitState(window, taken);
    if (!taken.allowed) {
      emitEvent('QuotaExceeded', call, 'Key Quota Limit Exceeded', { key: call.keyHash });
      return refuse(call, 'quota_exceeded');
    }
    monitor?.(call, { orgId: session.orgId, key: call.keyHash, percents: session.quotaAlertPercents }, window, taken);
    return setLimitVariables(call);
  }

  return (call: Exchange, session: Session, name: string, window: Window): MaybePromise<StepResult> => {
    const taken = counters.take(name, window, clock.now());
    if (taken instanceof Promise) return taken.then(it => evaluate(call, session, window, it));
    return evaluate(call, session, window, taken);
  };
}

/** Sets the context variables of the limits, for headers and templates of later steps. */
function setLimitVariables({ context, rate, quota }: Exchange): undefined {
  if (!context) return;
  if (rate) {
    context.rate_limit_limit = rate.limit;
    context.rate_limit_remaining = rate.remaining;
    context.rate_limit_reset = toResetUnixSeconds(rate);
  }
  if (quota) {
    context.quota_limit = quota.limit;
    context.quota_remaining = quota.remaining;
    context.quota_reset = toResetUnixSeconds(quota);
  }
}
