import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { dependentsProblem, forceQuery } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import { createdResponse, statusResponse, toCreated, toStatus, toWarningsMember } from '#operations/shapes.ts';
import { buildApiAddress, type ReadGatewayUrl } from '../api/api-address.ts';
import {
  type ApiServices,
  addApi,
  changeApi,
  checkDefinition,
  type DeleteApiServices,
  removeApi,
} from '../api/changes.ts';
import { ensureSameId } from '../api/ensure-same-id.ts';
import { classicExample } from '../api/examples.ts';
import { toApiView } from '../api/rules.ts';
import { ApiView, ClassicWrite, mergeWrapper, type StoredApi } from '../api/schema.ts';
import { maskSecretsFor } from '../api/secrets.ts';
import type { ApiStore } from '../api/store.ts';
import { versionQuery } from '../api/versions.ts';
import { creationProblems, ownershipProblems, problem, routeProblems, versionProblems } from '../problems.ts';

const params = z.object({ apiId: z.string().describe('Public or database id of the API') });
const declared = { surface: 'dashboard', noun: 'apis' } as const;
const place = 'api_definition';

export const createApi = operation({
  ...declared,
  name: 'createApi',
  tool: { name: 'gw_create_classic_api' },
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis',
  about: 'Creates a classic API, by itself or as a version of another one. The public id may be set.',
  permission: 'apis:write',
  query: versionQuery,
  body: ClassicWrite,
  example: { api_definition: classicExample },
  returns: createdResponse,
  problems: [...creationProblems, ...ownershipProblems, ...versionProblems],
  async handle({ actor, query, body, audit }, services: ApiServices) {
    const written = checkDefinition('classic', body.api_definition, services, place);
    const api = await addApi(services, {
      actor,
      orgId: actor.orgId,
      written,
      wrapper: mergeWrapper(body),
      version: query,
    });
    audit(api.api_id);
    return { ...toCreated('API created', api.id, api.api_id), ...toWarningsMember(written) };
  },
});

export const getApi = operation({
  ...declared,
  name: 'getApi',
  versioned: 'apis',
  method: 'GET',
  path: '/api/apis/{apiId}',
  about: 'Returns an API with its settings outside the definition, in the format it was written in.',
  permission: 'apis:read',
  params,
  returns: ApiView,
  problems: [problem.detail_not_found],
  async handle({ actor, params: { apiId } }, { apis }: { apis: ApiStore }) {
    const api = await apis.get(actor.orgId, apiId);
    if (!api) throw problem.detail_not_found();
    return toApiView(maskSecretsFor(actor, api));
  },
});

export const updateApi = operation({
  ...declared,
  name: 'updateApi',
  tool: { name: 'gw_update_classic_api' },
  versioned: 'apis',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/apis/{apiId}',
  about: 'Replaces a classic definition. Omitted members outside the definition do not change.',
  permission: 'apis:write',
  params,
  body: ClassicWrite,
  example: { api_definition: classicExample },
  returns: statusResponse,
  problems: [
    problem.definition_not_found,
    problem.other_id,
    problem.not_classic,
    ...routeProblems,
    ...ownershipProblems,
  ],
  async handle({ actor, params: { apiId }, body, audit }, services: ApiServices) {
    audit(apiId);
    const written = checkDefinition('classic', body.api_definition, services, place);
    const api = await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, before => {
      ensureClassic(before, services.settings);
      ensureSameId(written, before, `${place}.api_id`);
      return { ...written, wrapper: mergeWrapper(body, before.wrapper) };
    });
    audit(api.api_id);
    return { ...toStatus('API updated'), ...toWarningsMember(written) };
  },
});

/** Rejects a classic update of a document, which holds more than a classic definition can express. */
export function ensureClassic({ kind, api_id }: StoredApi, settings: Settings): void {
  if (kind === 'classic' || settings['apis.allow_classic_update_of_oas']) return;
  throw problem.not_classic({ detail: { place: kind, id: api_id } });
}

export const deleteApi = operation({
  ...declared,
  name: 'deleteApi',
  versioned: 'apis',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/apis/{apiId}',
  about: 'Deletes an API and removes it from policies. Its versions remain as APIs of their own.',
  permission: 'apis:write',
  params,
  query: forceQuery,
  returns: statusResponse,
  problems: [problem.api_not_found, dependentsProblem],
  async handle({ actor, params: { apiId }, query, audit }, services: DeleteApiServices) {
    audit(apiId);
    const api = await services.records.write(async () => {
      await services.refuseDependents('apis', { actor, orgId: actor.orgId, ref: apiId }, query.force);
      return removeApi(services, actor.orgId, apiId, ['classic', 'oas', 'streams']);
    });
    audit(api.api_id);
    return toStatus('API deleted');
  },
});

export const getApiUrl = operation({
  ...declared,
  name: 'getApiUrl',
  method: 'GET',
  path: '/api/apis/{apiId}/url',
  about: 'Returns the URL of an API on the gateway.',
  permission: 'apis:read',
  params,
  returns: z.object({ ApiURL: z.string(), BasePath: z.string(), Host: z.string() }),
  problems: [problem.detail_not_found],
  async handle(
    { actor, params: { apiId } },
    { apis, readGatewayUrl }: { apis: ApiStore; readGatewayUrl: ReadGatewayUrl },
  ) {
    const api = await apis.get(actor.orgId, apiId);
    if (!api) throw problem.detail_not_found();
    return buildApiAddress(api, readGatewayUrl());
  },
});

export const classicOperations = [createApi, getApi, updateApi, deleteApi, getApiUrl];
