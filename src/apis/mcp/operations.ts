import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { mcpSchema } from '#definition/mcp.ts';
import { dependentsProblem, forceQuery } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import {
  createdResponse,
  pageNumber,
  statusResponse,
  toCreated,
  toPageRequest,
  toStatus,
  toWarningsMember,
} from '#operations/shapes.ts';
import {
  type ApiServices,
  addApi,
  changeApi,
  checkDefinition,
  type DeleteApiServices,
  removeApi,
} from '../api/changes.ts';
import { ensureSameId } from '../api/ensure-same-id.ts';
import { mcpExample } from '../api/examples.ts';
import { type StoredApi, toDocumentedSchema } from '../api/schema.ts';
import { maskSecretsFor } from '../api/secrets.ts';
import { type ApiOrder, type ApiStore, apiOrders } from '../api/store.ts';
import { listVersions, versionListQuery, versionListResponse } from '../api/version-list.ts';
import { addBaseHeader } from '../gw/changes.ts';
import { rejectSwagger } from '../gw/documents.ts';
import { problem as gwProblem } from '../gw/problems.ts';
import type { Ownership } from '../owners/store.ts';
import { creationProblems, ownershipProblems, problem, routeProblems, versionProblems } from '../problems.ts';
import { ensureMcp, type McpApi, requireExtension } from './documents.ts';
import { createdDocument, expandQuery, expandTools, mcpCreationQuery, runCreation } from './expand-tools.ts';

const params = z.object({ apiId: z.string().describe('Public or database id of the MCP proxy') });
const declared = { surface: 'dashboard', noun: 'mcps' } as const;
const body = toDocumentedSchema(mcpSchema);

interface ListServices {
  apis: ApiStore;
  settings: Settings;
  ownership: Ownership;
}

async function requireOwnMcp(apis: ApiStore, orgId: string, apiId: string): Promise<McpApi> {
  const api = await apis.get(orgId, apiId);
  if (!api) throw problem.api_not_found();
  ensureMcp(api);
  return api;
}

export const listMcps = operation({
  ...declared,
  name: 'listMcps',
  method: 'GET',
  path: '/api/mcps',
  about: 'Lists the documents of the MCP proxies of the caller’s organisation, newest first.',
  permission: 'mcp:read',
  query: z.object({
    p: pageNumber,
    q: z.string().max(500).optional().describe('Part of the name, case-insensitive'),
    sort: z
      .enum(Object.keys(apiOrders) as [ApiOrder, ...ApiOrder[]])
      .default('-created_at')
      .describe('Member to sort by, with a leading - for descending'),
  }),
  returns: z.object({ mcps: z.array(z.looseObject({})), pages: z.int() }),
  async handle({ actor, query: { p, q, sort } }, { apis, settings, ownership }: ListServices) {
    const { apiIds: hidden } = await ownership.findHidden(actor);
    const page = toPageRequest(p, settings['management.page_size']);
    const filter = { kind: 'mcp', hidden, ...(q && { name: q }) } as const;
    const { items, pages } = await apis.page(actor.orgId, filter, sort, page);
    return { mcps: items.map(api => (maskSecretsFor(actor, api) as McpApi).definition), pages };
  },
});

export const createMcp = operation({
  ...declared,
  name: 'createMcp',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/mcps',
  about:
    'Creates an MCP proxy from an OpenAPI document with x-gw-api-gateway, by itself or as a version of another MCP proxy.',
  permission: 'mcp:write',
  query: mcpCreationQuery,
  body,
  example: mcpExample,
  accepts: 'document',
  returns: createdResponse.extend({ document: createdDocument }),
  problems: [gwProblem.extension_missing, ...creationProblems, ...ownershipProblems, ...versionProblems],
  async handle({ actor, query, body: document, audit }, services: ApiServices) {
    rejectSwagger(document);
    const written = checkDefinition('mcp', requireExtension(document), services);
    const add = () => addApi(services, { actor, orgId: actor.orgId, written, version: query });
    const { result: api, document: view } = await runCreation(services, query, add, it => maskSecretsFor(actor, it));
    audit(api.api_id);
    const message = query.dryRun ? 'MCP Proxy definition is valid' : 'MCP Proxy definition created';
    return { ...toCreated(message, api.id, api.api_id), ...toWarningsMember(written), ...view };
  },
});

