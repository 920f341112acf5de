import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { DataPlaneControl } from '../api/data-plane.ts';
import type { ApiStore } from '../api/store.ts';
import { problem } from '../problems.ts';
import { nodeOperations } from './node-operations.ts';
import { statisticsOperations } from './statistics-operations.ts';

export const clearOwnApiJwksCache = operation({
  surface: 'dashboard',
  noun: 'cache',
  name: 'clearOwnApiJwksCache',
  method: 'DELETE',
  path: '/api/cache/jwks/{apiId}',
  about: 'Clears the cached JWKS that an API references; they are fetched again for the next token.',
  permission: 'admin',
  params: z.object({ apiId: z.string().describe('Public or database id of the API') }),
  returns: z.object({ status: z.literal('OK'), message: z.string() }),
  problems: [problem.api_not_found],
  async handle({ actor, params: { apiId }, audit }, { apis, traffic }: { apis: ApiStore; traffic: DataPlaneControl }) {
    audit(apiId);
    const api = await apis.get(actor.orgId, apiId);
    if (!api) throw problem.api_not_found();
    audit(api.api_id);
    await traffic.clearJwksCache(api.api_id);
    return { status: 'OK' as const, message: 'success' };
  },
});

export const reloadInstallation = operation({
  surface: 'admin',
  noun: 'system',
  name: 'reloadInstallation',
  method: 'GET',
  path: '/admin/system/reload',
  about:
    'Waits until the traffic threads of this process serve every committed change. Gateways on the same database load changes within a second.',
  permission: 'secret',
  returns: z.object({ status: z.literal('ok') }),
  async handle(_call, { traffic }: { traffic: DataPlaneControl }) {
    await traffic.reload();
    return { status: 'ok' as const };
  },
});

export const apiSystemOperations = [
  clearOwnApiJwksCache,
  reloadInstallation,
  ...nodeOperations,
  ...statisticsOperations,
];
