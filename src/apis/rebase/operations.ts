import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { type ApiServices, rebaseApi } from '../api/changes.ts';
import { problem } from '../problems.ts';

export const rebaseDocument = operation({
  surface: 'dashboard',
  noun: 'apis',
  name: 'rebaseDocument',
  method: 'PATCH',
  path: '/api/apis/oas/{currentBaseApiId}/rebase/{nextBaseApiId}',
  about:
    'Lets a version of an API lead: it takes over the list of versions, and the former base becomes one of them. Calls that name no version are served as before; each API keeps its address.',
  permission: 'apis:write',
  params: z.object({
    currentBaseApiId: z.string().describe('The API whose versions they are'),
    nextBaseApiId: z.string().describe('One of its versions'),
  }),
  returns: statusResponse,
  problems: [problem.api_not_found, problem.no_base, problem.not_its_version],
  async handle({ actor, params, audit }, services: ApiServices) {
    audit(params.currentBaseApiId);
    await rebaseApi(services, actor.orgId, params.currentBaseApiId, params.nextBaseApiId);
    return toStatus('API converted successfully');
  },
});

export const apiRebaseOperations = [rebaseDocument] as const;