export const getMcp = operation({
  ...declared,
  name: 'getMcp',
  versioned: 'apis',
  method: 'GET',
  path: '/api/mcps/{apiId}',
  about:
    'Returns the document of an MCP proxy, as YAML if Accept prefers it. The response header x-gw-base-api-id contains the id of the base of a version.',
  permission: 'mcp:read',
  params,
  query: expandQuery,
  offersYaml: true,
  returns: z.looseObject({ 'x-gw-api-gateway': z.looseObject({}) }),
  problems: [problem.api_not_found, problem.not_mcp],
  async handle({ actor, params: { apiId }, query, header }, { apis }: { apis: ApiStore }) {
    const api = await requireOwnMcp(apis, actor.orgId, apiId);
    await addBaseHeader(header, apis, api);
    const { definition } = maskSecretsFor(actor, api) as McpApi;
    return query.expand ? await expandTools(apis, api, definition) : definition;
  },
});

export const updateMcp = operation({
  ...declared,
  name: 'updateMcp',
  versioned: 'apis',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/mcps/{apiId}',
  about: 'Replaces the document of an MCP proxy; its owners and categories do not change.',
  permission: 'mcp:write',
  params,
  body,
  example: mcpExample,
  accepts: 'document',
  returns: statusResponse,
  problems: [
    gwProblem.extension_missing,
    problem.api_not_found,
    problem.not_mcp,
    problem.other_id,
    ...routeProblems,
    ...ownershipProblems,
  ],
  async handle({ actor, params: { apiId }, body: document, audit }, services: ApiServices) {
    audit(apiId);
    rejectSwagger(document);
    const written = checkDefinition('mcp', requireExtension(document), services);
    const change = (before: StoredApi) => {
      ensureMcp(before);
      ensureSameId(written, before);
      return { ...written, wrapper: before.wrapper };
    };
    const api = await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, change, problem.api_not_found);
    audit(api.api_id);
    return { ...toStatus('API updated'), ...toWarningsMember(written) };
  },
});

export const deleteMcp = operation({
  ...declared,
  name: 'deleteMcp',
  versioned: 'apis',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/mcps/{apiId}',
  about: 'Deletes an MCP proxy and removes it from policies. Its versions remain as MCP proxies of their own.',
  permission: 'mcp:write',
  params,
  query: forceQuery,
  returns: statusResponse,
  problems: [problem.api_not_found, problem.not_mcp, dependentsProblem],
  async handle({ actor, params: { apiId }, query, audit }, services: DeleteApiServices) {
    audit(apiId);
    const api = await services.records.write(async () => {
      await requireOwnMcp(services.apis, actor.orgId, apiId);
      await services.refuseDependents('apis', { actor, orgId: actor.orgId, ref: apiId }, query.force);
      return removeApi(services, actor.orgId, apiId, ['mcp']);
    });
    audit(api.api_id);
    return toStatus('API deleted');
  },
});

export const listMcpVersions = operation({
  ...declared,
  name: 'listMcpVersions',
  method: 'GET',
  path: '/api/mcps/{apiId}/versions',
  about: 'Lists the versions of an MCP proxy, or of its base: the base first, then by name.',
  permission: 'mcp:read',
  params,
  query: versionListQuery,
  returns: versionListResponse,
  problems: [problem.api_not_found, problem.not_mcp],
  async handle({ actor, params: { apiId }, query }, { apis }: Pick<ListServices, 'apis'>) {
    return listVersions(apis, await requireOwnMcp(apis, actor.orgId, apiId), query);
  },
});

export const mcpOperations = [listMcps, createMcp, getMcp, updateMcp, deleteMcp, listMcpVersions];
