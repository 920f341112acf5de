import { z } from 'zod';
import { mcpSchema } from '#definition/mcp.ts';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified, toWarningsMember } from '#operations/shapes.ts';
import { checkDefinition, putApi } from '../api/changes.ts';
import { mcpExample } from '../api/examples.ts';
import { toDocumentedSchema } from '../api/schema.ts';
import {
  addBaseHeader,
  type GwApiServices,
  type ReadServices,
  replaceApi,
  requireApi,
  resolveDefinitionOwner,
} from '../gw/changes.ts';
import { rejectSwagger } from '../gw/documents.ts';
import { problem as gwProblem } from '../gw/problems.ts';
import { createProblems, declared, defineDelete, params, updateProblems } from '../gw/shared-operations.ts';
import { problem, routeProblems } from '../problems.ts';
import { ensureMcp, type McpApi, requireExtension } from './documents.ts';
import { createdDocument, expandQuery, expandTools, mcpCreationQuery, runCreation } from './expand-tools.ts';

const body = toDocumentedSchema(mcpSchema);
const documentView = z.looseObject({});
const mcps = { ...declared, noun: 'mcps' } as const;

async function requireMcp(apis: ReadServices['apis'], ref: string): Promise<McpApi> {
  const api = await requireApi(apis, ref);
  ensureMcp(api);
  return api;
}

export const listGatewayMcps = operation({
  ...mcps,
  name: 'listGatewayMcps',
  method: 'GET',
  path: '/gw/mcps',
  about: 'Lists the documents of the MCP proxies of all organisations, oldest first.',
  query: expandQuery,
  returns: z.array(documentView),
  async handle({ query: { expand } }, { apis }: Pick<ReadServices, 'apis'>) {
    const documents: McpApi['definition'][] = [];
    for (const api of await apis.all())
      if (api.kind === 'mcp') documents.push(expand ? await expandTools(apis, api, api.definition) : api.definition);
    return documents;
  },
});

export const createGatewayMcp = operation({
  ...mcps,
  name: 'createGatewayMcp',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/gw/mcps',
  about:
    'Creates an MCP proxy from an OpenAPI document with x-gw-api-gateway. Replaces an MCP proxy with the same id in the same organisation; the action of the response is then modified.',
  query: mcpCreationQuery,
  body,
  example: mcpExample,
  accepts: 'document',
  returns: modifiedResponse.extend({ document: createdDocument }),
  problems: [gwProblem.extension_missing, ...createProblems],
  async handle({ actor, query, body: given, audit }, services: GwApiServices) {
    rejectSwagger(given);
    const written = checkDefinition('mcp', requireExtension(given), services);
    const orgId = await resolveDefinitionOwner(services, written);
    const put = () => putApi(services, { actor, orgId, written, version: query });
    const { result, document } = await runCreation(services, query, put, ({ api }) => api);
    const { api, action } = result;
    audit(api.api_id, orgId);
    return { ...toModified(api.api_id, action), ...toWarningsMember(written), ...document };
  },
});

export const getGatewayMcp = operation({
  ...mcps,
  name: 'getGatewayMcp',
  versioned: 'apis',
  method: 'GET',
  path: '/gw/mcps/{apiId}',
  about:
    'Returns the document of an MCP proxy. The response header x-gw-base-api-id contains the id of the base of a version.',
  params,
  query: expandQuery,
  returns: documentView,
  problems: [problem.api_not_found, problem.not_mcp],
  async handle({ params: { apiId }, query, header }, { apis }: Pick<ReadServices, 'apis'>) {
    const api = await requireMcp(apis, apiId);
    await addBaseHeader(header, apis, api);
    return query.expand ? expandTools(apis, api, api.definition) : api.definition;
  },
});

export const updateGatewayMcp = operation({
  ...mcps,
  name: 'updateGatewayMcp',
  versioned: 'apis',
  method: 'PUT',
  changesTraffic: true,
  path: '/gw/mcps/{apiId}',
  about: 'Replaces the document of an MCP proxy.',
  params,
  body,
  example: mcpExample,
  accepts: 'document',
  returns: modifiedResponse,
  problems: [gwProblem.extension_missing, problem.not_mcp, ...updateProblems, ...routeProblems],
  async handle({ actor, params: { apiId }, body: given, audit }, services: GwApiServices) {
    audit(apiId);
    rejectSwagger(given);
    const written = checkDefinition('mcp', requireExtension(given), services);
    const api = await replaceApi(services, { actor, ref: apiId }, before => {
      ensureMcp(before);
      return written;
    });
    audit(api.api_id, api.org_id);
    return { ...toModified(api.api_id, 'modified'), ...toWarningsMember(written) };
  },
});

export const deleteGatewayMcp = defineDelete({
  noun: 'mcps',
  name: 'deleteGatewayMcp',
  path: '/gw/mcps/{apiId}',
  about: 'Deletes an MCP proxy, and removes it from the versions of its base and from policies.',
  kinds: ['mcp'],
});

export const gwMcpOperations = [listGatewayMcps, createGatewayMcp, getGatewayMcp, updateGatewayMcp, deleteGatewayMcp];
