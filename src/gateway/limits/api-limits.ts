import type { CounterResult, Window } from '#storage/shared/shared.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { skipsLimits } from '../pipeline/loops.ts';
import { limitMessages } from '../pipeline/message-limits.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { createRateCounter, type RateCounter, toLimitState } from './rate-counter.ts';
import { createTooManyRequests } from './rate-limit-headers.ts';
import type { LimitServices } from './services.ts';

type Services = Pick<LimitServices, 'clock' | 'counters' | 'emitEvent' | 'settings'>;

const reads = { api: ['rateLimit'], endpoints: ['rateLimit'], also: { api: ['skips'] } } as const satisfies StepReads;

/** Rate limit of an API or one of its endpoints, over all clients. */
export const apiLimitsStep: Step<Services, typeof reads> = {
  name: 'api-limits',
  reads,
  build(context) {
    const { model, services } = context;
    const rates = createRateCounter(services);
    const apiLimit = compileApiLimit(context, rates);
    const endpoints = compileEndpointLimits(context, rates);
    if (model.skips.rateLimit || (!apiLimit && !endpoints)) return undefined;
    const { orgId, id } = model.identity;
    const key = `apilimiter-${orgId}${id}`;
    const rejectTooManyRequests = createTooManyRequests(services);

    function evaluate(call: Exchange, window: Window, taken: CounterResult): StepResult {
      const state = toLimitState(window, taken);
      call.rate ??= state;
      if (taken.allowed) return undefined;
      call.rate = state;
      services.emitEvent('RatelimitExceeded', call, 'API Rate Limit Exceeded', { key });
      return rejectTooManyRequests(call, 'api_rate_exceeded', taken);
    }

    return {
      request: limitMessages(call => {
        const limit = skipsLimits(call) ? undefined : (endpoints?.find(call) ?? apiLimit);
        if (!limit) return undefined;
        const taken = rates.take(limit.name, limit.window, services.clock.now());
        if (taken instanceof Promise) return taken.then(it => evaluate(call, limit.window, it));
        return evaluate(call, limit.window, taken);
      }),
    };
  },
};

interface Limit {
  readonly name: string;
  readonly window: Window;
}

/** A limit needs a rate and a period. */
const isSet = ({ rate, perSeconds }: { rate: number; perSeconds: number }) => rate > 0 && perSeconds > 0;

function compileApiLimit(
  { model: { identity, rateLimit } }: StepContext<Services, typeof reads>,
  rates: RateCounter,
): Limit | undefined {
  if (!rateLimit.enabled || !isSet(rateLimit)) return undefined;
  return { name: `api:${identity.id}`, window: rates.window(rateLimit.rate, rateLimit.perSeconds) };
}

function compileEndpointLimits(
  { model, version, services: { settings } }: StepContext<Services, typeof reads>,
  rates: RateCounter,
) {
  const entries = version.endpoints.rateLimit.filter(isSet).map(({ path, method, rate, perSeconds }) => ({
    path,
    method,
    name: `api:${model.identity.id} ${version.key.length}:${version.key} ${method} ${path}`,
    window: rates.window(rate, perSeconds),
  }));
  return createEndpointMatcher(entries, { model, version, settings });
}
