import { z } from 'zod';
import { freeForm } from '#base/members.ts';
import { oasSchema } from '#definition/oas.ts';
import { patchedOas } from '#definition/oas-patch.ts';
import { operation } from '#operations/operation.ts';
import { listWarnings, modified, modifiedAnswer } from '#operations/shapes.ts';
import { putApi, removeApi } from '../api/changes.ts';
import { documented } from '../api/schema.ts';
import { versionList, versionListAnswer, versionListQuery } from '../api/version-list.ts';
import { versionQuery } from '../api/versions.ts';
import { problem as apisProblem, routeProblems } from '../problems.ts';
import { foundApi, type GwApiTools, ownerOfWritten, type ReadTools, replaceApi, tellBase } from './changes.ts';
import { changingProblems, makingProblems, params } from './classic-operations.ts';
import {
  checkedDocument,
  checkedMade,
  configurationQuery,
  documentShown,
  foundDocument,
  importAsked,
  isDocumentApi,
  isPublic,
  modeQuery,
  refuseSwagger,
} from './documents.ts';
import { problem } from './problems.ts';

const declared = { surface: 'gateway', noun: 'apis', permission: 'secret' } as const;
const body = documented(oasSchema);
const shown = z.looseObject({});

export const listGatewayDocuments = operation({
  ...declared,
  name: 'listGatewayDocuments',
  method: 'GET',
  path: '/gw/apis/oas',
  about: 'Lists the documents of all APIs written in the OpenAPI form, of every organisation, oldest first.',
  query: modeQuery,
  returns: z.array(shown),
  async handle({ query }, { apis, settings }: ReadTools) {
    const found = (await apis.all()).filter(isDocumentApi);
    return found.map(api => documentShown(api, isPublic(query), settings));
  },
});

export const createGatewayDocument = operation({
  ...declared,
  name: 'createGatewayDocument',
  method: 'POST',
  path: '/gw/apis/oas',
  about:
    'Makes an API from an OpenAPI document that holds x-gw-api-gateway. One that has the same id is replaced, within its organisation, and the answer says modified.',
  query: versionQuery,
  body,
  accepts: 'document',
  returns: modifiedAnswer,
  problems: [problem.extension_missing, ...makingProblems],
  async handle({ query, body: given, audit }, tools: GwApiTools) {
    const written = checkedDocument(given, tools);
    const orgId = await ownerOfWritten(tools, written);
    const { api, action } = await putApi(tools, { orgId, written, version: query });
    audit(api.api_id, orgId);
    return { ...modified(api.api_id, action), ...listWarnings(written) };
  },
});

export const getGatewayDocument = operation({
  ...declared,
  name: 'getGatewayDocument',
  method: 'GET',
  path: '/gw/apis/oas/{apiId}',
  about: 'Reads the document of an API. The header x-gw-base-api-id names the API it is a version of.',
  params,
  query: modeQuery,
  returns: shown,
  problems: [apisProblem.api_not_found, problem.is_classic],
  async handle({ params: { apiId }, query, header }, { apis, settings }: ReadTools) {
    const api = await foundDocument(apis, apiId);
    await tellBase(header, apis, api);
    return documentShown(api, isPublic(query), settings);
  },
});

export const updateGatewayDocument = operation({
  ...declared,
  name: 'updateGatewayDocument',
  method: 'PUT',
  path: '/gw/apis/oas/{apiId}',
  about: 'Replaces the document of an API whole.',
  params,
  body,
  accepts: 'document',
  returns: modifiedAnswer,
  problems: [problem.extension_missing, problem.oas_for_classic, ...changingProblems, ...routeProblems],
  async handle({ params: { apiId }, body: given, audit }, tools: GwApiTools) {
    audit(apiId);
    const written = checkedDocument(given, tools);
    const api = await replaceApi(tools, apiId, before => {
      if (!isDocumentApi(before)) throw problem.oas_for_classic();
      return written;
    });
    audit(api.api_id, api.org_id);
    return { ...modified(api.api_id, 'modified'), ...listWarnings(written) };
  },
});

export const patchGatewayDocument = operation({
  ...declared,
  name: 'patchGatewayDocument',
  method: 'PATCH',
  path: '/gw/apis/oas/{apiId}',
  about:
    'Replaces the OpenAPI part of a document and keeps what the gateway knows of the API, changed as the parameters ask. A document that holds x-gw-api-gateway replaces that too.',
  params,
  query: configurationQuery,
  body: freeForm(z.looseObject({})),
  accepts: 'document',
  returns: modifiedAnswer,
  problems: [problem.oas_for_classic, ...changingProblems, ...routeProblems],
  async handle({ params: { apiId }, query, body: given, audit }, tools: GwApiTools) {
    audit(apiId);
    refuseSwagger(given);
    const asked = importAsked(query);
    let warned: ReturnType<typeof listWarnings> = {};
    const api = await replaceApi(tools, apiId, before => {
      if (!isDocumentApi(before)) throw problem.oas_for_classic();
      const written = checkedMade(patchedOas(before.definition, given, asked), tools);
      warned = listWarnings(written);
      return written;
    });
    audit(api.api_id, api.org_id);
    return { ...modified(api.api_id, 'modified'), ...warned };
  },
});

export const deleteGatewayDocument = operation({
  ...declared,
  name: 'deleteGatewayDocument',
  method: 'DELETE',
  path: '/gw/apis/oas/{apiId}',
  about: 'Removes an API written in the OpenAPI form, also from the versions of its base and from policies.',
  params,
  returns: modifiedAnswer,
  problems: [apisProblem.api_not_found],
  async handle({ params: { apiId }, audit }, tools: GwApiTools) {
    audit(apiId);
    const { api_id, org_id } = await foundApi(tools.apis, apiId);
    audit(api_id, org_id);
    await removeApi(tools, org_id, api_id, ['oas', 'streams']);
    return modified(api_id, 'deleted');
  },
});

export const listGatewayDocumentVersions = operation({
  ...declared,
  name: 'listGatewayDocumentVersions',
  method: 'GET',
  path: '/gw/apis/oas/{apiId}/versions',
  about: 'Lists the versions of an API, or those it is one of: the base first, then by name.',
  params,
  query: versionListQuery,
  returns: versionListAnswer,
  problems: [apisProblem.api_not_found],
  async handle({ params: { apiId }, query }, { apis }: Pick<ReadTools, 'apis'>) {
    return versionList(apis, await foundApi(apis, apiId), query);
  },
});

export const gwOasOperations = [
  listGatewayDocuments,
  createGatewayDocument,
  getGatewayDocument,
  updateGatewayDocument,
  patchGatewayDocument,
  deleteGatewayDocument,
  listGatewayDocumentVersions,
];
