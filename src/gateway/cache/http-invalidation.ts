import type { Settings } from '#base/settings.ts';
import { canonicalizePath, pathRulesOf } from '../http/path.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { createCacheKeys } from './cache-key.ts';
import type { ResponseCache } from './response-cache.ts';

type CacheKeys = ReturnType<typeof createCacheKeys>;

/** Fields whose URIs a successful unsafe request invalidates too (RFC 9111, section 4.4). */
const invalidatingFields = ['location', 'content-location'];

/** Invalidation of the target of an unsafe request, and of URIs of the same origin that its response names. */
export function createHttpInvalidation(cache: ResponseCache, apiId: string, keys: CacheKeys, settings: Settings) {
  const pathRules = pathRulesOf(settings);

  function remove(call: Exchange): void {
    cache.delete(apiId, keys.build(call, 'GET'));
    cache.delete(apiId, keys.buildShared(call));
  }

  return (call: Exchange, { headers }: GatewayResponse): void => {
    remove(call);
    for (const name of invalidatingFields) {
      const target = parseSameOrigin(call, headers.get(name));
      const path = target && canonicalizePath(target.pathname, pathRules);
      if (typeof path !== 'string') continue;
      const query = target!.search.slice(1);
      // The same client, and another URI; where that is rewritten, its key is another one.
      remove(Object.assign(Object.create(call), { path, query, rewrittenTarget: undefined }));
    }
  };
}

/** A URI of the origin of the request; undefined for those of others, which another party may control. */
function parseSameOrigin(call: Exchange, text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const base = `${call.peer.isTls ? 'https' : 'http'}://${call.headers.get('host') ?? call.host}`;
  if (!URL.canParse(call.target, base) || !URL.canParse(text, new URL(call.target, base))) return undefined;
  const target = new URL(text, new URL(call.target, base));
  return target.origin === new URL(base).origin ? target : undefined;
}
