import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { ReadGatewayUrl } from '../api/api-address.ts';
import { type ApiServices, changeApi } from '../api/changes.ts';
import { categoryList, normalizeCategories, type StoredApi } from '../api/schema.ts';
import type { ApiStore } from '../api/store.ts';
import { findBase, listVersions, versionListQuery, versionListResponse } from '../api/version-list.ts';
import { isDocumentApi } from '../gw/documents.ts';
import { problem as gwProblem } from '../gw/problems.ts';
import { problem } from '../problems.ts';
import { ApiUrl, buildApiUrls } from './api-urls.ts';
import { requireOwnDocument } from './documents.ts';

const params = z.object({ apiId: z.string().describe('Public or database id of the API') });
const declared = { surface: 'dashboard', noun: 'oas', params } as const;
const categoriesBody = z.object({ categories: categoryList });
const findProblems = [problem.detail_not_found, gwProblem.is_classic];

export const listDocumentUrls = operation({
  ...declared,
  name: 'listDocumentUrls',
  method: 'GET',
  path: '/api/apis/oas/{apiId}/urls',
  about: 'Lists the URLs at which the gateway serves an API, and the location of the version in a request.',
  permission: 'apis:read',
  returns: z.object({ api_id: z.string(), urls: z.array(ApiUrl) }),
  problems: findProblems,
  async handle(call, { apis, readGatewayUrl }: { apis: ApiStore; readGatewayUrl: ReadGatewayUrl }) {
    const api = await requireOwnDocument(apis, call);
    return { api_id: api.api_id, urls: buildApiUrls(api, await findBase(apis, api), readGatewayUrl()) };
  },
});

export const getDocumentCategories = operation({
  ...declared,
  name: 'getDocumentCategories',
  versioned: 'apis',
  method: 'GET',
  path: '/api/apis/oas/{apiId}/categories',
  about: 'Returns the categories of an API. They are stored beside its document.',
  permission: 'apis:read',
  returns: categoriesBody,
  problems: findProblems,
  async handle(call, { apis }: { apis: ApiStore }) {
    return { categories: [...(await requireOwnDocument(apis, call)).summary.categories] };
  },
});

export const updateDocumentCategories = operation({
  ...declared,
  name: 'updateDocumentCategories',
  versioned: 'apis',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/apis/oas/{apiId}/categories',
  about: 'Replaces the categories of an API; blank and repeated ones are dropped. Its document does not change.',
  permission: 'apis:write',
  body: categoriesBody,
  returns: statusResponse,
  problems: [problem.api_not_found, gwProblem.is_classic],
  async handle({ actor, params: { apiId }, body, audit }, services: ApiServices) {
    audit(apiId);
    const categories = normalizeCategories(body.categories);
    const withCategories = (api: StoredApi) => {
      if (!isDocumentApi(api)) throw gwProblem.is_classic();
      return { ...api, wrapper: { ...api.wrapper, categories } };
    };
    const change = { actor, orgId: actor.orgId, ref: apiId };
    audit((await changeApi(services, change, withCategories, problem.api_not_found)).api_id);
    return toStatus('API categories updated');
  },
});

export const listDocumentVersions = operation({
  ...declared,
  name: 'listDocumentVersions',
  method: 'GET',
  path: '/api/apis/oas/{apiId}/versions',
  about: 'Lists a base API and its versions: the base first, then by name.',
  permission: 'apis:read',
  query: versionListQuery,
  returns: versionListResponse.omit({ status: true }).extend({ pages: z.int() }),
  problems: [problem.api_not_found, problem.not_a_base],
  async handle({ actor, params: { apiId }, query }, { apis }: { apis: ApiStore }) {
    const api = await apis.get(actor.orgId, apiId);
    if (!api) throw problem.api_not_found();
    if (!isDocumentApi(api) || Object.keys(api.summary.versions).length === 0) throw problem.not_a_base();
    return { apis: (await listVersions(apis, api, query)).apis, pages: 1 };
  },
});

export const oasDetailOperations = [
  listDocumentUrls,
  getDocumentCategories,
  updateDocumentCategories,
  listDocumentVersions,
];
