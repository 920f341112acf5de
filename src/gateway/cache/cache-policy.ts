import type { Settings } from '#base/settings.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { type BoundedRegex, compileBoundedRegex } from '../pipeline/bounded-regex.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** What is kept of the answers to a call, and for how long. */
export interface CacheRules {
  readonly ttlMs: number;
  /** Undefined: any. */
  readonly statuses: ReadonlySet<number> | undefined;
  /** The part of the body that makes calls different; undefined: all of it. */
  readonly pattern: BoundedRegex | undefined;
  /** The header in which the upstream says how long, where it has the say. */
  readonly ttlHeader: string | undefined;
}

export interface CachePolicy {
  /** Undefined for calls whose answers are not kept. */
  rulesFor(call: Exchange): CacheRules | undefined;
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const defaultTtlHeader = 'x-gw-cache-action-set-ttl';
/** A body is searched while others wait: the pattern must be a small one. */
const maxBodyPatternInstructions = 500;

/** Undefined for a definition that has nothing kept. */
export function createCachePolicy(model: Model, version: VersionModel, settings: Settings): CachePolicy | undefined {
  const { cache } = model;
  if (!cache.enabled) return undefined;
  const usesUpstreamTtl = cache.enableUpstreamCacheControl;
  const common = {
    ttlHeader: usesUpstreamTtl ? (cache.controlTTLHeaderName || defaultTtlHeader).toLowerCase() : undefined,
  };
  const apiRules: CacheRules = {
    ...common,
    ttlMs: Math.max(0, cache.timeout) * 1000,
    statuses: toStatusSet(cache.cacheResponseCodes),
    pattern: undefined,
  };
  const cachesAnything = ({ ttlMs }: CacheRules) => ttlMs > 0 || usesUpstreamTtl;
  const endpoints = version.endpoints.cache.map(({ path, method, timeout, cacheResponseCodes, cacheByRegex }) => ({
    path,
    method,
    rules: {
      ...common,
      ttlMs: timeout > 0 ? timeout * 1000 : apiRules.ttlMs,
      statuses: toStatusSet(cacheResponseCodes) ?? apiRules.statuses,
      pattern: cacheByRegex === '' ? undefined : compileBodyPattern(cacheByRegex),
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

/** Whether calls may be handed to another API instead of an upstream. */
export const hasLoopTarget = ({ upstream, loadBalancing }: Model, { version }: VersionModel): boolean =>
  [upstream.url, version.overrideTarget, ...loadBalancing.targets.map(({ url }) => url)].some(it => /^gw:/i.test(it));

const toStatusSet = (codes: readonly number[]) => (codes.length > 0 ? new Set(codes) : undefined);

const compileBodyPattern = (source: string) =>
  compileBoundedRegex('the pattern for bodies of cached calls', source, {
    maxInstructions: maxBodyPatternInstructions,
  });
