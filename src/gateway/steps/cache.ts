import { type CachePolicy, createCachePolicy, hasLoopTarget, selectCacheMode } from '../cache/cache-policy.ts';
import { hasMethodOverride } from '../cache/client-headers.ts';
import { createHttpCaching } from '../cache/http-caching.ts';
import { isCacheableRequest } from '../cache/request-cache-control.ts';
import { createResponseCaching } from '../cache/response-caching.ts';
import type { CacheServices } from '../cache/services.ts';
import type { Exchange, StepHooks } from '../pipeline/exchange.ts';
import type { ChainContext, Step, StepReads } from '../pipeline/step.ts';

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
    const isHttp = selectCacheMode(model, services.settings) === 'http';
    const build = isHttp ? buildHttpHooks : buildTimedHooks;
    return build(context, policy);
  },
};

function buildTimedHooks(context: ChainContext<Services>, policy: CachePolicy): StepHooks {
  const caching = createResponseCaching(context);
  return {
    request(call) {
      const rules = policy.rulesFor(call);
      return rules && isCacheableRequest(call) ? caching.request(call, rules) : undefined;
    },
    // Before the head: a client that has the response gets no older one, on any thread.
    finalizeResponse(call) {
      if (isUnsafeSuccess(call)) caching.invalidate(call);
      return undefined;
    },
    captureBody: caching.captureBody,
    onFinish: caching.onFinish,
  };
}

function buildHttpHooks(context: ChainContext<Services>, policy: CachePolicy): StepHooks {
  const caching = createHttpCaching(context);
  return {
    request(call) {
      if (call.method !== 'GET' && call.method !== 'HEAD') return undefined;
      const rules = policy.rulesFor(call);
      return rules && isCacheableRequest(call) ? caching.request(call, rules) : undefined;
    },
    finalizeResponse(call, response) {
      if (isUnsafeSuccess(call)) caching.invalidate(call, response);
      return caching.finalizeResponse(call, response);
    },
    replaceRefusal: caching.replaceRefusal,
    captureBody: caching.captureBody,
    onFinish: caching.onFinish,
  };
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** A non-error response of the upstream to an unsafe method (RFC 9111, section 4.4). */
const isUnsafeSuccess = ({ method, headers, status, errorCode }: Exchange) =>
  errorCode === '' && status >= 200 && status < 400 && (!safeMethods.has(method) || hasMethodOverride(headers));
