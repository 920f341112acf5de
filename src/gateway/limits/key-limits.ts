import { quotaCounter } from '#access/keys/counters.ts';
import { findRight, type Session } from '#access/keys/session.ts';
import type { CounterResult, Window } from '#storage/shared/shared.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { MaybePromise, Step, StepContext, StepResult } from '../pipeline/step.ts';
import { ownerOf } from './counter-owner.ts';
import { skipsLimits } from './loops.ts';
import { quotaMonitor } from './monitor.ts';
import { type Plan, plans } from './plan.ts';
import { counted, rateCounting } from './rate.ts';
import { rateGuard } from './rate-guard.ts';
import { unixSecondsAt } from './rate-limit-headers.ts';

/** Rate and quota of the key a call came with. Whoever is over the rate does not touch the quota. */
export const keyLimits: Step = {
  name: 'key-limits',
  build(context) {
    const { model, services } = context;
    const { rateLimit: noRates, quota: noQuotas } = model.skips;
    if (model.modes.length === 0 || (noRates && noQuotas)) return undefined;
    const rates = rateCounting(services);
    const plan = plans(context, rates);
    const guard = rateGuard(services, rates);
    const quota = quotaCheck(context);

    function checkQuota(call: Exchange, session: Session, owner: string, { quota: window, scope }: Plan) {
      if (noQuotas || !window) return noted(call);
      return quota(call, session, quotaCounter(owner, scope), window);
    }

    return {
      request(call) {
        if (call.skipsAuth || skipsLimits(call)) return undefined;
        const { session } = call;
        const right = session && findRight(session, model.identity.id);
        if (!right) return undefined;
        const limits = plan.of(right);
        const owner = ownerOf(call, session);
        const chosen = noRates ? undefined : plan.rateFor(call, owner, limits);
        const refused = chosen && guard(call, chosen.name, chosen.plan);
        if (refused instanceof Promise) return refused.then(it => it ?? checkQuota(call, session, owner, limits));
        return refused ?? checkQuota(call, session, owner, limits);
      },
    };
  },
};

function quotaCheck({ services }: StepContext) {
  const { counters, clock, emitEvent, settings } = services;
  const monitor = settings['limits.monitor_keys'] ? quotaMonitor(services) : undefined;

  function judged(call: Exchange, session: Session, window: Window, taken: CounterResult): StepResult {
    call.quota = counted(window, taken);
    if (!taken.allowed) {
      emitEvent('QuotaExceeded', call, 'Key Quota Limit Exceeded', { key: call.keyHash });
      return refuse(call, 'quota_exceeded');
    }
    monitor?.(call, { orgId: session.orgId, key: call.keyHash, percents: session.quotaAlertPercents }, window, taken);
    return noted(call);
  }

  return (call: Exchange, session: Session, name: string, window: Window): MaybePromise<StepResult> => {
    const taken = counters.take(name, window, clock.now());
    if (taken instanceof Promise) return taken.then(it => judged(call, session, window, it));
    return judged(call, session, window, taken);
  };
}

/** Later steps may write what is left into headers and bodies. */
function noted({ context, rate, quota }: Exchange): undefined {
  if (!context) return;
  if (rate) {
    context.rate_limit_limit = rate.limit;
    context.rate_limit_remaining = rate.remaining;
    context.rate_limit_reset = unixSecondsAt(rate);
  }
  if (quota) {
    context.quota_limit = quota.limit;
    context.quota_remaining = quota.remaining;
    context.quota_reset = unixSecondsAt(quota);
  }
}
