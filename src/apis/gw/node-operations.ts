import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { messageResponse, toOkMessage } from '#operations/shapes.ts';
import type { DataPlaneControl } from '../api/data-plane.ts';
import type { ApiStore } from '../api/store.ts';
import { problem as apisProblem } from '../problems.ts';
import { problem } from './problems.ts';
import { params, requireAuditedApi } from './shared-operations.ts';

export interface NodeServices {
  apis: ApiStore;
  traffic: DataPlaneControl;
}

const declared = { surface: 'gateway', permission: 'secret' } as const;

export const reloadGateway = operation({
  ...declared,
  noun: 'reload',
  name: 'reloadGateway',
  method: 'GET',
  path: '/gw/reload',
  about:
    'Reloads changes. Every change is live within a second without it; with block=true the response waits until all traffic threads of this process have loaded it.',
  query: z.object({ block: z.string().max(100).optional().describe('true waits for the end of the reload') }),
  returns: messageResponse,
  async handle({ query: { block } }, { traffic }: Pick<NodeServices, 'traffic'>) {
    const reloaded = traffic.reload();
    if (block === 'true') await reloaded;
    // Not awaited: the threads poll for changes every second.
    else reloaded.catch(() => undefined);
    return toOkMessage('');
  },
});

export const reloadGatewayGroup = operation({
  ...declared,
  noun: 'reload',
  name: 'reloadGatewayGroup',
  method: 'GET',
  path: '/gw/reload/group',
  about: 'Reloads changes. Every gateway on the same database loads changes within a second without it.',
  returns: messageResponse,
  async handle(_call, { traffic }: Pick<NodeServices, 'traffic'>) {
    traffic.reload().catch(() => undefined);
    return toOkMessage('');
  },
});

/** Member names that existing clients expect, including the misspelling. */
const Health = z.object({
  throttle_reqests_per_second: z.number(),
  quota_violations_per_second: z.number(),
  key_failures_per_second: z.number(),
  average_upstream_latency: z.number(),
  average_requests_per_second: z.number(),
});

export const getApiHealth = operation({
  ...declared,
  noun: 'health',
  name: 'getApiHealth',
  method: 'GET',
  path: '/gw/health',
  about:
    'Returns statistics of the requests of an API in the last minute on this process: requests per second, and upstream latency in milliseconds.',
  query: z.object({ api_id: z.string().max(64).optional().describe('Public or database id of the API') }),
  returns: Health,
  problems: [problem.api_id_missing, problem.api_id_unknown],
  async handle({ query: { api_id: apiId } }, { apis, traffic }: NodeServices) {
    if (!apiId) throw problem.api_id_missing();
    const api = await apis.getAnywhere(apiId);
    if (!api) throw problem.api_id_unknown();
    const stats = await traffic.stats(api.api_id);
    const perSecond = (count: number) => count / stats.seconds;
    return {
      throttle_reqests_per_second: perSecond(stats.rateRefused),
      quota_violations_per_second: perSecond(stats.quotaRefused),
      key_failures_per_second: perSecond(stats.keyRefused),
      average_upstream_latency: stats.upstreamCalls === 0 ? 0 : stats.upstreamMs / stats.upstreamCalls,
      average_requests_per_second: perSecond(stats.calls),
    };
  },
});

const cache = { ...declared, noun: 'cache', method: 'DELETE', returns: messageResponse } as const;
const cacheInvalidated = toOkMessage('cache invalidated');

export const purgeApiCache = operation({
  ...cache,
  name: 'purgeApiCache',
  path: '/gw/cache/{apiId}',
  about: 'Purges the cached responses of an API.',
  params,
  problems: [apisProblem.api_not_found],
  async handle({ params: { apiId }, audit }, { apis, traffic }: NodeServices) {
    const { api_id } = await requireAuditedApi(apis, apiId, audit);
    await traffic.purgeResponseCache(api_id);
    return cacheInvalidated;
  },
});

export const clearJwksCache = operation({
  ...cache,
  name: 'clearJwksCache',
  path: '/gw/cache/jwks',
  about: 'Clears the cached JWKS of all token issuers.',
  async handle(_call, { traffic }: Pick<NodeServices, 'traffic'>) {
    await traffic.clearJwksCache();
    return cacheInvalidated;
  },
});

export const clearApiJwksCache = operation({
  ...cache,
  name: 'clearApiJwksCache',
  path: '/gw/cache/jwks/{apiId}',
  about: 'Clears the cached JWKS that an API references.',
  params,
  problems: [apisProblem.api_not_found],
  async handle({ params: { apiId }, audit }, { apis, traffic }: NodeServices) {
    const { api_id } = await requireAuditedApi(apis, apiId, audit);
    await traffic.clearJwksCache(api_id);
    return cacheInvalidated;
  },
});

export const gwNodeOperations = [
  reloadGateway,
  reloadGatewayGroup,
  getApiHealth,
  purgeApiCache,
  clearJwksCache,
  clearApiJwksCache,
];
