import { z } from 'zod';
import type { FindApi } from '#access/api-lookup.ts';
import type { Ownership } from '#apis/owners/store.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, toPageRequest } from '#operations/shapes.ts';
import { problem } from './problems.ts';
import { parseDateRange, rangeParams, rangePath } from './range.ts';
import { usagePage } from './schema.ts';
import { type UsageGroup, type UsageQuery, type UsageStore, usageGroups, usageOrders } from './usage-store.ts';
import { toUsageItem } from './usage-views.ts';

interface UsageServices {
  usage: UsageStore;
  settings: Settings;
  findApi: FindApi;
  ownership: Ownership;
}

const declared = { surface: 'dashboard', noun: 'analytics', permission: 'analytics:read', method: 'GET' } as const;

const groupWords = z
  .string()
  .max(200)
  .transform(text => [...new Set(text.split(',').map(word => word.trim()))].filter(Boolean))
  .pipe(z.array(z.enum(usageGroups)));

const order = z
  .string()
  .max(50)
  .transform(text => text.toLowerCase())
  .pipe(z.enum(usageOrders));

const usageQueryMembers = {
  by: order.default('hits').describe('Member to sort by: Hits, Success, Error, Last_hit, Request_time, Latency'),
  sort: z.enum(['1', '-1']).default('-1').describe('1 for ascending, -1 for descending'),
  api_version: z.string().max(1000).optional().describe('Restricts the counts to one version'),
  res: z.enum(['day', 'hour']).optional().describe('Time resolution of the counts'),
  group_by: groupWords.optional().describe('Further dimensions to group by, comma-separated'),
  tags: z.string().max(0, 'usage is not kept by tag').optional().describe('Not supported'),
};
const pagedQuery = z.object({ ...usageQueryMembers, p: pageNumber });
/** Lists without pages by default. */
const wholeQuery = z.object({ ...usageQueryMembers, p: pageNumber.default(-1) });
type Query = z.output<typeof pagedQuery>;

type Filter = Pick<UsageQuery, 'apiId' | 'keyHash' | 'oauthId'>;

async function queryUsage(
  { usage, settings, ownership }: UsageServices,
  actor: Actor,
  params: z.output<typeof rangeParams>,
  query: Query,
  { groups, ...filter }: Filter & { groups: readonly UsageGroup[] },
) {
  const range = parseDateRange(params);
  const all = [...groups, ...(query.res ? [query.res] : []), ...(query.group_by ?? [])];
  const page = await usage.page(
    {
      ...filter,
      ...range,
      orgId: actor.orgId,
      hiddenApis: (await ownership.findHidden(actor)).apiIds,
      version: query.api_version,
      groups: [...new Set(all)],
      order: query.by,
      ascending: query.sort === '1',
    },
    toPageRequest(query.p, settings['management.page_size']),
  );
  return {
    data: page.items.map(toUsageItem),
    pages: page.pages,
    dropped: await usage.countLosses(range.from, range.to),
  };
}

export const usageOfApis = operation({
  ...declared,
  name: 'usageOfApis',
  path: `/api/usage/apis/${rangePath}`,
  about: 'Counts the requests of every API of the caller’s organisation, the most used first.',
  params: rangeParams,
  query: pagedQuery,
  returns: usagePage,
  async handle({ actor, params, query }, services: UsageServices) {
    return queryUsage(services, actor, params, query, { groups: ['api_id'] });
  },
});

export const usageOfApi = operation({
  ...declared,
  name: 'usageOfApi',
  path: `/api/usage/apis/{apiId}/${rangePath}`,
  about: 'Counts the requests of one API, also of a deleted one.',
  params: rangeParams.extend({ apiId: z.string() }),
  query: pagedQuery,
  returns: usagePage,
  problems: [problem.api_not_found],
  async handle({ actor, params, query }, services: UsageServices) {
    const api = await services.findApi(params.apiId, actor.orgId);
    const apiId = api?.apiId ?? params.apiId;
    const page = await queryUsage(services, actor, params, query, { groups: ['api_id'], apiId });
    if (!api && page.data.length === 0) throw problem.api_not_found();
    return page;
  },
});

export const activityOfKey = operation({
  ...declared,
  name: 'activityOfKey',
  path: `/api/activity/keys/{keyHash}/${rangePath}`,
  about:
    'Counts the requests of one key, found by its hash, by API and path; 00000000 stands for requests without a key.',
  params: rangeParams.extend({
    keyHash: z.string().regex(/^[0-9a-fA-F]{8,64}$/, 'must be the hash of a key'),
  }),
  query: wholeQuery,
  returns: usagePage,
  async handle({ actor, params, query }, services: UsageServices) {
    const filter = { keyHash: params.keyHash.toLowerCase() };
    return queryUsage(services, actor, params, query, { groups: ['api_id', 'path', 'key'], ...filter });
  },
});

export const activityOfOAuthClient = operation({
  ...declared,
  name: 'activityOfOAuthClient',
  path: `/api/activity/oauthid/{OAuthClientID}/${rangePath}`,
  about: 'Counts the requests with tokens of one OAuth client, by API and path.',
  params: rangeParams.extend({ OAuthClientID: z.string() }),
  query: wholeQuery,
  returns: usagePage,
  async handle({ actor, params, query }, services: UsageServices) {
    const filter = { oauthId: params.OAuthClientID };
    return queryUsage(services, actor, params, query, { groups: ['api_id', 'path', 'oauth_id'], ...filter });
  },
});

export const usageOperations = [usageOfApis, usageOfApi, activityOfKey, activityOfOAuthClient];
