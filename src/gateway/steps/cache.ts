import { createCachePolicy, hasLoopTarget } from '../cache/cache-policy.ts';
import { hasMethodOverride } from '../cache/client-headers.ts';
import { isCacheableRequest } from '../cache/request-cache-control.ts';
import { createResponseCaching } from '../cache/response-caching.ts';
import type { CacheServices } from '../cache/services.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

type Services = Pick<CacheServices, 'clock' | 'responseCache' | 'settings'>;

const reads = { api: ['cache'], endpoints: ['cache'], also: 'whole definition' } as const satisfies StepReads;

/** Response caching (RFC 9111). */
export const cacheStep: Step<Services, typeof reads> = {
  name: 'cache',
  reads,
  build(context) {
    const { model, version, services } = context;
    const policy = createCachePolicy(model, version, services.settings);
    // A loop is cached by the API that ends it.
    if (!policy || hasLoopTarget(model, version)) return undefined;
    const caching = createResponseCaching(context);
    return {
      request(call) {
        const rules = policy.rulesFor(call);
        return rules && isCacheableRequest(call) ? caching.request(call, rules) : undefined;
      },
      captureBody: caching.captureBody,
      onFinish(call) {
        caching.onFinish(call);
        if (isUnsafeSuccess(call)) caching.invalidate(call);
      },
    };
  },
};

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** A non-error response of the upstream to an unsafe method (RFC 9111, section 4.4). */
const isUnsafeSuccess = ({ method, headers, status, errorCode, upstreamStartedAt }: Exchange) =>
  errorCode === '' &&
  upstreamStartedAt > 0 &&
  status >= 200 &&
  status < 400 &&
  (!safeMethods.has(method) || hasMethodOverride(headers));
