import { z } from 'zod';
import type { OutboundClient } from '#base/http-client/client.ts';
import { freeForm } from '#base/members.ts';
import type { Settings } from '#base/settings.ts';
import { oasSchema } from '#definition/oas.ts';
import { patchOas } from '#definition/oas-patch.ts';
import { mergeTemplate } from '#definition/oas-template.ts';
import { dependentsProblem, forceQuery } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import {
  createdResponse,
  pageNumber,
  statusResponse,
  toCreated,
  toPageRequest,
  toStatus,
  toWarningsMember,
} from '#operations/shapes.ts';
import { type ApiServices, addApi, changeApi, type DeleteApiServices } from '../api/changes.ts';
import { ensureSameId } from '../api/ensure-same-id.ts';
import { documentExample, plainDocumentExample } from '../api/examples.ts';
import { toDocumentedSchema } from '../api/schema.ts';
import { maskSecretsFor } from '../api/secrets.ts';
import type { ApiStore } from '../api/store.ts';
import { versionQuery } from '../api/versions.ts';
import type { AssetStore } from '../assets/store.ts';
import { findTemplate, templateProblems, templateQuery } from '../assets/templates.ts';
import { addBaseHeader } from '../gw/changes.ts';
import { configurationQuery, toImportOptions } from '../gw/documents.ts';
import { problem as gwProblem } from '../gw/problems.ts';
import type { Ownership } from '../owners/store.ts';
import { creationProblems, ownershipProblems, problem, routeProblems, versionProblems } from '../problems.ts';
import {
  checkBuiltOas,
  checkOasDocument,
  ensureOas,
  type OasApi,
  rejectExtension,
  requireOwnDocument,
} from './documents.ts';
import { fetchProblems, readPlainDocument } from './plain-document.ts';
import { removeWithVersions } from './purge.ts';

const params = z.object({ apiId: z.string().describe('Public or database id of the API') });
const declared = { surface: 'dashboard', noun: 'oas' } as const;
const body = toDocumentedSchema(oasSchema);

interface TemplateServices extends ApiServices {
  assets: AssetStore;
}

interface ListServices {
  apis: ApiStore;
  settings: Settings;
  ownership: Ownership;
}

export const listDocuments = operation({
  ...declared,
  name: 'listDocuments',
  tool: { name: 'gw_list_oas_apis' },
  method: 'GET',
  path: '/api/apis/oas',
  about: 'Lists the documents of the APIs of the caller’s organisation in the OpenAPI format, newest first.',
  permission: 'apis:read',
  query: z.object({ p: pageNumber, q: z.string().max(500).optional().describe('Part of the name, case-insensitive') }),
  returns: z.object({ apis: z.array(z.looseObject({})), pages: z.int() }),
  async handle({ actor, query: { p, q } }, { apis, settings, ownership }: ListServices) {
    const { apiIds: hidden } = await ownership.findHidden(actor);
    const page = toPageRequest(p, settings['management.page_size']);
    const filter = { kind: 'oas', hidden, ...(q && { name: q }) } as const;
    const { items, pages } = await apis.page(actor.orgId, filter, '-created_at', page);
    return { apis: items.map(api => (maskSecretsFor(actor, api) as OasApi).definition), pages };
  },
});

export const createDocument = operation({
  ...declared,
  name: 'createDocument',
  tool: { name: 'gw_create_oas_api' },
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/oas',
  about:
    'Creates an API from an OpenAPI document with x-gw-api-gateway, by itself, over a template, or as a version of another one.',
  permission: 'apis:write',
  query: z.object({ ...versionQuery.shape, ...templateQuery.shape }),
  body,
  example: documentExample,
  accepts: 'document',
  returns: createdResponse,
  problems: [
    gwProblem.extension_missing,
    ...creationProblems,
    ...ownershipProblems,
    ...versionProblems,
    ...templateProblems,
  ],
  async handle({ actor, query, body: document, audit }, services: TemplateServices) {
    const template = await findTemplate(services.assets, actor, query);
    const written = checkOasDocument(template ? mergeTemplate(template, document) : document, services);
    const api = await addApi(services, { actor, orgId: actor.orgId, written, version: query });
    audit(api.api_id);
    return { ...toCreated('API created', api.id, api.api_id), ...toWarningsMember(written) };
  },
});

