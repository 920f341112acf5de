import { z } from 'zod';
import { freeForm } from '#base/members.ts';
import { patchOas } from '#definition/oas-patch.ts';
import { streamsSchema } from '#definition/streams.ts';
import { dependentsProblem, forceQuery } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import { createdResponse, statusResponse, toCreated, toStatus, toWarningsMember } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import {
  type ApiServices,
  addApi,
  changeApi,
  checkDefinition,
  type DeleteApiServices,
  removeApi,
} from '../api/changes.ts';
import { ensureSameId } from '../api/ensure-same-id.ts';
import { streamsExample } from '../api/examples.ts';
import { toDocumentedSchema } from '../api/schema.ts';
import { maskSecretsFor } from '../api/secrets.ts';
import type { ApiStore } from '../api/store.ts';
import { configurationQuery, rejectSwagger, toImportOptions } from '../gw/documents.ts';
import { creationProblems, ownershipProblems, problem, routeProblems } from '../problems.ts';

const params = z.object({ apiId: z.string().describe('Public or database id of the API') });
const declared = { surface: 'dashboard', noun: 'streams' } as const;
const body = toDocumentedSchema(streamsSchema);
const accepts = { only: ['application/vnd.gw.streams.oas'] };

export const createStreams = operation({
  ...declared,
  name: 'createStreams',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/streams',
  about: 'Creates a streams API from its document, which is stored completely.',
  permission: 'apis:write',
  body,
  example: streamsExample,
  accepts,
  returns: createdResponse,
  problems: [...creationProblems, ...ownershipProblems],
  async handle({ actor, body: document, audit }, services: ApiServices) {
    const written = checkDefinition('streams', document, services);
    const api = await addApi(services, { actor, orgId: actor.orgId, written });
    audit(api.api_id);
    return { ...toCreated('API created', api.id, api.api_id), ...toWarningsMember(written) };
  },
});

export const getStreams = operation({
  ...declared,
  name: 'getStreams',
  versioned: 'apis',
  method: 'GET',
  path: '/api/apis/streams/{apiId}',
  about: 'Returns the document of a streams API.',
  permission: 'apis:read',
  params,
  returns: z.looseObject({ 'x-gw-api-gateway': z.looseObject({}), 'x-gw-streaming': z.looseObject({}) }),
  problems: [problem.detail_not_found],
  async handle({ actor, params: { apiId } }, { apis }: { apis: ApiStore }) {
    const api = await apis.get(actor.orgId, apiId);
    if (api?.kind !== 'streams') throw problem.detail_not_found();
    return (maskSecretsFor(actor, api) as typeof api).definition;
  },
});

export const updateStreams = operation({
  ...declared,
  name: 'updateStreams',
  versioned: 'apis',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/apis/streams/{apiId}',
  about: 'Replaces the document of a streams API; its owners and categories do not change.',
  permission: 'apis:write',
  params,
  body,
  example: streamsExample,
  accepts,
  returns: statusResponse,
  problems: [problem.definition_not_found, problem.other_id, ...routeProblems, ...ownershipProblems],
  async handle({ actor, params: { apiId }, body: document, audit }, services: ApiServices) {
    audit(apiId);
    const written = checkDefinition('streams', document, services);
    const api = await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, before => {
      if (before.kind !== 'streams') throw problem.definition_not_found();
      ensureSameId(written, before);
      return { ...written, wrapper: before.wrapper };
    });
    audit(api.api_id);
    return { ...toStatus('API updated'), ...toWarningsMember(written) };
  },
});

export const patchStreams = operation({
  ...declared,
  name: 'patchStreams',
  versioned: 'apis',
  method: 'PATCH',
  changesTraffic: true,
  path: '/api/apis/streams/{apiId}',
  about:
    'Replaces the OpenAPI part of the document of a streams API, sent as it is or as a file of a multipart form, and preserves its extensions, changed by the parameters. Extensions in the document replace the stored ones.',
  permission: 'apis:write',
  params,
  query: configurationQuery.omit({ upstreamURL: true }),
  body: freeForm(z.looseObject({})),
  example: streamsExample,
  accepts: { only: [...accepts.only, 'multipart/form-data'] },
  returns: statusResponse,
  problems: [problem.definition_not_found, problem.other_id, ...routeProblems, ...ownershipProblems],
  async handle({ actor, params: { apiId }, query, body: given, audit }, services: ApiServices) {
    audit(apiId);
    rejectSwagger(given);
    let warned: ReturnType<typeof toWarningsMember> = {};
    const api = await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, before => {
      if (before.kind !== 'streams') throw problem.definition_not_found();
      const patched = patchOas(before.definition, given, toImportOptions(query));
      if (!patched.ok) throw createInvalidProblem(patched.errors);
      const written = checkDefinition('streams', patched.definition, services);
      ensureSameId(written, before);
      warned = toWarningsMember(written);
      return { ...written, wrapper: before.wrapper };
    });
    audit(api.api_id);
    return { ...toStatus('API updated'), ...warned };
  },
});

export const deleteStreams = operation({
  ...declared,
  name: 'deleteStreams',
  versioned: 'apis',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/apis/streams/{apiId}',
  about: 'Deletes a streams API and removes it from policies.',
  permission: 'apis:write',
  params,
  query: forceQuery,
  returns: statusResponse,
  problems: [problem.api_not_found, dependentsProblem],
  async handle({ actor, params: { apiId }, query, audit }, services: DeleteApiServices) {
    audit(apiId);
    const api = await services.records.write(async () => {
      await services.refuseDependents('apis', { actor, orgId: actor.orgId, ref: apiId }, query.force);
      return removeApi(services, actor.orgId, apiId, ['streams']);
    });
    audit(api.api_id);
    return toStatus('API deleted');
  },
});

export const streamsOperations = [createStreams, getStreams, updateStreams, patchStreams, deleteStreams];
