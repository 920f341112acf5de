import type { CounterResult, Window } from '#storage/shared/shared.ts';
import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Step, StepContext, StepResult } from '../pipeline/step.ts';
import { skipsLimits } from './loops.ts';
import { counted, type RateCounting, rateCounting } from './rate.ts';
import { tooMany } from './rate-limit-headers.ts';

/** How many calls the API, or one of its endpoints, takes from all callers together. */
export const apiLimits: Step = {
  name: 'api-limits',
  build(context) {
    const { model, services } = context;
    const rates = rateCounting(services);
    const whole = wholeLimit(context, rates);
    const endpoints = endpointLimits(context, rates);
    if (model.skips.rateLimit || (!whole && !endpoints)) return undefined;
    const { orgId, id } = model.identity;
    const key = `apilimiter-${orgId}${id}`;
    const refused = tooMany(services);

    function judged(call: Exchange, window: Window, taken: CounterResult): StepResult {
      const now = counted(window, taken);
      call.rate ??= now;
      if (taken.allowed) return undefined;
      call.rate = now;
      services.emitEvent('RatelimitExceeded', call, 'API Rate Limit Exceeded', { key });
      return refused(call, 'api_rate_exceeded', taken);
    }

    return {
      request(call) {
        const limit = skipsLimits(call) ? undefined : (endpoints?.find(call) ?? whole);
        if (!limit) return undefined;
        const taken = rates.take(limit.name, limit.window, services.clock.now());
        if (taken instanceof Promise) return taken.then(it => judged(call, limit.window, it));
        return judged(call, limit.window, taken);
      },
    };
  },
};

interface Limit {
  readonly name: string;
  readonly window: Window;
}

/** Without a rate or a period there is no limit. */
const isSet = ({ rate, perSeconds }: { rate: number; perSeconds: number }) => rate > 0 && perSeconds > 0;

function wholeLimit({ model: { identity, rateLimit } }: StepContext, rates: RateCounting): Limit | undefined {
  if (!rateLimit.enabled || !isSet(rateLimit)) return undefined;
  return { name: `api:${identity.id}`, window: rates.window(rateLimit.rate, rateLimit.perSeconds) };
}

function endpointLimits({ model, version, services: { settings } }: StepContext, rates: RateCounting) {
  const entries = version.endpoints.rateLimit.filter(isSet).map(({ path, method, rate, perSeconds }) => ({
    path,
    method,
    name: `api:${model.identity.id} ${version.key.length}:${version.key} ${method} ${path}`,
    window: rates.window(rate, perSeconds),
  }));
  return endpointMatcher(entries, { model, version, settings });
}
