import type { Settings } from '#base/settings.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { type BoundedRegex, compileBoundedRegex } from '../pipeline/bounded-regex.ts';
import { createEndpointMatcher, type MatcherContext } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** Which responses to a request are stored, and for how long. */
export interface CacheRules {
  readonly ttlMs: number;
  /** Cacheable statuses; undefined: any. */
  readonly statuses: ReadonlySet<number> | undefined;
  /** Selects the part of the request body for the cache key; undefined: the whole body. */
  readonly bodyPattern: BoundedRegex | undefined;
  /** The response header with the TTL, where the upstream controls it. */
  readonly ttlHeader: string | undefined;
}

export interface CachePolicy {
  /** Undefined for requests whose responses are not stored. */
  rulesFor(call: Exchange): CacheRules | undefined;
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const defaultTtlHeader = 'x-gw-cache-action-set-ttl';
/** The pattern runs over whole bodies on the event loop: it must be a small one. */
const maxBodyPatternInstructions = 500;

/** `timed`: for the time of the definition, per client; `http`: by the rules of RFC 9111. */
export const selectCacheMode = ({ cache }: Pick<Model, 'cache'>, settings: Settings): 'timed' | 'http' =>
  cache.mode || settings['cache.default_mode'];

/** Undefined where the definition caches nothing. */
export function createCachePolicy(
  model: MatcherContext['model'] & Pick<Model, 'cache'>,
  version: MatcherContext['version'] & { readonly endpoints: Pick<VersionModel['endpoints'], 'cache'> },
  settings: Settings,
): CachePolicy | undefined {
  const { cache } = model;
  if (!cache.enabled) return undefined;
  const usesUpstreamTtl = cache.enableUpstreamCacheControl;
  const isHttp = selectCacheMode(model, settings) === 'http';
  const common = {
    ttlHeader: usesUpstreamTtl ? (cache.controlTTLHeaderName || defaultTtlHeader).toLowerCase() : undefined,
  };
  const apiRules: CacheRules = {
    ...common,
    ttlMs: Math.max(0, cache.timeout) * 1000,
    statuses: toStatusSet(cache.cacheResponseCodes),
    bodyPattern: undefined,
  };
  // By the rules of HTTP the response alone decides.
  const cachesAnything = ({ ttlMs }: CacheRules) => ttlMs > 0 || usesUpstreamTtl || isHttp;
  const endpoints = version.endpoints.cache.map(({ path, method, timeout, cacheResponseCodes, cacheByRegex }) => ({
    path,
    method,
    rules: {
      ...common,
      ttlMs: timeout > 0 ? timeout * 1000 : apiRules.ttlMs,
      statuses: toStatusSet(cacheResponseCodes) ?? apiRules.statuses,
      bodyPattern: cacheByRegex === '' ? undefined : compileBodyPattern(cacheByRegex),
    },
  }));
  const matcher = createEndpointMatcher(endpoints, { model, version, settings });
  const cachesSafeMethods = cache.cacheAllSafeRequests && cachesAnything(apiRules);
  if (!cachesSafeMethods && !endpoints.some(({ rules }) => cachesAnything(rules))) return undefined;
  return {
    rulesFor(call) {
      const endpointRules = matcher?.find(call)?.rules;
      if (endpointRules) return cachesAnything(endpointRules) ? endpointRules : undefined;
      return cachesSafeMethods && safeMethods.has(call.method) ? apiRules : undefined;
    },
  };
}

/** True where requests may loop to another API instead of an upstream. */
export const hasLoopTarget = (
  { upstream, loadBalancing }: Pick<Model, 'upstream' | 'loadBalancing'>,
  { version }: Pick<VersionModel, 'version'>,
): boolean =>
  [upstream.url, version.overrideTarget, ...loadBalancing.targets.map(({ url }) => url)].some(it => /^gw:/i.test(it));

const toStatusSet = (codes: readonly number[]) => (codes.length > 0 ? new Set(codes) : undefined);

const compileBodyPattern = (source: string) =>
  compileBoundedRegex('the pattern for bodies of cached calls', source, {
    maxInstructions: maxBodyPatternInstructions,
  });
