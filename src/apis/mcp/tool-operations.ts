import { z } from 'zod';
import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { extensionName, mcpServerName } from '#definition/document-members.ts';
import { toolSettingsSchema } from '#definition/rest-tools/tool-settings.ts';
import { hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem as operationProblem } from '#operations/problems.ts';
import { createdResponse, toCreated, toWarningsMember } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { type ApiServices, addApi, checkDefinition } from '../api/changes.ts';
import type { StoredApi } from '../api/schema.ts';
import { creationProblems, problem } from '../problems.ts';

const body = z.object({
  id: z.string().max(64).optional().describe('Public id of the MCP proxy; generated if absent'),
  name: z.string().min(1).max(200).optional().describe('Default: the name of the API and “tools”'),
  listenPath: z.string().max(500).optional().describe('Default: the listen path of the API and “-mcp”'),
  customDomain: z.string().max(253).optional().describe('Default: that of the API'),
  authentication: z
    .enum(['api', 'none'])
    .default('api')
    .describe(
      'api: the proxy authenticates clients as the API does, and keys need access to both; none: lists of tools are open. The API authenticates calls of tools in any case',
    ),
  primitives: toolSettingsSchema.shape.primitives.describe('Names, descriptions and selection of the tools'),
});

export const createApiTools = operation({
  surface: 'dashboard',
  noun: 'mcps',
  name: 'createApiTools',
  method: 'POST',
  isRepeatable: true,
  changesTraffic: true,
  path: '/api/apis/{apiId}/mcp',
  about: 'Creates an MCP proxy whose tools are the operations of an API in the OpenAPI format.',
  permission: 'mcp:write',
  params: z.object({ apiId: z.string().describe('Public or database id of the API') }),
  body,
  example: { listenPath: '/orders-mcp/', primitives: [{ source: { operationId: 'listOrders' }, name: 'list_orders' }] },
  returns: createdResponse,
  problems: [problem.api_not_found, ...creationProblems, problem.name_taken],
  async handle({ actor, params: { apiId }, body: wanted, audit }, services: ApiServices) {
    if (!hasPermission(actor, 'apis:read'))
      throw operationProblem.not_permitted({ detail: { permission: 'apis:read' } });
    const source = await services.apis.get(actor.orgId, apiId);
    if (!source) throw problem.api_not_found();
    const written = checkDefinition('mcp', buildToolProxy(source, wanted), services);
    const api = await addApi(services, { actor, orgId: actor.orgId, written });
    audit(api.api_id);
    return { ...toCreated('MCP Proxy definition created', api.id, api.api_id), ...toWarningsMember(written) };
  },
});

/** Document of an MCP proxy over an API, which authenticates its clients in the same way. */
function buildToolProxy(source: StoredApi, wanted: z.output<typeof body>): JsonObject {
  if (source.kind !== 'oas')
    throw createInvalidProblem([{ path: 'apiId', message: 'must be an API in the OpenAPI format' }]);
  const document = objectOrEmpty(source.definition);
  const { server } = objectOrEmpty(document[extensionName]);
  const { authentication, customDomain, gatewayTags } = objectOrEmpty(server);
  const isAuthenticated = wanted.authentication === 'api';
  const name = wanted.name ?? `${source.summary.name} tools`;
  const listenPath = wanted.listenPath ?? `${source.summary.listen_path.replace(/\/+$/, '')}-mcp/`;
  const domain =
    wanted.customDomain === undefined
      ? customDomain
      : { enabled: wanted.customDomain !== '', name: wanted.customDomain };
  return {
    openapi: document.openapi,
    info: { title: name, version: objectOrEmpty(document.info).version ?? '1' },
    paths: {},
    ...(isAuthenticated && { security: document.security, components: pickSchemes(document) }),
    [extensionName]: {
      info: { ...(wanted.id !== undefined && { id: wanted.id }), name, state: { active: true } },
      server: {
        listenPath: { value: listenPath, strip: true },
        ...(isAuthenticated && authentication !== undefined && { authentication }),
        ...(domain !== undefined && { customDomain: domain }),
        ...(gatewayTags !== undefined && { gatewayTags }),
      },
      upstream: { url: `gw://${source.api_id}/mcp` },
    },
    ...(wanted.primitives && { [mcpServerName]: { primitives: wanted.primitives } }),
  };
}

const pickSchemes = (document: JsonObject): JsonObject => ({
  securitySchemes: objectOrEmpty(document.components).securitySchemes ?? {},
});

export const apiToolOperations = [createApiTools];
