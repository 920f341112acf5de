import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified, toWarningsMember } from '#operations/shapes.ts';
import { checkDefinition, putApi } from '../api/changes.ts';
import { classicExample } from '../api/examples.ts';

import { toClassicView } from '../api/rules.ts';
import { classicDefinition } from '../api/schema.ts';
import { versionQuery } from '../api/versions.ts';
import { problem as apisProblem, routeProblems } from '../problems.ts';
import {
  addBaseHeader,
  type GwApiServices,
  type ReadServices,
  replaceApi,
  requireApi,
  resolveDefinitionOwner,
} from './changes.ts';
import { problem } from './problems.ts';
import {
  createProblems,
  declared,
  defineDelete,
  defineListVersions,
  params,
  updateProblems,
} from './shared-operations.ts';

const classicView = z.looseObject({ api_id: z.string(), id: z.string(), org_id: z.string(), is_oas: z.boolean() });

export const listGatewayApis = operation({
  ...declared,
  name: 'listGatewayApis',
  method: 'GET',
  path: '/gw/apis',
  about: 'Lists the APIs of all organisations in the classic format, oldest first, without MCP proxies.',
  query: z.object({
    include_types: z
      .string()
      .max(200)
      .optional()
      .describe('API types that the list has besides, comma-separated: mcp for MCP proxies'),
  }),
  returns: z.array(classicView),
  async handle({ query }, { apis }: Pick<ReadServices, 'apis'>) {
    const withMcp = query.include_types?.split(',').some(type => type.trim() === 'mcp');
    return (await apis.all()).filter(({ kind }) => withMcp || kind !== 'mcp').map(toClassicView);
  },
});

export const createGatewayApi = operation({
  ...declared,
  name: 'createGatewayApi',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/gw/apis',
  about:
    'Creates a classic API, by itself or as a version of another one. Replaces an API with the same id in the same organisation; the action of the response is then modified.',
  query: versionQuery,
  body: classicDefinition,
  example: classicExample,
  returns: modifiedResponse,
  problems: createProblems,
  async handle({ actor, query, body, audit }, services: GwApiServices) {
    const written = checkDefinition('classic', body, services);
    const orgId = await resolveDefinitionOwner(services, written);
    const { api, action } = await putApi(services, { actor, orgId, written, version: query });
    audit(api.api_id, orgId);
    return { ...toModified(api.api_id, action), ...toWarningsMember(written) };
  },
});

export const getGatewayApi = operation({
  ...declared,
  name: 'getGatewayApi',
  versioned: 'apis',
  method: 'GET',
  path: '/gw/apis/{apiId}',
  about:
    'Returns an API in the classic format. The response header x-gw-base-api-id contains the id of the base API of a version.',
  params,
  returns: classicView,
  problems: [apisProblem.api_not_found],
  async handle({ params: { apiId }, header }, { apis }: Pick<ReadServices, 'apis'>) {
    const api = await requireApi(apis, apiId);
    await addBaseHeader(header, apis, api);
    return toClassicView(api);
  },
});

export const updateGatewayApi = operation({
  ...declared,
  name: 'updateGatewayApi',
  versioned: 'apis',
  method: 'PUT',
  changesTraffic: true,
  path: '/gw/apis/{apiId}',
  about: 'Replaces a classic definition.',
  params,
  body: classicDefinition,
  example: classicExample,
  returns: modifiedResponse,
  problems: [...updateProblems, problem.classic_only, ...routeProblems],
  async handle({ actor, params: { apiId }, body, audit }, services: GwApiServices) {
    audit(apiId);
    const written = checkDefinition('classic', body, services);
    const api = await replaceApi(services, { actor, ref: apiId }, ({ kind }) => {
      if (kind !== 'classic') throw problem.classic_only();
      return written;
    });
    audit(api.api_id, api.org_id);
    return { ...toModified(api.api_id, 'modified'), ...toWarningsMember(written) };
  },
});

export const deleteGatewayApi = defineDelete({
  name: 'deleteGatewayApi',
  path: '/gw/apis/{apiId}',
  about: 'Deletes an API of either format, and removes it from the versions of its base API and from policies.',
});

export const listGatewayApiVersions = defineListVersions({
  name: 'listGatewayApiVersions',
  path: '/gw/apis/{apiId}/versions',
});

export const gwClassicOperations = [
  listGatewayApis,
  createGatewayApi,
  getGatewayApi,
  updateGatewayApi,
  deleteGatewayApi,
  listGatewayApiVersions,
];
