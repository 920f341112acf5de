import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, queryFlag, toPageRequest } from '#operations/shapes.ts';
import { toApiView, toCompressedView } from '../api/rules.ts';
import { apiPage } from '../api/schema.ts';
import { maskSecretsFor } from '../api/secrets.ts';
import { type ApiFilter, type ApiOrder, type ApiStore, apiOrders } from '../api/store.ts';
import { intersectIds } from '../owners/intersect-ids.ts';
import type { Ownership } from '../owners/store.ts';

interface ListServices {
  apis: ApiStore;
  settings: Settings;
  ownership: Ownership;
}

const declared = { surface: 'dashboard', noun: 'apis', permission: 'apis:read' } as const;
const newest: ApiOrder = '-created_at';
const namePart = z.string().max(500).optional().describe('Part of the name, case-insensitive');

const words = z
  .string()
  .max(2000)
  .transform(text => [...new Set(text.split(',').map(word => word.trim()))].filter(Boolean));
const maxIdsLength = 20_000;
const idWords = z
  .string()
  .max(maxIdsLength)
  .transform(text => [...new Set(text.split(',').map(id => id.trim()))].filter(Boolean));
const apiTypes = z.enum(['tcp', 'rest', 'graphql', 'udg', 'subgraph', 'supergraph', 'internal']);
const typeWords = words.pipe(z.array(apiTypes));

const listQuery = z.object({
  p: pageNumber,
  q: namePart,
  sort: z
    .enum(Object.keys(apiOrders) as [ApiOrder, ...ApiOrder[]])
    .default(newest)
    .describe('Member to sort by, with a leading - for descending'),
  category: words.optional().describe('Restricts the list to any of these categories, comma-separated'),
  auth_type: words
    .optional()
    .describe('Restricts the list to any of these auth types, such as keyless,authToken,jwt,oauth,ba,other'),
  api_type: typeWords.optional().describe('Restricts the list to any of these API types'),
  state: z.enum(['active', 'inactive']).optional().describe('Restricts the list to active or inactive APIs'),
  format: z.enum(['classic', 'oas', 'streams']).optional().describe('Restricts the list to one format of definition'),
  api_ids: idWords.optional().describe('Restricts the list to these public ids, comma-separated'),
  owned: queryFlag.default(false).describe('1 restricts the list to APIs that the caller owns, by name or by group'),
  base_apis: z.string().optional().describe('Any value omits APIs that are versions of others'),
  compressed: z.string().optional().describe('1 returns fewer members of each API'),
});
type ListQuery = z.output<typeof listQuery>;

export const listApis = operation({
  ...declared,
  name: 'listApis',
  method: 'GET',
  path: '/api/apis',
  about: 'Lists the APIs of the caller’s organisation in either format, newest first, without MCP proxies.',
  query: listQuery,
  returns: apiPage,
  async handle({ actor, query }, { apis, settings, ownership }: ListServices) {
    const { apiIds: hidden } = await ownership.findHidden(actor);
    const owned = query.owned ? await ownership.findOwned(actor) : undefined;
    const only = intersectIds(query.api_ids, owned);
    const filter = { ...buildListFilter(query), ...(only && { only }), hidden };
    const page = toPageRequest(query.p, settings['management.page_size']);
    const { items, pages } = await apis.page(actor.orgId, filter, query.sort, page);
    return {
      apis: items.map(api => (query.compressed === '1' ? toCompressedView : toApiView)(maskSecretsFor(actor, api))),
      pages,
    };
  },
});

const buildListFilter = (query: ListQuery): ApiFilter => ({
  exceptKind: 'mcp',
  ...(query.q && { name: query.q }),
  ...(query.category && { categories: query.category }),
  ...(query.auth_type && { authTypes: query.auth_type }),
  ...(query.api_type && { apiTypes: query.api_type }),
  ...(query.state && { isActive: query.state === 'active' }),
  ...(query.format && { kind: query.format }),
  ...(query.base_apis && { withoutVersions: true }),
});

export const searchApis = operation({
  ...declared,
  name: 'searchApis',
  method: 'GET',
  path: '/api/apis/search',
  about: 'Finds APIs whose name contains a text.',
  query: z.object({ q: namePart, p: pageNumber }),
  returns: apiPage,
  async handle({ actor, query: { q, p } }, { apis, settings, ownership }: ListServices) {
    const { apiIds: hidden } = await ownership.findHidden(actor);
    const page = toPageRequest(p, settings['management.page_size']);
    const filter = { exceptKind: 'mcp', hidden, ...(q && { name: q }) } as const;
    const { items, pages } = await apis.page(actor.orgId, filter, newest, page);
    return { apis: items.map(api => toApiView(maskSecretsFor(actor, api))), pages };
  },
});

export const listCategories = operation({
  ...declared,
  name: 'listCategories',
  method: 'GET',
  path: '/api/apis/categories',
  about: 'Lists the categories in use, each with its number of APIs.',
  returns: z.object({ categories: z.array(z.object({ name: z.string(), count: z.int() })) }),
  async handle({ actor }, { apis, ownership }: Pick<ListServices, 'apis' | 'ownership'>) {
    const { apiIds } = await ownership.findHidden(actor);
    return { categories: await apis.categoryCounts(actor.orgId, apiIds) };
  },
});

export const listApiGroups = operation({
  ...declared,
  name: 'listApiGroups',
  method: 'GET',
  path: '/api/apis/groups',
  about: 'Maps each category to the public ids of its APIs.',
  returns: z.record(z.string(), z.array(z.string())),
  async handle({ actor }, { apis, ownership }: Pick<ListServices, 'apis' | 'ownership'>) {
    const { apiIds } = await ownership.findHidden(actor);
    return Object.fromEntries(await apis.categoryMembers(actor.orgId, apiIds));
  },
});

export const apiListOperations = [listApis, searchApis, listCategories, listApiGroups];
