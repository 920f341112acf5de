import type { Settings } from '#base/settings.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { type OperatorPattern, operatorPattern } from '../pipeline/bounded-regex.ts';
import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** What is kept of the answers to a call, and for how long. */
export interface Rules {
  readonly ttlMs: number;
  /** Undefined: any. */
  readonly statuses: ReadonlySet<number> | undefined;
  /** The part of the body that makes calls different; undefined: all of it. */
  readonly pattern: OperatorPattern | undefined;
  /** The header in which the upstream says how long, where it has the say. */
  readonly ttlHeader: string | undefined;
}

export interface Plan {
  /** Undefined for calls whose answers are not kept. */
  rulesFor(call: Exchange): Rules | undefined;
}

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);
const usualTtlHeader = 'x-gw-cache-action-set-ttl';
/** A body is searched while others wait: the pattern must be a small one. */
const mostInstructions = 500;

/** Undefined for a definition that has nothing kept. */
export function cachePlan(model: Model, version: VersionModel, settings: Settings): Plan | undefined {
  const { cache } = model;
  if (!cache.enabled) return undefined;
  const upstreamDecides = cache.enableUpstreamCacheControl;
  const common = {
    ttlHeader: upstreamDecides ? (cache.controlTTLHeaderName || usualTtlHeader).toLowerCase() : undefined,
  };
  const ofApi: Rules = {
    ...common,
    ttlMs: Math.max(0, cache.timeout) * 1000,
    statuses: statusesOf(cache.cacheResponseCodes),
    pattern: undefined,
  };
  const keepsAnything = ({ ttlMs }: Rules) => ttlMs > 0 || upstreamDecides;
  const endpoints = version.endpoints.cache.map(({ path, method, timeout, cacheResponseCodes, cacheByRegex }) => ({
    path,
    method,
    rules: {
      ...common,
      ttlMs: timeout > 0 ? timeout * 1000 : ofApi.ttlMs,
      statuses: statusesOf(cacheResponseCodes) ?? ofApi.statuses,
      pattern: cacheByRegex === '' ? undefined : bodyPattern(cacheByRegex),
    },
  }));
  const matcher = endpointMatcher(endpoints, { model, version, settings });
  const everything = cache.cacheAllSafeRequests && keepsAnything(ofApi);
  if (!everything && !endpoints.some(({ rules }) => keepsAnything(rules))) return undefined;
  return {
    rulesFor(call) {
      const found = matcher?.find(call)?.rules;
      if (found) return keepsAnything(found) ? found : undefined;
      return everything && safe.has(call.method) ? ofApi : undefined;
    },
  };
}

/** Whether calls may be handed to another API instead of an upstream. */
export const loops = ({ upstream, loadBalancing }: Model, { version }: VersionModel): boolean =>
  [upstream.url, version.overrideTarget, ...loadBalancing.targets.map(({ url }) => url)].some(it => /^gw:/i.test(it));

const statusesOf = (codes: readonly number[]) => (codes.length > 0 ? new Set(codes) : undefined);

const bodyPattern = (source: string) =>
  operatorPattern('the pattern for bodies of cached calls', source, { maxInstructions: mostInstructions });
