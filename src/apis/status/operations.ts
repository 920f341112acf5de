import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { toWarningsMember } from '#operations/shapes.ts';
import type { Records } from '#storage/records.ts';
import { listStoredWarnings } from '../api/changes.ts';
import type { DataPlaneControl } from '../api/data-plane.ts';
import type { StoredApi } from '../api/schema.ts';
import type { ApiStore } from '../api/store.ts';
import type { Ownership } from '../owners/store.ts';
import { problem } from '../problems.ts';
import { listNodes, type NodeListServices, nodeView } from '../system/node-operations.ts';
import { findUnavailable } from './find-unavailable.ts';

interface StatusServices {
  apis: ApiStore;
  traffic: DataPlaneControl;
}

type GatewayStatusServices = Pick<StatusServices, 'traffic'> & NodeListServices & { records: Records };

const params = z.object({ apiId: z.string().describe('Public or database id of the API') });
const ApiStatusBody = z.object({
  api_id: z.string(),
  served: z.boolean(),
  reason: z.string(),
  warnings: z
    .array(z.string())
    .readonly()
    .optional()
    .describe('Unsupported features of the definition, and members without effect'),
});
const maxVersionWarnings = 100;

const declared = {
  noun: 'apis',
  method: 'GET',
  about: 'Returns the state of an API: whether it serves requests and, if not, its missing dependencies.',
  params,
  returns: ApiStatusBody,
} as const;

/** Data plane status, with warnings about parts of the definition without effect. */
async function readStatus(api: StoredApi, { apis, traffic }: StatusServices) {
  const { warnings = [], ...status } = await traffic.status(api.api_id);
  const allWarnings = [...warnings, ...listStoredWarnings(api), ...(await listMissingVersions(api, apis))];
  return { api_id: api.api_id, ...status, ...toWarningsMember({ warnings: allWarnings }) };
}

/** Versions whose API does not exist. It may be created after its base, so writes accept it. */
async function listMissingVersions({ org_id, summary }: StoredApi, apis: ApiStore): Promise<string[]> {
  const versions = Object.entries(summary.versions);
  if (versions.length === 0) return [];
  const ids = versions.map(([, id]) => id);
  const known = new Set((await apis.findByIds(org_id, ids)).map(({ api_id }) => api_id));
  return versions
    .filter(([, id]) => !known.has(id))
    .slice(0, maxVersionWarnings)
    .map(([name, id]) => `the version ${name} references the API ${id}, which does not exist`);
}

export const getApiStatus = operation({
  ...declared,
  surface: 'dashboard',
  name: 'getApiStatus',
  path: '/api/apis/{apiId}/status',
  permission: 'apis:read',
  problems: [problem.detail_not_found],
  async handle({ actor, params: { apiId } }, services: StatusServices) {
    const api = await services.apis.get(actor.orgId, apiId);
    if (!api) throw problem.detail_not_found();
    return readStatus(api, services);
  },
});

/** As many as a traffic thread lists for an organisation. */
const maxUnserved = 100;

export const listUnservedApis = operation({
  surface: 'dashboard',
  noun: 'apis',
  name: 'listUnservedApis',
  method: 'GET',
  path: '/api/unserved-apis',
  about: `Lists the active APIs of the caller’s organisation that serve no requests, with the reason: at most ${maxUnserved}.`,
  permission: 'apis:read',
  returns: z.object({
    apis: z.array(z.object({ api_id: z.string(), reason: z.string() })),
    complete: z.boolean().describe('False where there may be more, or this process has no traffic threads'),
  }),
  async handle({ actor }, { traffic, ownership }: Pick<StatusServices, 'traffic'> & { ownership: Ownership }) {
    const found = await findUnavailable(traffic, actor.orgId);
    const hidden = await ownership.findHidden(actor);
    const apis = (found ?? [])
      .filter(({ apiId }) => !hidden.has(apiId))
      .map(({ apiId, reason }) => ({ api_id: apiId, reason }));
    return { apis, complete: found !== undefined && found.length < maxUnserved };
  },
});

export const getGatewayApiStatus = operation({
  ...declared,
  surface: 'gateway',
  name: 'getGatewayApiStatus',
  path: '/gw/apis/{apiId}/status',
  permission: 'secret',
  problems: [problem.api_not_found],
  async handle({ params: { apiId } }, services: StatusServices) {
    const api = await services.apis.getAnywhere(apiId);
    if (!api) throw problem.api_not_found();
    return readStatus(api, services);
  },
});

export const getGatewayStatus = operation({
  surface: 'gateway',
  noun: 'health',
  name: 'getGatewayStatus',
  method: 'GET',
  path: '/gw/status',
  about:
    'Returns the state of this process: the revision of the stored configuration, the revision of each traffic thread, and the APIs that are not served; and the processes on the same database.',
  permission: 'secret',
  returns: z.object({
    revision: z.int().describe('Number of the last stored change of configuration'),
    threads: z.array(z.object({ revision: z.int(), apis: z.int(), not_served: z.int() })),
    not_served: z
      .array(z.object({ api_id: z.string(), name: z.string(), reason: z.string() }))
      .describe('APIs that some thread does not serve; at most 1000 of each thread'),
    nodes: z.array(nodeView).describe('Processes that run, and those lost in the last hour'),
  }),
  async handle(_call, services: GatewayStatusServices) {
    const { records, traffic } = services;
    const revision = await records.revision();
    const threads = await traffic.threads();
    const unavailable = new Map(threads.flatMap(thread => thread.unavailable.map(it => [it.apiId, it] as const)));
    return {
      revision,
      threads: threads.map(thread => ({ revision: thread.revision, apis: thread.apis, not_served: thread.notServed })),
      not_served: [...unavailable.values()].map(({ apiId, name, reason }) => ({ api_id: apiId, name, reason })),
      nodes: await listNodes(services),
    };
  },
});

export const apiStatusOperations = [getApiStatus, listUnservedApis, getGatewayApiStatus, getGatewayStatus];
