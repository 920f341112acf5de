import { z } from 'zod';
import { problem as keyProblem } from '#access/keys/problems.ts';
import type { KeyStore } from '#access/keys/store.ts';
import { problem as apis } from '#apis/problems.ts';
import { utcZone } from '#base/time-zone.ts';
import { primitiveTypes } from '#definition/mcp-names.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { rejectNarrowedActor } from './analytics-scope.ts';
import { anonymousKey } from './batch.ts';
import { parseDateRange, rangeParams, rangePath } from './range.ts';
import { usagePage } from './schema.ts';
import { formatUsageCsv } from './usage-csv.ts';
import {
  queryUsage,
  type UsageParameters,
  type UsageSelection,
  type UsageServices,
  usageProblems,
  usageQueryMembers,
} from './usage-query.ts';

/** Usage of MCP proxies, from requests with a JSON-RPC message. */

const declared = {
  surface: 'dashboard',
  noun: 'analytics',
  permission: 'analytics:read',
  furtherPermission: 'mcp:read',
  method: 'GET',
  params: rangeParams,
  returns: usagePage,
  toCsv: formatUsageCsv,
} as const;

const filterMembers = {
  mcp_method: z.string().max(256).optional().describe('JSON-RPC method, such as tools/call'),
  mcp_primitive_type: z.enum(primitiveTypes).optional(),
  mcp_primitive_name: z.string().max(4096).optional().describe('Name of the tool or prompt, or URI of the resource'),
};
const filterShape = z.object(filterMembers);

const toFilter = (query: z.output<typeof filterShape>) => ({
  mcpMethod: query.mcp_method,
  mcpPrimitiveType: query.mcp_primitive_type,
  mcpPrimitiveName: query.mcp_primitive_name,
});

export const countMcpUsage = operation({
  ...declared,
  name: 'countMcpUsage',
  path: `/api/usage/mcp/${rangePath}`,
  about: 'Counts the JSON-RPC requests of every MCP proxy of the caller’s organisation, the most used first.',
  query: z.object(usageQueryMembers),
  problems: [...usageProblems, apis.api_not_owned],
  async handle({ actor, params, query }, services: UsageServices) {
    const span = parseDateRange(params, query.tz ?? utcZone);
    return queryUsage(services, actor, span, query, { groups: ['api_id'], mcpScope: 'messages' });
  },
});

const maxLimit = 1000;

const primitiveQuery = z.object({
  ...usageQueryMembers,
  ...filterMembers,
  limit: z.coerce.number().int().min(1).max(maxLimit).optional().describe('Items of the response, or of a page of it'),
});

interface ActivityRequest<Query> {
  readonly actor: Actor;
  readonly params: z.output<typeof rangeParams>;
  readonly query: Query;
}

/** Activity by primitive: a list without pages by default, which `owned_analytics` leaves out. */
function queryMcpActivity<Query extends UsageParameters & z.output<typeof filterShape>>(
  services: UsageServices,
  { actor, params, query }: ActivityRequest<Query>,
  selection: Omit<UsageSelection, 'groups'>,
) {
  rejectNarrowedActor(actor, 'the activity of MCP primitives');
  return queryUsage(services, actor, parseDateRange(params, query.tz ?? utcZone), query, {
    groups: ['mcp_primitive_type', 'mcp_primitive_name'],
    defaultPage: -1,
    ...toFilter(query),
    ...selection,
  });
}

export const countMcpPrimitives = operation({
  ...declared,
  name: 'countMcpPrimitives',
  path: `/api/activity/mcp/primitives/${rangePath}`,
  about: 'Counts the requests that name a tool, resource or prompt of an MCP proxy, by primitive, the most used first.',
  query: primitiveQuery,
  problems: usageProblems,
  async handle({ actor, params, query: { limit, ...query } }, services: UsageServices) {
    const p = query.p ?? (limit === undefined ? undefined : 1);
    const selection = { mcpScope: 'primitives', pageSize: limit } as const;
    return queryMcpActivity(services, { actor, params, query: { ...query, p } }, selection);
  },
});

export const countMcpErrors = operation({
  ...declared,
  name: 'countMcpErrors',
  path: `/api/activity/mcp/primitives/errors/${rangePath}`,
  about: 'Counts the failed requests that name a tool, resource or prompt of an MCP proxy, by primitive.',
  query: primitiveQuery.omit({ limit: true }),
  problems: usageProblems,
  handle: (call, services: UsageServices) => queryMcpActivity(services, call, { mcpScope: 'primitives', failed: true }),
});

interface KeyActivityServices extends UsageServices {
  keys: KeyStore;
}

export const countMcpKeyActivity = operation({
  ...declared,
  name: 'countMcpKeyActivity',
  path: `/api/activity/mcp/keys/{keyId}/${rangePath}`,
  about:
    'Counts the JSON-RPC requests of one key to MCP proxies, by primitive; 00000000 stands for requests without a key.',
  params: rangeParams.extend({
    keyId: z
      .string()
      .regex(/^[0-9a-fA-F]{8,64}$/, 'must be the hash of a key')
      .describe('Hash of the key'),
  }),
  query: primitiveQuery.omit({ limit: true }),
  problems: [...usageProblems, keyProblem.unknown],
  async handle(call, services: KeyActivityServices) {
    const keyHash = call.params.keyId.toLowerCase();
    const page = await queryMcpActivity(services, call, { mcpScope: 'messages', keyHashes: [keyHash] });
    if (page.data.length === 0) await ensureKeyKnown(services, call.actor, keyHash);
    return page;
  },
});

/** A deleted key is known as long as it has requests. */
async function ensureKeyKnown({ keys, ownership }: KeyActivityServices, actor: Actor, keyHash: string): Promise<void> {
  if (keyHash === anonymousKey) return;
  const { apiIds } = await ownership.findHidden(actor);
  const visible = await keys.findVisibleHashes(actor.orgId, [keyHash], apiIds);
  if (visible.length === 0) throw keyProblem.unknown();
}

export const mcpAnalyticsOperations = [countMcpUsage, countMcpPrimitives, countMcpErrors, countMcpKeyActivity];
