import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified, toWarningsMember } from '#operations/shapes.ts';
import { problem as people } from '#people/problems.ts';
import { checkDefinition, putApi, removeApi } from '../api/changes.ts';
import { toClassicView } from '../api/rules.ts';
import { classicDefinition } from '../api/schema.ts';
import { listVersions, versionListQuery, versionListResponse } from '../api/version-list.ts';
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

const declared = { surface: 'gateway', noun: 'apis', permission: 'secret' } as const;
export const params = z.object({ apiId: z.string().describe('The public id or the database id') });
const classicView = z.looseObject({ api_id: z.string(), id: z.string(), org_id: z.string(), is_oas: z.boolean() });

/** What may be wrong with making an API, in either form. */
export const createProblems = [
  people.organisation_unknown,
  apisProblem.id_exists,
  apisProblem.other_form,
  ...routeProblems,
  apisProblem.version_name_missing,
  apisProblem.base_name_missing,
  apisProblem.base_not_found,
  apisProblem.base_is_self,
  apisProblem.base_of_other_form,
  apisProblem.version_exists,
];
export const updateProblems = [apisProblem.api_not_found, problem.other_id, problem.other_organisation];

export const listGatewayApis = operation({
  ...declared,
  name: 'listGatewayApis',
  method: 'GET',
  path: '/gw/apis',
  about: 'Lists the APIs of all organisations in the classic form, oldest first.',
  returns: z.array(classicView),
  async handle(_call, { apis }: Pick<ReadServices, 'apis'>) {
    return (await apis.all()).map(toClassicView);
  },
});

export const createGatewayApi = operation({
  ...declared,
  name: 'createGatewayApi',
  method: 'POST',
  path: '/gw/apis',
  about:
    'Makes a classic API, by itself or as a version of another one. One that has the same id is replaced, within its organisation, and the answer says modified.',
  query: versionQuery,
  body: classicDefinition,
  returns: modifiedResponse,
  problems: createProblems,
  async handle({ query, body, audit }, services: GwApiServices) {
    const written = checkDefinition('classic', body, services);
    const orgId = await resolveDefinitionOwner(services, written);
    const { api, action } = await putApi(services, { orgId, written, version: query });
    audit(api.api_id, orgId);
    return { ...toModified(api.api_id, action), ...toWarningsMember(written) };
  },
});

export const getGatewayApi = operation({
  ...declared,
  name: 'getGatewayApi',
  method: 'GET',
  path: '/gw/apis/{apiId}',
  about: 'Reads an API in the classic form. The header x-gw-base-api-id names the API it is a version of.',
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
  method: 'PUT',
  path: '/gw/apis/{apiId}',
  about: 'Replaces a classic definition whole.',
  params,
  body: classicDefinition,
  returns: modifiedResponse,
  problems: [...updateProblems, problem.classic_only, ...routeProblems],
  async handle({ params: { apiId }, body, audit }, services: GwApiServices) {
    audit(apiId);
    const written = checkDefinition('classic', body, services);
    const api = await replaceApi(services, apiId, ({ kind }) => {
      if (kind !== 'classic') throw problem.classic_only();
      return written;
    });
    audit(api.api_id, api.org_id);
    return { ...toModified(api.api_id, 'modified'), ...toWarningsMember(written) };
  },
});

export const deleteGatewayApi = operation({
  ...declared,
  name: 'deleteGatewayApi',
  method: 'DELETE',
  path: '/gw/apis/{apiId}',
  about: 'Removes an API in either form, also from the versions of its base and from the policies that grant it.',
  params,
  returns: modifiedResponse,
  problems: [apisProblem.api_not_found],
  async handle({ params: { apiId }, audit }, services: GwApiServices) {
    audit(apiId);
    const { api_id, org_id } = await requireApi(services.apis, apiId);
    audit(api_id, org_id);
    await removeApi(services, org_id, api_id);
    return toModified(api_id, 'deleted');
  },
});

export const listGatewayApiVersions = operation({
  ...declared,
  name: 'listGatewayApiVersions',
  method: 'GET',
  path: '/gw/apis/{apiId}/versions',
  about: 'Lists the versions of an API, or those it is one of: the base first, then by name.',
  params,
  query: versionListQuery,
  returns: versionListResponse,
  problems: [apisProblem.api_not_found],
  async handle({ params: { apiId }, query }, { apis }: Pick<ReadServices, 'apis'>) {
    return listVersions(apis, await requireApi(apis, apiId), query);
  },
});

export const gwClassicOperations = [
  listGatewayApis,
  createGatewayApi,
  getGatewayApi,
  updateGatewayApi,
  deleteGatewayApi,
  listGatewayApiVersions,
];
