import { z } from 'zod';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, pageQuery, statusResponse, toStatus } from '#operations/shapes.ts';
import { problem as accessProblem } from '../problems.ts';
import { changeKey, readLiveKey, removeKey } from './issue.ts';
import {
  changeQuery,
  type KeyOperationServices,
  lookupQuery,
  refuseHiddenGrants,
  refuseOtherApi,
  requireKey,
  requireWritableKey,
  resolveApiId,
  withoutHiddenRights,
} from './lookup.ts';
import { problem } from './problems.ts';
import { KeyEnvelope, keyBody } from './schema.ts';

/** Keys by the API they may call. */
const declared = { surface: 'dashboard', noun: 'keys' } as const;
const apiParams = z.object({ apiId: z.string().describe('Public or database id of the API; - for any') });
const params = apiParams.extend({ keyId: z.string().describe('Id or name of the key') });
export const keyIds = z.object({ data: z.object({ keys: z.array(z.string()) }), pages: z.int() });

interface KeyListQuery {
  apiId?: string;
  q?: string | undefined;
  p: number;
}

async function listIds(services: KeyOperationServices, actor: Actor, { apiId: ref = '-', q, p }: KeyListQuery) {
  const apiId = await resolveApiId(services, actor, ref);
  const { apiIds: hiddenApis } = await services.ownership.findHidden(actor);
  const query = { q, apiId, page: p, size: services.settings['management.page_size'], hiddenApis };
  const { items, pages, total } = await services.keys.page(actor.orgId, query);
  if (apiId !== undefined && !q && total === 0 && !(await services.findApi(apiId, actor.orgId)))
    throw accessProblem.api_not_found();
  return { data: { keys: items.map(it => it.keyId) }, pages };
}

export const listKeyIds = operation({
  ...declared,
  name: 'listKeyIds',
  method: 'GET',
  path: '/api/apis/keys',
  about: 'Lists the ids of all keys of the organisation, newest first.',
  permission: 'keys:read',
  query: pageQuery,
  returns: keyIds,
  handle: ({ actor, query: { p } }, services: KeyOperationServices) => listIds(services, actor, { p }),
});

export const listKeysOfApi = operation({
  ...declared,
  name: 'listKeysOfApi',
  method: 'GET',
  path: '/api/apis/{apiId}/keys',
  about: 'Lists the ids of the keys with access to an API, by their own rights or through a policy.',
  permission: 'keys:read',
  params: apiParams,
  query: pageQuery,
  returns: keyIds,
  problems: [accessProblem.api_not_found],
  handle: ({ actor, params: { apiId }, query: { p } }, services: KeyOperationServices) =>
    listIds(services, actor, { apiId, p }),
});

export const searchKeysOfApi = operation({
  ...declared,
  name: 'searchKeysOfApi',
  method: 'GET',
  path: '/api/apis/{apiId}/keys/search',
  about: 'Finds keys with access to an API by a part of their id.',
  permission: 'keys:read',
  params: apiParams,
  query: z.object({ q: z.string().max(1024).optional().describe('Part of the key id'), p: pageNumber }),
  returns: keyIds,
  problems: [accessProblem.api_not_found],
  handle: ({ actor, params: { apiId }, query: { p, q } }, services: KeyOperationServices) =>
    listIds(services, actor, { apiId, q, p }),
});

export const getKeyOfApi = operation({
  ...declared,
  name: 'getKeyOfApi',
  versioned: 'keys',
  method: 'GET',
  path: '/api/apis/{apiId}/keys/{keyId}',
  about: 'Returns a key with access to an API.',
  permission: 'keys:read',
  params,
  query: lookupQuery,
  returns: KeyEnvelope,
  problems: [problem.not_found, problem.hash_ambiguous],
  async handle({ actor, params: { apiId, keyId }, query }, services: KeyOperationServices) {
    const stored = await requireKey(services, actor, keyId, query);
    await refuseOtherApi(services, actor, apiId, stored);
    return withoutHiddenRights(services, actor, await readLiveKey(services, stored));
  },
});

export const updateKeyOfApi = operation({
  ...declared,
  name: 'updateKeyOfApi',
  versioned: 'keys',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/apis/{apiId}/keys/{keyId}',
  about: 'Replaces a key with access to an API.',
  permission: 'keys:write',
  params,
  query: changeQuery,
  ...keyBody,
  returns: KeyEnvelope,
  problems: [problem.not_found, problem.hash_ambiguous, problem.organisation_key, problem.certificate_unknown],
  async handle({ actor, params: { apiId, keyId }, query, body, audit }, services: KeyOperationServices) {
    const stored = await requireWritableKey(services, actor, keyId, query);
    audit(stored.keyHash);
    await refuseOtherApi(services, actor, apiId, stored);
    await refuseHiddenGrants(services, actor, body, stored.key);
    return changeKey(services, stored, body, { suppressReset: query.suppress_reset });
  },
});

export const deleteKeyOfApi = operation({
  ...declared,
  name: 'deleteKeyOfApi',
  versioned: 'keys',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/apis/{apiId}/keys/{keyId}',
  about: 'Deletes a key with access to an API; it is refused at once, by every API.',
  permission: 'keys:write',
  params,
  query: lookupQuery,
  returns: statusResponse,
  problems: [problem.not_found, problem.hash_ambiguous, problem.organisation_key],
  async handle({ actor, params: { apiId, keyId }, query, audit }, services: KeyOperationServices) {
    const stored = await requireWritableKey(services, actor, keyId, query);
    audit(stored.keyHash);
    await refuseOtherApi(services, actor, apiId, stored);
    await refuseHiddenGrants(services, actor, stored.key);
    if (!(await removeKey(services, stored))) throw problem.not_found();
    return toStatus('Key deleted successfully');
  },
});

export const apiKeyOperations = [
  listKeyIds,
  listKeysOfApi,
  searchKeysOfApi,
  getKeyOfApi,
  updateKeyOfApi,
  deleteKeyOfApi,
];
