import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { AppliedWaits } from '#operations/wait-applied.ts';
import type { DataPlaneControl } from '../api/data-plane.ts';
import type { ApiStore } from '../api/store.ts';
import { problem } from '../problems.ts';
import { nodeOperations } from './node-operations.ts';
import { systemSettingsOperations } from './settings-operations.ts';
import { statisticsOperations } from './statistics-operations.ts';

interface CacheServices {
  apis: ApiStore;
  traffic: DataPlaneControl;
}

/** Threads and processes that the result of a reload names. */
const maxListedParts = 100;

const ofApi = z.object({ apiId: z.string().describe('Public or database id of the API') });

interface ApiCall {
  readonly actor: { readonly orgId: string };
  readonly params: z.output<typeof ofApi>;
  audit(object: string): void;
}

/** The API of the path, of the caller's organisation; the audit record names it. */
async function findAuditedApi({ actor, params: { apiId }, audit }: ApiCall, apis: ApiStore) {
  audit(apiId);
  const api = await apis.get(actor.orgId, apiId);
  if (!api) throw problem.api_not_found();
  audit(api.api_id);
  return api;
}

export const purgeOwnApiCache = operation({
  surface: 'dashboard',
  noun: 'cache',
  name: 'purgeOwnApiCache',
  method: 'DELETE',
  path: '/api/cache/{apiId}',
  about:
    'Purges the cached responses of an API, on all threads of this process and with Redis on all gateways; 503 where that cannot be confirmed.',
  permission: 'system:write',
  params: ofApi,
  returns: z.object({ status: z.literal('OK'), message: z.string() }),
  problems: [problem.api_not_found],
  async handle(call, { apis, traffic }: CacheServices) {
    const api = await findAuditedApi(call, apis);
    await traffic.purgeResponseCache(api.api_id);
    return { status: 'OK' as const, message: 'cache invalidated' };
  },
});

export const clearOwnApiJwksCache = operation({
  surface: 'dashboard',
  noun: 'cache',
  name: 'clearOwnApiJwksCache',
  method: 'DELETE',
  path: '/api/cache/jwks/{apiId}',
  about: 'Clears the cached JWKS that an API references; they are fetched again for the next token.',
  permission: 'admin',
  params: ofApi,
  returns: z.object({ status: z.literal('OK'), message: z.string() }),
  problems: [problem.api_not_found],
  async handle(call, { apis, traffic }: CacheServices) {
    const api = await findAuditedApi(call, apis);
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

export const reloadTraffic = operation({
  surface: 'dashboard',
  noun: 'reload',
  name: 'reloadTraffic',
  method: 'POST',
  path: '/api/system/reload',
  about:
    'Makes the traffic threads of this process load every committed change, waits until the other processes on the database serve it too, and returns on how many of them it has taken effect.',
  permission: 'admin',
  returns: z.object({
    processes: z.int().describe('Running processes with traffic threads'),
    applied: z.int().describe('Those that serve every committed change'),
    not_applied: z.array(z.string()).describe('What does not serve it within ten seconds, with the reason'),
  }),
  async handle({ actor }, { appliedWaits }: { appliedWaits: AppliedWaits }) {
    const { processes, staleProcesses, stale } = await appliedWaits.reload(actor);
    return { processes, applied: processes - staleProcesses, not_applied: stale.slice(0, maxListedParts) };
  },
});

export const checkAdminSecret = operation({
  surface: 'admin',
  noun: 'system',
  name: 'checkAdminSecret',
  method: 'GET',
  path: '/admin/hello',
  about: 'Returns 200 for the admin secret: installers check it before their first write.',
  permission: 'secret',
  returns: z.object({ status: z.literal('ok') }),
  handle: async () => ({ status: 'ok' as const }),
});

export const apiSystemOperations = [
  purgeOwnApiCache,
  checkAdminSecret,
  clearOwnApiJwksCache,
  reloadInstallation,
  reloadTraffic,
  ...nodeOperations,
  ...statisticsOperations,
  ...systemSettingsOperations,
];
