import type { Exchange } from '../pipeline/exchange.ts';
import type { ChainContext } from '../pipeline/step.ts';
import { createCacheKeys } from './cache-key.ts';
import { createRevalidations, type HttpPending, type HttpResult } from './http-exchange.ts';
import { createHttpReplies } from './http-replies.ts';
import { createHttpStore } from './http-store.ts';
import { createCoalescer } from './request-coalescing.ts';
import { maxWaiters, waitTimeoutMs } from './response-caching.ts';
import type { CacheServices } from './services.ts';

export type HttpCachingServices = Pick<CacheServices, 'clock' | 'responseCache' | 'settings'>;

/** State of response caching of one API version. */
export type HttpCachingState = ReturnType<typeof createHttpState>;

export function createHttpState({ model, version, services }: ChainContext<HttpCachingServices>) {
  const { responseCache, clock } = services;
  const owner = { orgId: model.identity.orgId, apiId: model.identity.id };
  const coalescer = createCoalescer<HttpResult>({ clock, waitTimeoutMs, maxWaiters });
  return {
    ...{ responseCache, clock, owner, coalescer },
    keys: createCacheKeys(model, version),
    pendings: new WeakMap<Exchange, HttpPending>(),
    revalidations: createRevalidations(clock.now),
    replies: createHttpReplies(services),
    store: createHttpStore(services, owner, coalescer),
  };
}
