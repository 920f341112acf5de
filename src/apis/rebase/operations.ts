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
  changesTraffic: true,
  path: '/api/apis/oas/{currentBaseApiId}/rebase/{nextBaseApiId}',
  about:
    'Promotes a version to the base API: it gets the list of versions, and the former base becomes one of them. Requests without a version are served as before; each API keeps its listen path.',
  permission: 'apis:write',
  params: z.object({
    currentBaseApiId: z.string().describe('Id of the current base API'),
    nextBaseApiId: z.string().describe('Id of the version that becomes the base'),
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
