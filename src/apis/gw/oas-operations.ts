import { z } from 'zod';
import { freeForm } from '#base/members.ts';
import { oasSchema } from '#definition/oas.ts';
import { patchOas } from '#definition/oas-patch.ts';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified, toWarningsMember } from '#operations/shapes.ts';
import { putApi } from '../api/changes.ts';
import { documentExample, plainDocumentExample } from '../api/examples.ts';

import { type StoredApi, toDocumentedSchema } from '../api/schema.ts';
import { versionQuery } from '../api/versions.ts';
import { problem as apisProblem, routeProblems } from '../problems.ts';
import { addBaseHeader, type GwApiServices, type ReadServices, replaceApi, resolveDefinitionOwner } from './changes.ts';
import {
  checkBuiltDocument,
  checkDocument,
  configurationQuery,
  type DocumentApi,
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

/** Rejects a change of an API that has operations of its own. */
function ensureDocument(api: StoredApi): asserts api is DocumentApi {
  if (api.kind === 'mcp') throw apisProblem.api_not_found();
  if (!isDocumentApi(api)) throw problem.oas_for_classic();
}

export const listGatewayDocuments = operation({
  ...declared,
  name: 'listGatewayDocuments',
  method: 'GET',
  path: '/gw/apis/oas',
  about: 'Lists the documents of all APIs in the OpenAPI format, of every organisation, oldest first.',
  query: modeQuery,
  returns: z.array(documentView),
  async handle({ query }, { apis, readGatewayUrl }: ReadServices) {
    const found = (await apis.all()).filter(isDocumentApi);
    return found.map(api => toDocumentView(api, isPublic(query), readGatewayUrl()));
  },
});

export const createGatewayDocument = operation({
  ...declared,
  name: 'createGatewayDocument',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/gw/apis/oas',
  about:
    'Creates an API from an OpenAPI document with x-gw-api-gateway. Replaces an API with the same id in the same organisation; the action of the response is then modified.',
  query: versionQuery,
  body,
  example: documentExample,
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
  versioned: 'apis',
  method: 'GET',
  path: '/gw/apis/oas/{apiId}',
  about:
    'Returns the document of an API. The response header x-gw-base-api-id contains the id of the base API of a version.',
  params,
  query: modeQuery,
  returns: documentView,
  problems: [apisProblem.api_not_found, problem.is_classic],
  async handle({ params: { apiId }, query, header }, { apis, readGatewayUrl }: ReadServices) {
    const api = await requireDocument(apis, apiId);
    await addBaseHeader(header, apis, api);
    return toDocumentView(api, isPublic(query), readGatewayUrl());
  },
});

export const updateGatewayDocument = operation({
  ...declared,
  name: 'updateGatewayDocument',
  versioned: 'apis',
  method: 'PUT',
  changesTraffic: true,
  path: '/gw/apis/oas/{apiId}',
  about: 'Replaces the document of an API.',
  params,
  body,
  example: documentExample,
  accepts: 'document',
  returns: modifiedResponse,
  problems: [problem.extension_missing, problem.oas_for_classic, ...updateProblems, ...routeProblems],
  async handle({ actor, params: { apiId }, body: given, audit }, services: GwApiServices) {
    audit(apiId);
    const written = checkDocument(given, services);
    const api = await replaceApi(services, { actor, ref: apiId }, before => {
      ensureDocument(before);
      return written;
    });
    audit(api.api_id, api.org_id);
    return { ...toModified(api.api_id, 'modified'), ...toWarningsMember(written) };
  },
});

export const patchGatewayDocument = operation({
  ...declared,
  name: 'patchGatewayDocument',
  versioned: 'apis',
  method: 'PATCH',
  changesTraffic: true,
  path: '/gw/apis/oas/{apiId}',
  about:
    'Replaces the OpenAPI part of a document and preserves x-gw-api-gateway, changed by the parameters. A document with x-gw-api-gateway replaces both.',
  params,
  query: configurationQuery,
  body: freeForm(z.looseObject({})),
  example: plainDocumentExample,
  accepts: 'document',
  returns: modifiedResponse,
  problems: [problem.oas_for_classic, ...updateProblems, ...routeProblems],
  async handle({ actor, params: { apiId }, query, body: given, audit }, services: GwApiServices) {
    audit(apiId);
    rejectSwagger(given);
    const options = toImportOptions(query);
    let warned: ReturnType<typeof toWarningsMember> = {};
    const api = await replaceApi(services, { actor, ref: apiId }, before => {
      ensureDocument(before);
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
  about: 'Deletes an API in the OpenAPI format, and removes it from the versions of its base API and from policies.',
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
