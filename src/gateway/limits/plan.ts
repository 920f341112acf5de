import { endpointCounter, quotaWindow, rateCounter } from '#access/keys/counters.ts';
import type { KeyLimits, RateLimit, Right } from '#access/keys/session.ts';
import type { Window } from '#storage/shared/shared.ts';
import { plainSpelling } from '../http/path.ts';
import { type EndpointMatcher, endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { StepContext } from '../pipeline/step.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { RateCounting } from './rate.ts';
import { type Smoothed, smoothed } from './smoothing.ts';

/** The limits of a right on one API, ready to be counted. Made once for each right. */
export interface Plan {
  readonly rate: RatePlan | undefined;
  readonly quota: Window | undefined;
  readonly scope: string;
  readonly endpoints: EndpointMatcher<EndpointPlan> | undefined;
}

export interface RatePlan {
  readonly window: Window;
  readonly smoothed: Smoothed | undefined;
  readonly throttle: { readonly retries: number; readonly intervalMs: number } | undefined;
}

interface EndpointPlan {
  readonly path: string;
  readonly method: string;
  readonly rate: RatePlan;
}

/** The rate a call is counted against, and under which name. */
export interface ChosenRate {
  readonly name: string;
  readonly plan: RatePlan;
}

export function ratePlan(rates: RateCounting, { rate, perSeconds, smoothing }: RateLimit, limits: KeyLimits): RatePlan {
  const { throttle } = limits;
  const counted = rates.window(rate, perSeconds);
  // A call that is held tries again: only the try that succeeds may count.
  const window = throttle ? { ...counted, countsRefused: false } : counted;
  return {
    window,
    smoothed: smoothing && smoothed(window, smoothing),
    throttle: throttle && { retries: throttle.retries, intervalMs: throttle.intervalSeconds * 1000 },
  };
}

export function plans({ model, version, services }: StepContext, rates: RateCounting) {
  const known = new WeakMap<Right, Plan>();
  const context = { model, version, settings: services.settings };
  const apiId = model.identity.id;

  function made({ limits, scope, endpoints }: Right): Plan {
    return {
      rate: limits.rate && ratePlan(rates, limits.rate, limits),
      quota: limits.quota && quotaWindow(limits.quota),
      scope,
      endpoints: endpointPlans(endpoints.map(it => ({ ...it, rate: ratePlan(rates, it.rate, limits) }))),
    };
  }

  function endpointPlans(entries: readonly EndpointPlan[]): EndpointMatcher<EndpointPlan> | undefined {
    return endpointMatcher(entries.filter(isReadable), context);
  }

  /** A pattern of a key that cannot be read fits nothing: the rate of the key counts there. */
  function isReadable(entry: EndpointPlan): boolean {
    try {
      return endpointMatcher([entry], context) !== undefined;
    } catch (error) {
      if (!(error instanceof ApiCompileError)) throw error;
      services.log.warn({ api: apiId, reason: error.message }, 'the limit of a key for an endpoint cannot be applied');
      return false;
    }
  }

  return {
    of(right: Right): Plan {
      let plan = known.get(right);
      if (!plan) {
        plan = made(right);
        known.set(right, plan);
      }
      return plan;
    },
    /** An endpoint's own limit, or the one of the key. */
    rateFor(call: Exchange, owner: string, plan: Plan): ChosenRate | undefined {
      const endpoint =
        plan.endpoints?.find(call) ?? (call.isPathAmbiguous ? plan.endpoints?.find(call, plainSpelling) : undefined);
      if (endpoint) return { name: endpointCounter(owner, apiId, endpoint), plan: endpoint.rate };
      return plan.rate && { name: rateCounter(owner, plan.scope), plan: plan.rate };
    },
  };
}
