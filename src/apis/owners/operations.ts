import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { type ApiServices, changeApi } from '../api/changes.ts';
import type { StoredApi } from '../api/schema.ts';
import type { ApiStore } from '../api/store.ts';
import { problem } from '../problems.ts';

const params = z.object({ apiId: z.string().describe('Public or database id of the API') });
const declared = { surface: 'dashboard', noun: 'apis' } as const;
const ids = z.array(z.string().max(64)).max(1000);

export const getApiAccess = operation({
  ...declared,
  name: 'getApiAccess',
  versioned: 'apis',
  method: 'GET',
  path: '/api/apis/{apiId}/access',
  about: 'Returns the users and user groups that own an API.',
  permission: 'apis:read',
  params,
  returns: z.object({ userIds: z.array(z.string()), userGroupIds: z.array(z.string()) }),
  problems: [problem.api_not_found],
  async handle({ actor, params: { apiId } }, { apis }: { apis: ApiStore }) {
    const api = await apis.get(actor.orgId, apiId);
    if (!api) throw problem.api_not_found();
    return { userIds: [...api.wrapper.user_owners], userGroupIds: [...api.wrapper.user_group_owners] };
  },
});

export const updateApiAccess = operation({
  ...declared,
  name: 'updateApiAccess',
  versioned: 'apis',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/apis/{apiId}/access',
  about: 'Replaces both lists of owners; an omitted list becomes empty.',
  permission: 'apis:write',
  params,
  body: z.object({ userIds: ids.nullish(), userGroupIds: ids.nullish() }),
  returns: statusResponse,
  problems: [problem.api_not_found],
  async handle({ actor, params: { apiId }, body, audit }, services: ApiServices) {
    audit(apiId);
    const owners = { user_owners: body.userIds ?? [], user_group_owners: body.userGroupIds ?? [] };
    const withOwners = (api: StoredApi) => ({ ...api, wrapper: { ...api.wrapper, ...owners } });
    await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, withOwners, problem.api_not_found);
    return toStatus('API access updated');
  },
});

export const apiOwnerOperations = [getApiAccess, updateApiAccess];