export const getDocument = operation({
  ...declared,
  name: 'getDocument',
  tool: { name: 'gw_get_oas_api' },
  versioned: 'apis',
  method: 'GET',
  path: '/api/apis/oas/{apiId}',
  about:
    'Returns the document of an API, as YAML if Accept prefers it. The response header x-gw-base-api-id contains the id of the base API of a version.',
  permission: 'apis:read',
  params,
  offersYaml: true,
  returns: z.looseObject({ 'x-gw-api-gateway': z.looseObject({}) }),
  problems: [problem.detail_not_found, gwProblem.is_classic],
  async handle(call, { apis }: { apis: ApiStore }) {
    const api = await requireOwnDocument(apis, call);
    await addBaseHeader(call.header, apis, api);
    return (maskSecretsFor(call.actor, api) as OasApi).definition;
  },
});

const changeProblems = [
  problem.definition_not_found,
  gwProblem.is_classic,
  problem.is_streams,
  ...routeProblems,
  problem.reference_not_owned,
  problem.reference_open,
];

export const updateDocument = operation({
  ...declared,
  name: 'updateDocument',
  tool: { name: 'gw_update_oas_api' },
  versioned: 'apis',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/apis/oas/{apiId}',
  about: 'Replaces the document of an API; its owners and categories do not change.',
  permission: 'apis:write',
  params,
  body,
  example: documentExample,
  accepts: 'document',
  returns: statusResponse,
  problems: [gwProblem.extension_missing, problem.other_id, problem.name_taken, ...changeProblems],
  async handle({ actor, params: { apiId }, body: document, audit }, services: ApiServices) {
    audit(apiId);
    const written = checkOasDocument(document, services);
    const api = await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, before => {
      ensureOas(before);
      ensureSameId(written, before);
      return { ...written, wrapper: before.wrapper };
    });
    audit(api.api_id);
    return { ...toStatus('API updated'), ...toWarningsMember(written) };
  },
});

export interface PlainImportServices extends ApiServices {
  outbound: OutboundClient;
}

export const patchDocument = operation({
  ...declared,
  name: 'patchDocument',
  tool: { name: 'gw_patch_oas_api' },
  versioned: 'apis',
  method: 'PATCH',
  changesTraffic: true,
  path: '/api/apis/oas/{apiId}',
  about:
    'Replaces the OpenAPI part of a document, sent as JSON, YAML, a file or {"url": …}, and preserves x-gw-api-gateway, changed by the parameters.',
  permission: 'apis:write',
  params,
  query: configurationQuery,
  body: freeForm(z.looseObject({})),
  example: plainDocumentExample,
  accepts: 'document',
  returns: statusResponse,
  problems: [gwProblem.extension_present, ...changeProblems, ...fetchProblems],
  async handle({ actor, params: { apiId }, query, body: given, audit }, services: PlainImportServices) {
    audit(apiId);
    const plain = await readPlainDocument(given, actor.orgId, services);
    rejectExtension(plain);
    const options = toImportOptions(query);
    let warned: ReturnType<typeof toWarningsMember> = {};
    const api = await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, before => {
      ensureOas(before);
      const written = checkBuiltOas(patchOas(before.definition, plain, options), services);
      warned = toWarningsMember(written);
      return { ...written, wrapper: before.wrapper };
    });
    audit(api.api_id);
    return { ...toStatus('API updated'), ...warned };
  },
});

export const deleteDocument = operation({
  ...declared,
  name: 'deleteDocument',
  tool: { name: 'gw_delete_oas_api' },
  versioned: 'apis',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/apis/oas/{apiId}',
  about:
    'Deletes an API in the OpenAPI format and removes it from policies. Its versions remain as APIs of their own; purge=true deletes them too.',
  permission: 'apis:write',
  params,
  query: z.object({
    purge: z.enum(['true', 'false', '']).default('false').describe('true deletes the versions of a base API too'),
    ...forceQuery.shape,
  }),
  returns: statusResponse,
  problems: [problem.api_not_found, problem.api_not_owned, dependentsProblem],
  async handle({ actor, params: { apiId }, query, audit }, services: DeleteApiServices) {
    audit(apiId);
    const api = await services.records.write(async () => {
      await services.refuseDependents('apis', { actor, orgId: actor.orgId, ref: apiId }, query.force);
      return removeWithVersions(services, { actor, ref: apiId, purge: query.purge === 'true' });
    });
    audit(api.api_id);
    return toStatus('API deleted');
  },
});

export const oasOperations = [
  listDocuments,
  createDocument,
  getDocument,
  updateDocument,
  patchDocument,
  deleteDocument,
];
