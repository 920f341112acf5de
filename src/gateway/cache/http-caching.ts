import type { GatewayResponse } from '../http/response.ts';
import type { BodyCapture, Exchange } from '../pipeline/exchange.ts';
import type { ChainContext } from '../pipeline/step.ts';
import type { CacheRules } from './cache-policy.ts';
import { createHttpState, type HttpCachingServices } from './http-caching-state.ts';
import { createHttpInvalidation } from './http-invalidation.ts';
import { lookUpResponse } from './http-request-phase.ts';
import { finalizeHttpResponse, findStaleResponse } from './http-response-phase.ts';

/** Response caching of one API version by the rules of HTTP, as a shared cache (RFC 9111). */
export function createHttpCaching(context: ChainContext<HttpCachingServices>) {
  const state = createHttpState(context);
  const { pendings, revalidations, responseCache, owner, keys } = state;
  return {
    request: (call: Exchange, rules: CacheRules) => lookUpResponse(state, call, rules),
    finalizeResponse: (call: Exchange, response: GatewayResponse) => finalizeHttpResponse(state, call, response),
    replaceRefusal: (call: Exchange) => findStaleResponse(state, call),
    captureBody(call: Exchange, response: GatewayResponse): BodyCapture | undefined {
      const pending = pendings.get(call);
      return pending?.plan && state.store.capture(call, response, pending, pending.plan);
    },
    onFinish(call: Exchange): void {
      const pending = pendings.get(call);
      if (!pending) return;
      // Without a stored response every waiter goes upstream itself.
      pending.inFlight?.resolve(undefined);
      if (pending.revalidationKey !== undefined) revalidations.end(pending.revalidationKey);
    },
    invalidate: createHttpInvalidation(responseCache, owner.apiId, keys, context.services.settings),
  };
}
