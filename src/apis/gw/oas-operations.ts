import { z } from 'zod';
import { freeForm } from '#base/members.ts';
import { oasSchema } from '#definition/oas.ts';
import { patchOas } from '#definition/oas-patch.ts';
import { operation } from '#operations/operation.ts';

import { modifiedResponse, toModified, toWarningsMember } from '#operations/shapes.ts';
import { putApi } from '../api/changes.ts';

import { toDocumentedSchema } from '../api/schema.ts';
import { versionQuery } from '../api/versions.ts';
import { problem as apisProblem, routeProblems } from '../problems.ts';
import { addBaseHeader, type GwApiServices, type ReadServices, replaceApi, resolveDefinitionOwner } from './changes.ts';
import {
  checkBuiltDocument,
  checkDocument,
  configurationQuery,
  isDocumentApi,
  isPublic,
  modeQuery,
  rejectSwagger,
  requireDocument,
  toDocumentView,
  toImportOptions,
} from './documents.ts';
import { problem } from './problems.ts';
import {
  createProblems,
  declared,
  defineDelete,
  defineListVersions,
  params,
  updateProblems,
} from './shared-operations.ts';

const body = toDocumentedSchema(oasSchema);
const documentView = z.looseObject({});

export const listGatewayDocuments = operation({
  ...declared,
  name: 'listGatewayDocuments',
  method: 'GET',
  path: '/gw/apis/oas',
  about: 'Lists the documents of all APIs written in the OpenAPI form, of every organisation, oldest first.',
  query: modeQuery,
  returns: z.array(documentView),
  async handle({ query }, { apis, settings }: ReadServices) {
    const found = (await apis.all()).filter(isDocumentApi);
    return found.map(api => toDocumentView(api, isPublic(query), settings));
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
  returns: modifiedResponse,
  problems: [problem.extension_missing, ...createProblems],
  async handle({ actor, query, body: given, audit }, services: GwApiServices) {
    const written = checkDocument(given, services);
    const orgId = await resolveDefinitionOwner(services, written);
    const { api, action } = await putApi(services, { actor, orgId, written, version: query });
    audit(api.api_id, orgId);
    return { ...toModified(api.api_id, action), ...toWarningsMember(written) };
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
  returns: documentView,
  problems: [apisProblem.api_not_found, problem.is_classic],
  async handle({ params: { apiId }, query, header }, { apis, settings }: ReadServices) {
    const api = await requireDocument(apis, apiId);
    await addBaseHeader(header, apis, api);
    return toDocumentView(api, isPublic(query), settings);
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
  returns: modifiedResponse,
  problems: [problem.extension_missing, problem.oas_for_classic, ...updateProblems, ...routeProblems],
  async handle({ actor, params: { apiId }, body: given, audit }, services: GwApiServices) {
    audit(apiId);
    const written = checkDocument(given, services);
    const api = await replaceApi(services, { actor, ref: apiId }, before => {
      if (!isDocumentApi(before)) throw problem.oas_for_classic();
      return written;
    });
    audit(api.api_id, api.org_id);
    return { ...toModified(api.api_id, 'modified'), ...toWarningsMember(written) };
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
  returns: modifiedResponse,
  problems: [problem.oas_for_classic, ...updateProblems, ...routeProblems],
  async handle({ actor, params: { apiId }, query, body: given, audit }, services: GwApiServices) {
    audit(apiId);
    rejectSwagger(given);
    const options = toImportOptions(query);
    let warned: ReturnType<typeof toWarningsMember> = {};
    const api = await replaceApi(services, { actor, ref: apiId }, before => {
      if (!isDocumentApi(before)) throw problem.oas_for_classic();
      const written = checkBuiltDocument(patchOas(before.definition, given, options), services);
      warned = toWarningsMember(written);
      return written;
    });
    audit(api.api_id, api.org_id);
    return { ...toModified(api.api_id, 'modified'), ...warned };
  },
});

export const deleteGatewayDocument = defineDelete({
  name: 'deleteGatewayDocument',
  path: '/gw/apis/oas/{apiId}',
  about: 'Removes an API written in the OpenAPI form, also from the versions of its base and from policies.',
  kinds: ['oas', 'streams'],
});

export const listGatewayDocumentVersions = defineListVersions({
  name: 'listGatewayDocumentVersions',
  path: '/gw/apis/oas/{apiId}/versions',
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
