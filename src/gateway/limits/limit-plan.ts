import { endpointCounter, quotaWindow, rateCounter } from '#access/keys/counters.ts';
import type { KeyLimits, RateLimit, Right } from '#access/keys/session.ts';
import type { Window } from '#storage/shared/shared.ts';
import { stripMatrixParameters } from '../http/path.ts';
import { createEndpointMatcher, type EndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { StepContext } from '../pipeline/step.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { RateCounter } from './rate-counter.ts';
import type { LimitServices } from './services.ts';
import { compileSmoothing, type SmoothingPlan } from './smoothing.ts';

/** Compiled limits of an access right on one API, cached per right. */
export interface LimitPlan {
  readonly rate: RatePlan | undefined;
  readonly quota: Window | undefined;
  readonly scope: string;
  readonly endpoints: EndpointMatcher<EndpointPlan> | undefined;
}

export interface RatePlan {
  readonly window: Window;
  readonly smoothed: SmoothingPlan | undefined;
  readonly throttle: { readonly retries: number; readonly intervalMs: number } | undefined;
}

interface EndpointPlan {
  readonly path: string;
  readonly method: string;
  readonly rate: RatePlan;
}

/** The rate limit of a request and its counter name. */
export interface ChosenRate {
  readonly name: string;
  readonly plan: RatePlan;
}

function compileRatePlan(rates: RateCounter, { rate, perSeconds, smoothing }: RateLimit, limits: KeyLimits): RatePlan {
  const { throttle } = limits;
  const rateWindow = rates.window(rate, perSeconds);
  // A throttled request retries: only the attempt that is allowed may count.
  const window = throttle ? { ...rateWindow, countsRefused: false } : rateWindow;
  return {
    window,
    smoothed: smoothing && compileSmoothing(window, smoothing),
    throttle: throttle && { retries: throttle.retries, intervalMs: throttle.intervalSeconds * 1000 },
  };
}

export function createLimitPlans(
  { model, version, services }: StepContext<Pick<LimitServices, 'log' | 'settings'>>,
  rates: RateCounter,
) {
  const plans = new WeakMap<Right, LimitPlan>();
  const context = { model, version, settings: services.settings };
  const apiId = model.identity.id;

  function compilePlan({ limits, scope, endpoints }: Right): LimitPlan {
    return {
      rate: limits.rate && compileRatePlan(rates, limits.rate, limits),
      quota: limits.quota && quotaWindow(limits.quota),
      scope,
      endpoints: compileEndpointPlans(endpoints.map(it => ({ ...it, rate: compileRatePlan(rates, it.rate, limits) }))),
    };
  }

  function compileEndpointPlans(entries: readonly EndpointPlan[]): EndpointMatcher<EndpointPlan> | undefined {
    return createEndpointMatcher(entries.filter(isReadable), context);
  }

  /** An endpoint with an invalid pattern is left out: the rate of the key applies there. */
  function isReadable(entry: EndpointPlan): boolean {
    try {
      return createEndpointMatcher([entry], context) !== undefined;
    } catch (error) {
      if (!(error instanceof ApiCompileError)) throw error;
      services.log.warn({ api: apiId, reason: error.message }, 'endpoint limit of a key is invalid, ignored');
      return false;
    }
  }

  return {
    get(right: Right): LimitPlan {
      let plan = plans.get(right);
      if (!plan) {
        plan = compilePlan(right);
        plans.set(right, plan);
      }
      return plan;
    },
    /** The limit of the endpoint, else that of the key. */
    rateFor(call: Exchange, owner: string, plan: LimitPlan): ChosenRate | undefined {
      const endpoint =
        plan.endpoints?.find(call) ??
        (call.isPathAmbiguous ? plan.endpoints?.find(call, stripMatrixParameters) : undefined);
      if (endpoint) return { name: endpointCounter(owner, apiId, endpoint), plan: endpoint.rate };
      return plan.rate && { name: rateCounter(owner, plan.scope), plan: plan.rate };
    },
  };
}
